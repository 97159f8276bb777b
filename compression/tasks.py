"""Background tasks: fetch by id, call the verb."""

from __future__ import annotations

from django.tasks import task

from compression import execution
from compression.models import RunResult
from compression.runs import BATCH


@task()
def work_on_run(run_id: int) -> int:
    """One batch of a run; queues itself again while sessions wait."""
    worked = execution.work(run_id)
    if worked == BATCH and RunResult.objects.filter(run_id=run_id, state=RunResult.State.WAITING).exists():
        work_on_run.enqueue(run_id)
    return worked
