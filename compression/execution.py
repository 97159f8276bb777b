"""The work of a run: claim a session, replay it, write its figures down, take the next one.

Any number of workers may be at it. A claim is one conditional update, so that a session is never
taken twice; figures are written together with the state, so that a killed worker leaves a session
either waiting, claimed (and free again after its lease) or done.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from compression.engine.policy import Policy, build
from compression.models import Run, RunResult
from compression.replays import is_stored, stored_replay
from compression.runs import BATCH

logger = logging.getLogger(__name__)

COLUMNS = (
    "turns", "sent_before", "sent_after", "request_tokens", "request_freed", "tool_before", "tool_after",
    "session_saved", "request_saved", "tool_saved", "overflow_turn", "overflow_turn_none", "events", "thrash",
    "violations",
)  # fmt: skip


def work(run_id: int, limit: int = BATCH) -> int:
    """Work through up to ``limit`` waiting sessions of a run; gives how many there were, and ends the run."""
    run = Run.objects.filter(pk=run_id).first()
    if run is None or run.state in (Run.State.DONE, Run.State.CANCELLED):
        return 0
    Run.objects.filter(pk=run_id, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
    policy = build(run.fields, f"run {run_id}")
    worked = 0
    while worked < limit and (result := claim(run_id)) is not None:
        finish(result, policy)
        worked += 1
    close(run_id)
    return worked


def claim(run_id: int) -> RunResult | None:
    """Take the next waiting session of a run that still goes on; None when there is none."""
    waiting = RunResult.objects.filter(
        run_id=run_id, state=RunResult.State.WAITING, run__state=Run.State.RUNNING
    ).order_by("pk")
    with transaction.atomic():
        if connection.features.has_select_for_update_skip_locked:
            waiting = waiting.select_for_update(skip_locked=True, of=("self",))
        key = waiting.values_list("pk", flat=True).first()
        if key is None:
            return None
        mine = RunResult.objects.filter(pk=key, state=RunResult.State.WAITING)
        if not mine.update(state=RunResult.State.CLAIMED, claimed_at=timezone.now()):
            return None
    return RunResult.objects.select_related("session__project").get(pk=key)


def finish(result: RunResult, policy: Policy) -> None:
    """Replay a claimed session and write its figures; a session that cannot be replayed is marked, the run goes on."""
    session = result.session
    claimed_at = result.claimed_at
    figures: dict[str, Any]
    try:
        reused = is_stored(session, policy)
        summary = dict(stored_replay(session, policy).summary)
    except Exception as error:  # one odd session must not end a run of thousands; the log has the traceback
        logger.exception("session %s of run %s could not be replayed", session.pk, result.run_id)
        figures = {"state": RunResult.State.FAILED, "error": f"{type(error).__name__}: {error}"[:300]}
    else:
        figures = {
            "state": RunResult.State.DONE,
            "reused": reused,
            "session_revision": session.revision,
            "summary": summary,
            "counter_error": summary["counter_error"]["median"],
            **{name: summary[name] for name in COLUMNS},
        }
    # Only while the claim is still ours: after its lease another worker may have done the work.
    mine = RunResult.objects.filter(pk=result.pk, state=RunResult.State.CLAIMED, claimed_at=claimed_at)
    mine.update(finished_at=timezone.now(), **figures)


def close(run_id: int) -> None:
    """The run is done when no session waits or is worked on."""
    open_states = [RunResult.State.WAITING, RunResult.State.CLAIMED]
    if not RunResult.objects.filter(run_id=run_id, state__in=open_states).exists():
        Run.objects.filter(pk=run_id, state=Run.State.RUNNING).update(state=Run.State.DONE, finished_at=timezone.now())
