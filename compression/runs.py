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
from compression.project_prices import digest_of
from compression.recovery import tasks_for
from compression.tasks import queue_recovered, queue_watch, queue_work
from sessions.models import Project, Session

RECENT = timedelta(seconds=30)
"""The time that the present rate of a run is taken over."""


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
            prices_digest=digest_of(project),
            started_by=by,
            queued_at=timezone.now(),
        )
        RunResult.objects.bulk_create([RunResult(run=run, session_id=key) for key in keys], batch_size=1_000)
        queue_work(run.pk, tasks_for(len(keys)))
        queue_watch(run.pk)
    return run


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
    def finished(self) -> int:
        """Sessions that need no further work."""
        return self.done + self.failed

    @property
    def is_over(self) -> bool:
        return self.state in (Run.State.DONE, Run.State.CANCELLED)


def progress(run: Run, now: datetime | None = None) -> Progress:
    """Read off the results: one query for the run, one for them.

    The rate is that of the last half minute while the run goes on, so that a pause does not count for
    ever; afterwards that of the whole run.
    """
    now = now or timezone.now()
    run.refresh_from_db(fields=["state", "finished_at"])
    counts = RunResult.objects.filter(run=run).aggregate(
        total=Count("pk"),
        done=Count("pk", filter=Q(state=RunResult.State.DONE)),
        failed=Count("pk", filter=Q(state=RunResult.State.FAILED)),
        claimed=Count("pk", filter=Q(state=RunResult.State.CLAIMED)),
        reused=Count("pk", filter=Q(state=RunResult.State.DONE, reused=True)),
        recent=Count("pk", filter=Q(finished_at__gte=now - RECENT)),
        first=Min("claimed_at"),
        last=Max("finished_at"),
    )
    finished = counts["done"] + counts["failed"]
    rate = seconds_left = None
    if finished and counts["first"] and counts["last"]:
        is_going = run.state == Run.State.RUNNING
        if is_going and counts["recent"]:
            worked, spent = counts["recent"], min(now - counts["first"], RECENT)
        else:
            worked, spent = finished, counts["last"] - counts["first"]
        rate = worked / max(spent.total_seconds(), 0.001)
        if is_going:
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


def take_up() -> int:
    """Free the claims of workers that died and queue their runs again; gives the number of runs.

    Called by a task once in a lease's time, and while a page watches a run: whoever notices first.
    """
    return queue_recovered()
