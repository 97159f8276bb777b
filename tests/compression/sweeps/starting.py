"""Sweeps that several tests start from."""

from __future__ import annotations

from typing import Any

from compression import sweep_execution, sweeps
from compression.engine.policy import Policy, build
from compression.models import Sweep, Trial, TrialResult
from compression.sweep_space import space_of
from sessions.models import Project
from tests.compression.runs.starting import SMALL_WINDOW

GRID = {"trigger_ratio": [0.6, 0.8], "target_ratio": [0.4, 0.6]}
"""Three policies, and one combination that none can mean."""

SEARCHED = {"trigger_ratio": {"low": 0.5, "high": 0.9, "step": 0.05}, "target_ratio": {"low": 0.2, "high": 0.7}}


def small(**fields: Any) -> Policy:
    return build({**SMALL_WINDOW, **fields}, "test")


def queued(project: Project, grid: dict[str, Any] | None = None, **more: Any) -> Sweep:
    """A grid that no worker has taken up: its tasks wait for a commit that a test does not make."""
    space = space_of(grid or GRID, is_grid=True)
    return sweeps.start(project=project, base=small(), label="small", space=space, **more)


def searching(project: Project, trials: int = 4, space: dict[str, Any] | None = None, **more: Any) -> Sweep:
    found = space_of(space or SEARCHED, is_grid=False)
    return sweeps.start(project=project, base=small(), label="small", space=found, trials=trials, **more)


def worked_through(sweep: Sweep) -> Sweep:
    """A sweep that was worked through in this process."""
    while sweep_execution.work(sweep.pk):
        pass
    sweep.refresh_from_db()
    return sweep


def trials(sweep: Sweep, **only: Any) -> list[Trial]:
    return list(Trial.objects.filter(sweep=sweep, **only).order_by("number"))


def results(sweep: Sweep) -> list[TrialResult]:
    return list(TrialResult.objects.filter(trial__sweep=sweep).order_by("trial__number", "session"))
