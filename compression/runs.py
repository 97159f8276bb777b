"""Runs: start one, watch it, cancel it, take up again what a dead worker left behind.

A run is its results: one row a session, waiting until a worker claims it. Nothing is counted anywhere
else, so that nothing can be counted twice. The work itself is ``execution``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from compression.engine import ENGINE_VERSION
from compression.engine.policy import Policy
from compression.models import PolicyVersion, Run, RunResult
from sessions.models import Project, Session

BATCH = 25
"""Sessions that one task works through before it lets others in."""

LEASE = timedelta(seconds=60)
"""A claim older than this belongs to a worker that died."""

TASKS_AT_ONCE = 8


class NothingToRun(Exception):
    """No session was chosen, or none of them is the project's."""


def start(
    *,
    project: Project,
    policy: Policy,
    label: str,
    sessions: Iterable[int] | None = None,
    version: PolicyVersion | None = None,
    by: User | None = None,
) -> Run:
    """Replay a policy over sessions of a project (None: all of them) in the background."""
    chosen = Session.objects.filter(project=project)
    if sessions is not None:
        chosen = chosen.filter(pk__in=list(sessions))
    with transaction.atomic():
        keys = list(chosen.order_by("pk").values_list("pk", flat=True))
        if not keys:
            raise NothingToRun("there is no session to run on: upload one, or choose others")
        run = Run.objects.create(
            project=project,
            label=label[:120],
            version=version,
            fields=policy.model_dump(mode="json"),
            policy_digest=policy.digest,
            engine_version=ENGINE_VERSION,
            started_by=by,
        )
        RunResult.objects.bulk_create([RunResult(run=run, session_id=key) for key in keys], batch_size=1_000)
    enqueue(run, len(keys))
    return run


def enqueue(run: Run, waiting: int) -> None:
    """Tasks for the waiting sessions: enough that several workers share them, few enough to stay cheap."""
    from compression.tasks import work_on_run

    for _ in range(min(TASKS_AT_ONCE, -(-waiting // BATCH))):
        transaction.on_commit(lambda: work_on_run.enqueue(run.pk))


def cancel(run: Run) -> None:
    """No further session is taken; one that is being worked on is finished."""
    unfinished = Run.objects.filter(pk=run.pk, state__in=[Run.State.QUEUED, Run.State.RUNNING])
    unfinished.update(state=Run.State.CANCELLED, finished_at=timezone.now())


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands. ``rate`` in sessions a second and ``seconds_left`` are None until known."""

    state: str
    total: int
    done: int
    failed: int
    claimed: int
    reused: int
    rate: float | None
    seconds_left: float | None

    @property
    def is_over(self) -> bool:
        return self.state in (Run.State.DONE, Run.State.CANCELLED)


def progress(run: Run, now: datetime | None = None) -> Progress:
    """Read off the results: one query for the run, one for them."""
    run.refresh_from_db(fields=["state", "finished_at"])
    counts = RunResult.objects.filter(run=run).aggregate(
        total=Count("pk"),
        done=Count("pk", filter=Q(state=RunResult.State.DONE)),
        failed=Count("pk", filter=Q(state=RunResult.State.FAILED)),
        claimed=Count("pk", filter=Q(state=RunResult.State.CLAIMED)),
        reused=Count("pk", filter=Q(state=RunResult.State.DONE, reused=True)),
        first=Min("claimed_at"),
        last=Max("finished_at"),
    )
    finished = counts["done"] + counts["failed"]
    rate = seconds_left = None
    if finished and counts["first"] and counts["last"]:
        spent = max((counts["last"] - counts["first"]).total_seconds(), 0.001)
        rate = finished / spent
        if run.state == Run.State.RUNNING:
            seconds_left = (counts["total"] - finished) / rate
    return Progress(
        state=run.state,
        total=counts["total"],
        done=counts["done"],
        failed=counts["failed"],
        claimed=counts["claimed"],
        reused=counts["reused"],
        rate=rate,
        seconds_left=seconds_left,
    )


def take_up(now: datetime | None = None) -> int:
    """Free the claims of workers that died and queue their runs again; gives the number of runs.

    Called when a worker starts and while a page watches a run: whoever notices first.
    """
    old = (now or timezone.now()) - LEASE
    stale = RunResult.objects.filter(
        state=RunResult.State.CLAIMED, claimed_at__lt=old, run__state__in=[Run.State.QUEUED, Run.State.RUNNING]
    )
    runs = list(Run.objects.filter(pk__in=stale.values("run")).distinct())
    for run in runs:
        freed = stale.filter(run=run).update(state=RunResult.State.WAITING, claimed_at=None)
        if freed:
            enqueue(run, freed)
    return len(runs)
