"""What a dead worker left behind: claims that nobody works on, and runs that no task is queued for.

A worker that is killed can say nothing, so its silence has to: a claim that is older than the lease is
free again. Nothing is worked on here and nothing is queued; the caller queues what this asks for.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from compression.execution import BATCH, close
from compression.models import Run, RunResult

TASKS_AT_ONCE = 8
MOST_CLAIMS = 3
"""A session that so many workers died on is marked instead of being tried for ever."""


def lease() -> timedelta:
    """How long a worker may take over one session before it counts as dead (HERMES_RUN_LEASE_SECONDS)."""
    return timedelta(seconds=settings.HERMES_RUN_LEASE_SECONDS)


def tasks_for(waiting: int) -> int:
    """Enough that several workers share them, few enough to stay cheap."""
    return min(TASKS_AT_ONCE, -(-waiting // BATCH))


def recover(now: datetime | None = None) -> list[tuple[int, int]]:
    """Free what dead workers held; gives (run, number of tasks to queue) for the runs that need some.

    Whoever looks first in a lease's time does it: a run is asked for once, however many are looking.
    """
    now = now or timezone.now()
    old = now - lease()
    quiet = Run.objects.filter(
        Q(queued_at__lt=old) | Q(queued_at=None), state__in=[Run.State.QUEUED, Run.State.RUNNING]
    )
    return [(run.pk, tasks) for run in quiet if (tasks := _recover(run, now, old))]


def _recover(run: Run, now: datetime, old: datetime) -> int:
    results = RunResult.objects.filter(run=run)
    stale = results.filter(state=RunResult.State.CLAIMED, claimed_at__lt=old)
    with transaction.atomic():
        stale.filter(claims__gte=MOST_CLAIMS).update(
            state=RunResult.State.FAILED,
            error=f"{MOST_CLAIMS} workers ended while they replayed this session",
            finished_at=now,
        )
        freed = stale.update(state=RunResult.State.WAITING, claimed_at=None)
        waiting = results.filter(state=RunResult.State.WAITING).count()
        close(run.pk)
        if results.filter(Q(claimed_at__gte=old) | Q(finished_at__gte=old, claims__lt=MOST_CLAIMS)).exists():
            waiting = freed  # somebody is at the rest
        is_ours = waiting and Run.objects.filter(pk=run.pk, queued_at=run.queued_at).update(queued_at=now)
    return tasks_for(waiting) if is_ours else 0
