"""Background tasks: fetch by id, call the verb."""

from __future__ import annotations

from django.db import transaction
from django.tasks import task
from django.utils import timezone

from compression import execution
from compression.models import Run, RunResult
from compression.recovery import lease, recover


@task()
def work_on_run(run_id: int) -> int:
    """One batch of a run; queues itself again while sessions wait."""
    worked = execution.work(run_id)
    if worked == execution.BATCH and RunResult.objects.filter(run_id=run_id, state=RunResult.State.WAITING).exists():
        work_on_run.enqueue(run_id)
    return worked


@task()
def watch_run(run_id: int) -> int:
    """Looks once in a lease's time whether a worker died, as long as the run goes on."""
    found = queue_recovered()
    if Run.objects.filter(pk=run_id, state__in=[Run.State.QUEUED, Run.State.RUNNING]).exists():
        queue_watch(run_id)
    return found


def queue_work(run_id: int, tasks: int) -> None:
    """Once the transaction is through, so that no worker looks for rows that are not there yet."""
    for _ in range(tasks):
        transaction.on_commit(lambda: work_on_run.enqueue(run_id))


def queue_watch(run_id: int) -> None:
    """A later task for whichever worker lives then; where tasks cannot wait, pages that watch a run do it alone."""
    if watch_run.get_backend().supports_defer:
        later = watch_run.using(run_after=timezone.now() + lease())
        transaction.on_commit(lambda: later.enqueue(run_id))


def queue_recovered() -> int:
    """Queue work for the runs that dead workers left; gives their number."""
    runs = recover()
    for run_id, tasks in runs:
        queue_work(run_id, tasks)
    return len(runs)
