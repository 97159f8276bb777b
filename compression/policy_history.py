"""The versions of a project's policy as the page lists them: the newest first, each with what it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compression.engine.policy import InvalidPolicy
from compression.models import Adoption, PolicyVersion
from compression.policies import Change, changes, policy_of
from compression.policy_fields import SETTINGS, label_of
from sessions.models import Project

PAGE = 12
CHANGES_SHOWN = 3
ADOPTIONS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One field that two policies say differently, in words; ``old`` and ``new`` are lists for pin rules."""

    label: str
    section: str
    old: list[str]
    new: list[str]
    unit: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: PolicyVersion
    changed: str
    is_in_force: bool

    @property
    def reference(self) -> str:
        """Its name in addresses."""
        return f"v{self.version.number}"


@dataclass(frozen=True, slots=True)
class History:
    rows: list[VersionRow]
    older: int | None
    """The number below which the next page begins; None on the last one."""


def history(project: Project, in_force: PolicyVersion | None, below: int | None = None) -> History:
    """A page of versions. One query."""
    versions = PolicyVersion.objects.filter(project=project).select_related("author")
    if below is not None:
        versions = versions.filter(number__lt=below)
    found = list(versions[: PAGE + 1])
    rows = []
    for at, version in enumerate(found[:PAGE]):
        earlier = found[at + 1] if at + 1 < len(found) else None
        is_in_force = in_force is not None and version.pk == in_force.pk
        rows.append(VersionRow(version, _changed(earlier, version), is_in_force))
    return History(rows, found[PAGE - 1].number if len(found) > PAGE else None)


@dataclass(frozen=True, slots=True)
class AdoptionRow:
    """Who put what in force and when, and the undoing that took it back, if there is one."""

    adoption: Adoption
    undone: Adoption | None


def adoptions(project: Project) -> list[AdoptionRow]:
    """The newest adoptions, those that were taken back too. An undoing is younger than what it undoes. One query."""
    newest = list(Adoption.objects.filter(project=project).select_related("version", "by")[: 2 * ADOPTIONS_SHOWN])
    undoings = {one.undoes_id: one for one in newest if one.undoes_id}
    made = [one for one in newest if one.undoes_id is None and one.version is not None]
    return [AdoptionRow(one, undoings.get(one.pk)) for one in made[:ADOPTIONS_SHOWN]]


def _changed(earlier: PolicyVersion | None, version: PolicyVersion) -> str:
    """What a version changed in the one before, in short."""
    if earlier is None:
        return ""
    try:
        rows = change_rows(changes(policy_of(earlier), policy_of(version)))
    except InvalidPolicy:
        return ""
    said = [_short(row) for row in rows[:CHANGES_SHOWN]]
    more = len(rows) - len(said)
    return ", ".join(said) + (f" and {more} more" if more else "") if said else "same settings"


def _short(row: ChangeRow) -> str:
    if row.label == label_of("pins"):
        return f"{row.label} −{len(row.old)} +{len(row.new)}"
    return f"{row.label} {row.old[0]} → {row.new[0]}"


def change_rows(found: list[Change]) -> list[ChangeRow]:
    """Changes in the words of the form; of pin rules those that one side lacks, or all where only the order differs."""
    rows = []
    for change in found:
        old, new = _said(change.name, change.old), _said(change.name, change.new)
        gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
        if gone or come:
            old, new = gone, come
        rows.append(ChangeRow(label_of(change.name), change.section, old, new, change.unit))
    return rows


def _said(name: str, value: Any) -> list[str]:
    if name == "pins":
        return [rule_words(rule) for rule in value]
    return [SETTINGS[name].said(value)]


def rule_words(rule: dict[str, Any]) -> str:
    """A pin rule in one line."""
    says = [
        f"{name.replace('_', ' ')} {value}" for name, value in rule.items() if value is not None and name != "reason"
    ]
    return f"{', '.join(says)} ({rule['reason']})"
