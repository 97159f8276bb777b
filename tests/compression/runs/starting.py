"""Runs that several tests start from."""

from __future__ import annotations

from typing import Any

from compression import execution, runs
from compression.engine.policy import build
from compression.models import Run, RunResult
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store

SMALL_WINDOW = {"extends": "chapter", "context_window": 12_000, "recent_tokens": 2_000, "name": "small"}
"""A window that the sessions made here pass after a few exchanges."""


def three_sessions(project: Project) -> list[Session]:
    """One that is left alone, and two that a small window compresses."""
    shapes = ((2, "short"), (9, "middle"), (14, "long"))
    return [store(parsed(exchanges, key=key, lines=60, with_usage=True), project) for exchanges, key in shapes]


def queued(project: Project, **fields: Any) -> Run:
    """A run that no worker has taken up: its tasks wait for a commit that a test does not make."""
    policy = build({**SMALL_WINDOW, **fields}, "test")
    return runs.start(project=project, policy=policy, label="small")


def finished(project: Project, **fields: Any) -> Run:
    """A run that was worked through in this process."""
    run = queued(project, **fields)
    while execution.work(run.pk):
        pass
    run.refresh_from_db()
    return run


def results(run: Run) -> list[RunResult]:
    return list(RunResult.objects.filter(run=run).select_related("session__project").order_by("pk"))
