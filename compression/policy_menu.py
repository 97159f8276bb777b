"""The policies that the session page offers: the one in force, the newest versions, presets and references.

Two queries, whatever a project has saved. Knows no session.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from compression.engine.presets import PRESETS
from compression.models import PolicyVersion
from compression.policies import InForce, in_force
from compression.policy_keys import Choice, chosen, marked, preset, preset_groups, version_label
from sessions.models import Project

VERSIONS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Option:
    """One line of the menu; ``key`` stands in the address."""

    key: str
    label: str
    about: str


class PolicyMenu:
    """What a project can replay its sessions under; asked once a request."""

    def __init__(self, project: Project) -> None:
        self.project = project

    @cached_property
    def in_force(self) -> InForce:
        return in_force(self.project)

    @property
    def default(self) -> Choice:
        """The policy in force: what an address without a policy means."""
        found = self.in_force
        key = f"v{found.version.number}" if found.version else found.policy.name
        return Choice(key, found.label, found.policy, found.version)

    def choice(self, key: str) -> Choice:
        """The policy of a key; UnknownKey when the project has none of it. One query for a version."""
        default = self.default
        return default if key in ("", default.key, "in-force") else chosen(self.project, key)

    def groups(self, current: str) -> list[tuple[str, list[Option]]]:
        """(heading, options): the newest versions, an older one that is being looked at too, then the presets."""
        rows = PolicyVersion.objects.filter(project=self.project).values_list("number", "name", "note")
        saved = [Option(f"v{n}", version_label(n, name, note), note) for n, name, note in rows[:VERSIONS_SHOWN]]
        if saved:
            for key, label in ((self.default.key, self.default.label), (current, current)):
                if key not in PRESETS and key not in {option.key for option in saved}:
                    saved.append(Option(key, label, ""))
        own = [(_("Versions of this project"), [self._marked(option) for option in saved])] if saved else []
        presets = [
            (heading, [self._marked(Option(one.name, preset(one.name).label, one.about)) for one in policies])
            for heading, policies in preset_groups()
        ]
        return [*own, *presets]

    def _marked(self, option: Option) -> Option:
        return Option(option.key, marked(option.key, option.label, self.default.key), option.about)
