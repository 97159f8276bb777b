"""How an address names a policy: a preset by its name, a version of the project as ``v3``, or ``in-force``.

Looks inside one project only; what another project saved does not exist here.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from compression.engine.policy import InvalidPolicy, Policy
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion, Run
from compression.policies import in_force, policy_of
from sessions.models import Project

VERSIONS_OFFERED = 200
LONGEST_NUMBER = 9
LONGEST_LABEL = 60


class UnknownKey(Exception):
    """No preset and no version of this project; says which there are."""

    def __init__(self, key: str) -> None:
        presets = ", ".join(PRESETS)
        super().__init__(f"there is no policy {key[:80]!r}: use a preset ({presets}) or a version such as v1")


@dataclass(frozen=True, slots=True)
class Choice:
    """A policy that somebody chose; ``version`` is None for a preset."""

    key: str
    label: str
    policy: Policy
    version: PolicyVersion | None = None


def chosen(project: Project, key: str) -> Choice:
    """The policy that a key names; ``preset:NAME`` is that preset. One query for a version, none for a preset."""
    if key == "in-force":
        key = key_in_force(project)
    key = key.removeprefix("preset:")
    if key in PRESETS:
        return preset(key)
    number = key.removeprefix("v")
    if not key.startswith("v") or not (number.isascii() and number.isdigit()) or len(number) > LONGEST_NUMBER:
        raise UnknownKey(key)
    version = PolicyVersion.objects.filter(project=project, number=int(number)).first()
    if version is None:
        raise UnknownKey(key)
    try:
        return Choice(f"v{version.number}", str(version), policy_of(version), version)
    except InvalidPolicy as error:
        raise UnknownKey(f"{key}: {'; '.join(error.faults)}") from None


def preset(name: str) -> Choice:
    kind = "reference" if PRESETS[name].strategy == "reference" else "preset"
    return Choice(name, f"{kind} {name}", PRESETS[name])


def preset_groups() -> list[tuple[str, list[Policy]]]:
    """(heading, policies): our own, what they are held against, and what other agents do."""
    groups: dict[str, list[Policy]] = {_("Presets"): [], _("Yardsticks"): [], _("What other agents do"): []}
    own, yardsticks, others = groups.values()
    for policy in PRESETS.values():
        if policy.strategy == "reference":
            others.append(policy)
        else:
            (own if policy.strategy == "threshold" else yardsticks).append(policy)
    return list(groups.items())


def key_in_force(project: Project) -> str:
    """The key of the policy that the project compresses with. One query."""
    found = in_force(project)
    return f"v{found.version.number}" if found.version else found.policy.name


def key_of(run: Run) -> str:
    """The key of a run's policy; empty where the policy was given by its fields or its version is gone."""
    if run.version is not None:
        return f"v{run.version.number}"
    found = PRESETS.get(run.fields.get("name", ""))
    return found.name if found is not None and found.digest == run.policy_digest else ""


def offered(project: Project) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """(heading, [(key, label, what it is about)]) for a choice: the newest versions, then the presets. Two queries."""
    versions = PolicyVersion.objects.filter(project=project).values_list("number", "name", "note")[:VERSIONS_OFFERED]
    current = key_in_force(project)
    saved = [(f"v{n}", marked(f"v{n}", version_label(n, name, note), current), note) for n, name, note in versions]
    groups = [("Versions of this project", saved)] if saved else []
    for heading, policies in preset_groups():
        rows = [(one.name, marked(one.name, preset(one.name).label, current), one.about) for one in policies]
        groups.append((heading, rows))
    return groups


def version_label(number: int, name: str, note: str) -> str:
    """What tells one version from the others in a menu: its note, or its name where nobody wrote one."""
    words = note or name
    return f"v{number} · {words if len(words) <= LONGEST_LABEL else words[: LONGEST_LABEL - 1] + '…'}"


def marked(key: str, label: str, current: str) -> str:
    """The label of a choice, which says so when it is the policy in force."""
    return _("%(policy)s · in force") % {"policy": label} if key == current else label
