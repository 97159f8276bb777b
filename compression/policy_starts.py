"""Policies by the names that addresses use: ``in-force``, ``v3`` (a version of the project), ``preset:chapter``.

Starting points of a draft and sides of a diff. A name of another project's version is unknown here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion
from compression.policies import in_force, policy_of
from sessions.models import Project

IN_FORCE = "in-force"
LARGEST = 2**31 - 1


class UnknownStart(Exception):
    """No preset and no version of this project has that name."""


@dataclass(frozen=True, slots=True)
class Start:
    """A policy with its name in addresses, its name for people, and what a version made from it is said to come from."""

    name: str
    label: str
    policy: Policy
    origin: str = ""


def start_of(project: Project, name: str) -> Start:
    """The policy of that name; at most one query."""
    if name == IN_FORCE:
        found = in_force(project)
        return Start(name, found.label, found.policy)
    if name.startswith("preset:") and (preset := PRESETS.get(name.removeprefix("preset:"))):
        return Start(name, f"preset {preset.name}", preset, f"preset {preset.name}")
    match = re.fullmatch(r"v([0-9]{1,10})", name)
    if match and int(match[1]) <= LARGEST:
        version = PolicyVersion.objects.filter(project=project, number=int(match[1])).first()
        if version is not None:
            return Start(name, str(version), policy_of(version), f"version {version.number}")
    raise UnknownStart(name)


def presets() -> list[Start]:
    return [Start(f"preset:{p.name}", f"preset {p.name}", p, f"preset {p.name}") for p in PRESETS.values()]
