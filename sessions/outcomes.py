"""Asks what the policy in force does to sessions: dollars with and without it, for the table and the cards of projects.

Who knows is a setting (``AGENT_SESSIONS_OUTCOMES``), because policies belong to an app that builds on this one. Nothing
here replays anything: what nobody worked out is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from sessions.models import Project, Session


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one session: dollars under the policy and without any, the same cache in both; None without a price."""

    cost_usd: Decimal | None
    cost_usd_none: Decimal | None

    @property
    def saved_usd(self) -> Decimal | None:
        """Negative where the policy is dearer than none."""
        return None if self.cost_usd is None or self.cost_usd_none is None else self.cost_usd_none - self.cost_usd

    @property
    def saved_share(self) -> float | None:
        """Of the dollars without a policy."""
        saved = self.saved_usd
        return float(saved / self.cost_usd_none) if saved is not None and self.cost_usd_none else None


@dataclass(frozen=True, slots=True)
class ProjectOutcome:
    """Of a project: ``policy`` in force, and sums over the ``priced`` of its sessions; ``sessions`` were worked out."""

    policy: str
    sessions: int
    priced: int
    total: Outcome


class Outcomes(Protocol):
    """What the setting names."""

    def of_sessions(self, project: Project, sessions: Iterable[Session]) -> Mapping[int, Outcome]:
        """By the sessions' keys; a session that was not worked out is absent. Constant queries."""

    def of_projects(self, projects: Iterable[Project]) -> Mapping[int, ProjectOutcome]:
        """By the projects' keys; every project is there. Constant queries."""

    def sorts(self, project: Project) -> Mapping[str, Any]:
        """Names of sorts of the table and what the database compares, floats that are never null."""


def outcomes() -> Outcomes:
    return cast("Outcomes", import_string(settings.AGENT_SESSIONS_OUTCOMES))
