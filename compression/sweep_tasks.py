"""Background tasks of sweeps: fetch by id, call the verb."""

from __future__ import annotations

from django.db import transaction
from django.tasks import task
from django.utils import timezone

from compression import sweep_execution
from compression.models import Run, Sweep
from compression.recovery import lease
from compression.sweep_recovery import recover

TASKS_AT_ONCE = 8
"""So many workers may share a sweep."""


@task()
def work_on_sweep(sweep_id: int) -> int:
    """One batch of a sweep; queues itself again while there is more."""
    worked = sweep_execution.work(sweep_id)
    if worked == sweep_execution.BATCH:
        work_on_sweep.enqueue(sweep_id)
    return worked


@task()
def watch_sweep(sweep_id: int) -> int:
    """Looks once in a lease's time whether a worker died, as long as the sweep goes on."""
    found = queue_recovered_sweeps()
    if Sweep.objects.filter(pk=sweep_id, state__in=[Run.State.QUEUED, Run.State.RUNNING]).exists():
        queue_sweep_watch(sweep_id)
    return found


def queue_sweep(sweep_id: int, tasks: int = TASKS_AT_ONCE) -> None:
    """Once the transaction is through, so that no worker looks for rows that are not there yet."""
    for _ in range(tasks):
        transaction.on_commit(lambda: work_on_sweep.enqueue(sweep_id))


def queue_sweep_watch(sweep_id: int) -> None:
    """A later task for whichever worker lives then; where tasks cannot wait, pages that watch a sweep do it alone."""
    if watch_sweep.get_backend().supports_defer:
        later = watch_sweep.using(run_after=timezone.now() + lease())
        transaction.on_commit(lambda: later.enqueue(sweep_id))


def queue_recovered_sweeps() -> int:
    """Queue work for the sweeps that dead workers left; gives their number."""
    sweeps = recover()
    for sweep_id in sweeps:
        queue_sweep(sweep_id)
    return len(sweeps)
