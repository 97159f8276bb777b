"""What a sweep is started with, as the command, the API and the form say it: which policy, which space."""

from __future__ import annotations

from dataclasses import dataclass

from compression.engine.presets import PRESETS
from compression.policy_keys import Choice, chosen
from compression.sweep_space import InvalidSpace, Space
from sessions.models import Project


@dataclass(frozen=True, slots=True)
class Plan:
    """A policy to vary, and what of it; ``space`` None: what is usual."""

    base: Choice
    space: Space | None


def plan_of(project: Project, key: str, space: Space | None) -> Plan:
    """The policy of a key, or the preset that the space extends; UnknownKey, InvalidSpace."""
    if space is not None and space.extends:
        if key and key != space.extends:
            raise InvalidSpace([f"the space extends {space.extends!r}, and {key!r} was asked for: name one of them"])
        if space.extends not in PRESETS:
            raise InvalidSpace([f"extends: no preset {space.extends[:80]!r}, known: {', '.join(sorted(PRESETS))}"])
        key = space.extends
    return Plan(chosen(project, key or "in-force"), space)
