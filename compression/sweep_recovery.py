"""What a dead worker left of a sweep: trials that nobody works on, and sweeps that no task is queued for.

A worker that is killed can say nothing, so its silence has to: a claim that was not renewed for a lease is free again.
Nothing is worked on here and nothing is queued; the caller queues what this asks for.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from compression.models import Run, Sweep, Trial
from compression.recovery import MOST_CLAIMS, lease
from compression.sweep_execution import close


def recover(now: datetime | None = None) -> list[int]:
    """Free what dead workers held; gives the sweeps to queue again.

    Whoever looks first in a lease's time does it: a sweep is asked for once, however many are looking.
    """
    now = now or timezone.now()
    old = now - lease()
    quiet = Sweep.objects.filter(
        Q(queued_at__lt=old) | Q(queued_at=None), state__in=[Run.State.QUEUED, Run.State.RUNNING]
    )
    return [sweep.pk for sweep in quiet if _is_left(sweep, now, old)]


def _is_left(sweep: Sweep, now: datetime, old: datetime) -> bool:
    trials = Trial.objects.filter(sweep=sweep)
    stale = trials.filter(state=Trial.State.CLAIMED, claimed_at__lt=old)
    with transaction.atomic():
        stale.filter(claims__gte=MOST_CLAIMS).update(
            state=Trial.State.FAILED, error=f"{MOST_CLAIMS} workers ended while they worked on it", finished_at=now
        )
        freed = stale.update(state=Trial.State.WAITING, claimed_at=None)
        close(sweep)
        alive = trials.filter(
            Q(state=Trial.State.CLAIMED, claimed_at__gte=old) | Q(state=Trial.State.DONE, finished_at__gte=old)
        )
        if alive.exists() and not freed:
            return False
        still = Sweep.objects.filter(
            pk=sweep.pk, queued_at=sweep.queued_at, state__in=[Run.State.QUEUED, Run.State.RUNNING]
        )
        return bool(still.update(queued_at=now))
