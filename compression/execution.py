"""The work of a run: claim a session, replay it, write its figures down, take the next one.

Any number of workers may be at it. A claim is one conditional update, so that a session is never
taken twice; figures are written together with the state, so that a killed worker leaves a session
either waiting, claimed (and free again after its lease) or done.
"""

from __future__ import annotations

import logging
from decimal import Decimal
from time import perf_counter
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from compression import metrics
from compression.engine import ENGINE_VERSION
from compression.engine.policy import InvalidPolicy, Policy, build
from compression.event_words import ladder_steps
from compression.models import Run, RunResult
from compression.project_prices import digest_of
from compression.replays import is_stored, stored_replay
from compression.run_news import News

logger = logging.getLogger(__name__)

BATCH = 25
"""Sessions that one task works through before it lets others in."""

COLUMNS = (
    "turns", "sent_before", "sent_after", "request_tokens", "request_freed", "tool_before", "tool_after",
    "session_saved", "request_saved", "tool_saved", "rlr_n", "rlr_view", "overflow_turn", "overflow_turn_none",
    "events", "thrash", "violations", "cache_read", "cache_write", "cache_uncached", "rewrites", "expiries",
    "unforced_breaks", "break_even",
)  # fmt: skip
OPEN_STATES = [RunResult.State.WAITING, RunResult.State.CLAIMED]


def work(run_id: int, limit: int = BATCH) -> int:
    """Work through up to ``limit`` waiting sessions of a run; gives how many there were, and ends the run."""
    run = Run.objects.select_related("project__prices").filter(pk=run_id).first()
    if run is None or run.is_over:
        return 0
    Run.objects.filter(pk=run_id, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
    worked, news = 0, News(run_id)
    try:
        policy = policy_of_run(run)
    except InvalidPolicy as error:
        give_up(run_id, str(error))
    else:
        while worked < limit and (result := claim(run_id)) is not None:
            finish(result, policy)
            worked += 1
            news.tell()
    close(run_id)
    news.tell(at_once=True)
    return worked


def policy_of_run(run: Run) -> Policy:
    """What the run replays. A worker of another engine version refuses, and so does one that finds other prices: their
    figures would not be comparable."""
    if run.engine_version != ENGINE_VERSION:
        fault = f"it was started with engine version {run.engine_version}, this is {ENGINE_VERSION}: start it again"
        raise InvalidPolicy(f"run {run.pk}", [fault])
    if run.prices_digest != digest_of(run.project):
        raise InvalidPolicy(f"run {run.pk}", ["the project's prices have changed since it was started: start it again"])
    return build(run.fields, f"run {run.pk}")


def claim(run_id: int) -> RunResult | None:
    """Take the next waiting session of a run that still goes on; None when there is none."""
    waiting = RunResult.objects.filter(
        run_id=run_id, state=RunResult.State.WAITING, run__state=Run.State.RUNNING
    ).order_by("pk")
    with transaction.atomic():
        if connection.features.has_select_for_update_skip_locked:
            waiting = waiting.select_for_update(skip_locked=True, of=("self",))
        found = waiting.only("pk").first()
        if found is None:
            return None
        mine = RunResult.objects.filter(pk=found.pk, state=RunResult.State.WAITING)
        if not mine.update(state=RunResult.State.CLAIMED, claimed_at=timezone.now(), claims=F("claims") + 1):
            return None
    return RunResult.objects.select_related("session__project__prices").get(pk=found.pk)


def finish(result: RunResult, policy: Policy) -> None:
    """Replay a claimed session and write its figures; a session that cannot be replayed is marked, the run goes on."""
    session = result.session
    claimed_at = result.claimed_at
    figures: dict[str, Any]
    try:
        reused = is_stored(session, policy)
        began = perf_counter()
        done = stored_replay(session, policy)
        if not reused:
            metrics.count("run", done.events, perf_counter() - began)
        figures = {"reused": reused, **figures_of(done.summary)}
    except Exception as error:  # one odd session must not end a run of thousands; the log has the traceback
        logger.exception("session %s of run %s could not be replayed", session.pk, result.run_id)
        figures = {"state": RunResult.State.FAILED, "error": f"{type(error).__name__}: {error}"[:300]}
    else:
        figures |= {"state": RunResult.State.DONE, "session_revision": session.revision}
    # Only while the claim is still ours: after its lease another worker may have done the work.
    mine = RunResult.objects.filter(pk=result.pk, state=RunResult.State.CLAIMED, claimed_at=claimed_at)
    mine.update(finished_at=timezone.now(), **figures)


def figures_of(summary: Any) -> dict[str, Any]:
    """The columns of a result, from the summary of its replay."""
    needed = summary["rlr_n"]
    return {
        "summary": dict(summary),
        "rlr_kept": round((summary["rlr_view"] or 0) * needed),
        "rlr_reached": round((summary["rlr_reach"] or 0) * needed),
        "counter_error": summary["counter_error"]["median"],
        "ladder": ladder_steps(summary),
        **{name: money(summary[name]) for name in ("cost_usd", "cost_usd_none")},
        **{name: summary[name] for name in COLUMNS},
    }


def money(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def give_up(run_id: int, why: str) -> None:
    """No session of this run can be worked on."""
    waiting = RunResult.objects.filter(run_id=run_id, state=RunResult.State.WAITING)
    waiting.update(state=RunResult.State.FAILED, error=why[:300], finished_at=timezone.now())


def close(run_id: int) -> None:
    """The run is done when no session waits or is worked on."""
    if not RunResult.objects.filter(run_id=run_id, state__in=OPEN_STATES).exists():
        Run.objects.filter(pk=run_id, state=Run.State.RUNNING).update(state=Run.State.DONE, finished_at=timezone.now())
