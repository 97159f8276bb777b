"""The policies of a project: saved as versions, one of them in force, nothing ever overwritten.

The verbs of the policy pages. They validate nothing: what arrives is a ``Policy``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import tomli_w
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from compression.engine.policy import Policy, build
from compression.engine.presets import PRESETS
from compression.models import Adoption, PolicyVersion
from compression.policy_webhook import announce
from sessions.importers.storable_text import storable_text
from sessions.models import Project

STARTING_POINT = "hermes"
"""The preset that is in force until a version is adopted."""


@dataclass(frozen=True, slots=True)
class InForce:
    """What a project compresses with; ``version`` is None while it is the preset."""

    policy: Policy
    version: PolicyVersion | None
    adoption: Adoption | None

    @property
    def label(self) -> str:
        return str(self.version) if self.version else f"preset {self.policy.name}"


@dataclass(frozen=True, slots=True)
class Change:
    """One field that two policies say differently."""

    name: str
    old: Any
    new: Any
    unit: str
    section: str


def policy_of(version: PolicyVersion) -> Policy:
    """The policy that a version holds; fields that are younger than it take their defaults."""
    return build(version.fields, f"version {version.number}")


def in_force(project: Project) -> InForce:
    """The policy in force. One query."""
    return in_force_after(Adoption.objects.filter(project=project).select_related("version").first())


def in_force_after(adoption: Adoption | None) -> InForce:
    """The policy that a project's last adoption put in force; the starting point before there was one."""
    if adoption is None or adoption.version is None:
        return InForce(PRESETS[STARTING_POINT], None, adoption)
    return InForce(policy_of(adoption.version), adoption.version, adoption)


def save_version(
    *, project: Project, policy: Policy, author: User | None, note: str = "", origin: str = ""
) -> PolicyVersion:
    """Append a version. Two people who save at once get two numbers."""
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        last = PolicyVersion.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
        return PolicyVersion.objects.create(
            project=project,
            number=last + 1,
            name=policy.name,
            fields=policy.model_dump(mode="json"),
            digest=policy.digest,
            note=storable_text(note[:300]),
            origin=storable_text(origin[:100]),
            author=author,
        )


def restore(*, version: PolicyVersion, author: User | None) -> PolicyVersion:
    """The same policy again, as the newest version."""
    return save_version(
        project=version.project,
        policy=policy_of(version),
        author=author,
        note=version.note,
        origin=f"version {version.number}",
    )


def adopt(*, version: PolicyVersion, by: User | None) -> Adoption:
    """Put a version in force. Adopting what is in force already changes nothing."""
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=version.project_id)
        latest = Adoption.objects.filter(project=version.project_id).first()
        if latest is not None and latest.version_id == version.pk:
            return latest
        adoption = Adoption.objects.create(project=version.project, version=version, by=by)
        announce(adoption, policy_of(version), version)
        return adoption


def undo(*, project: Project, by: User | None) -> Adoption | None:
    """Put back what was in force before the newest adoption; None when there is nothing to take back.

    Undoing again goes one step further back: adoptions that were undone, and the undoings, are passed over.
    """
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        standing = standing_adoptions(project)
        if not standing:
            return None
        before = standing[1].version if len(standing) > 1 else None
        adoption = Adoption.objects.create(project=project, version=before, undoes=standing[0], by=by)
        announce(adoption, policy_of(before) if before else PRESETS[STARTING_POINT], before)
        return adoption


def standing_adoptions(project: Project) -> list[Adoption]:
    """Adoptions that nobody took back, the newest first."""
    adoptions = list(Adoption.objects.filter(project=project).select_related("version"))
    undone = {adoption.undoes_id for adoption in adoptions if adoption.undoes_id}
    return [adoption for adoption in adoptions if adoption.undoes_id is None and adoption.pk not in undone]


def changes(old: Policy, new: Policy) -> list[Change]:
    """The fields in which two policies differ, in the order of the form; name and description do not count."""
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    found = []
    for name, field in Policy.model_fields.items():
        if name in ("name", "about", "schema_version") or before[name] == after[name]:
            continue
        extra: Mapping[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        found.append(Change(name, before[name], after[name], extra.get("unit", ""), extra.get("section", "")))
    return found


def as_json(policy: Policy) -> str:
    """A policy file in JSON, every field of it."""
    return orjson.dumps(policy.model_dump(mode="json"), option=orjson.OPT_INDENT_2).decode() + "\n"


def as_toml(policy: Policy) -> str:
    """A policy file in TOML, every field of it; TOML has no null, so an empty field is left out."""
    return tomli_w.dumps(_without_none(policy.model_dump(mode="json")))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value
