"""The work of a sweep: claim a trial or ask the search for one, replay it on every session, write the figures, go on.

Any number of workers may be at it. A claim is one conditional update and a trial's number is unique, so that no trial
is worked on twice; results are rows of their own, so that whoever takes up a killed worker's trial goes on behind the
last row. The transcripts stay at hand from one trial to the next (``sweep_sessions``).
"""

from __future__ import annotations

import logging
from decimal import Decimal
from time import monotonic
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from compression.engine import ENGINE_VERSION
from compression.engine.policy import InvalidPolicy, Policy, build
from compression.engine.presets import PRESETS
from compression.models import Run, Sweep, SweepSession, Trial, TrialResult
from compression.project_prices import digest_of
from compression.sweep_asking import ask, is_asked_out
from compression.sweep_sessions import shelf, summary_of
from compression.sweep_totals import figures_of
from sessions.models import Session

logger = logging.getLogger(__name__)

BATCH = 10
"""Trials that one task works through before it lets others in."""

SECONDS_BETWEEN_WRITES = 3.0
"""A worker is heard of at least so often, but for a single session that takes longer."""

OPEN = [Trial.State.WAITING, Trial.State.CLAIMED]
OF_SUMMARY = (
    "turns", "sent_before", "sent_after", "rlr_n", "overflow_turn", "events", "violations",
)  # fmt: skip
SMALLEST_MONEY = Decimal("1e-12")
OF_CACHE = ("cache_read", "cache_write", "cache_uncached")


class ClaimLost(Exception):
    """The sweep was cancelled, or so much time went by that somebody else has the trial."""


def work(sweep_id: int, limit: int = BATCH) -> int:
    """Work through up to ``limit`` trials of a sweep; gives how many there were, and ends the sweep."""
    sweep = Sweep.objects.select_related("project__prices").filter(pk=sweep_id).first()
    if sweep is None or sweep.is_over:
        return 0
    Sweep.objects.filter(pk=sweep_id, state=Run.State.QUEUED).update(state=Run.State.RUNNING)
    if not is_comparable(sweep):
        end(sweep, Run.State.CANCELLED)
        return 0
    worked = 0
    while worked < limit and (trial := claim(sweep)) is not None:
        try:
            finish(trial)
        except ClaimLost:
            release(trial)
        worked += 1
    close(sweep)
    return worked


def is_comparable(sweep: Sweep) -> bool:
    """Whether figures worked out now stand beside those that are there: the same engine, the same prices."""
    return sweep.engine_version == ENGINE_VERSION and sweep.prices_digest == digest_of(sweep.project)


def claim(sweep: Sweep) -> Trial | None:
    """The next waiting trial of a sweep that still goes on, or the one that its search asks for."""
    waiting = Trial.objects.filter(sweep=sweep, state=Trial.State.WAITING, sweep__state=Run.State.RUNNING).order_by(
        "number"
    )
    with transaction.atomic():
        if connection.features.has_select_for_update_skip_locked:
            waiting = waiting.select_for_update(skip_locked=True, of=("self",))
        found = waiting.only("pk").first()
        if found is not None:
            mine = Trial.objects.filter(pk=found.pk, state=Trial.State.WAITING)
            mine.update(state=Trial.State.CLAIMED, claimed_at=timezone.now(), claims=F("claims") + 1)
    if found is None:
        return ask(sweep)
    return Trial.objects.select_related("sweep").get(pk=found.pk)


def policy_of_trial(trial: Trial) -> Policy:
    """What a trial replays."""
    if trial.kind == Trial.Kind.NONE:
        return PRESETS["none"]
    return build({**trial.sweep.fields, **trial.values}, str(trial))


def finish(trial: Trial) -> None:
    """Replay a claimed trial on the sessions that it lacks and write its figures."""
    try:
        policy = policy_of_trial(trial)
    except InvalidPolicy as error:
        settle(trial, state=Trial.State.FAILED, error=str(error)[:300])
        return
    members = dict(SweepSession.objects.filter(sweep=trial.sweep_id).values_list("session", "is_held_out"))
    known = set(TrialResult.objects.filter(trial=trial).values_list("session", flat=True))
    lacking = (
        Session.objects.filter(pk__in=members.keys() - known)
        .select_related("project__prices")
        .defer("tools_json")
        .order_by("pk")
    )
    rows: list[TrialResult] = []
    written = monotonic()
    for session in shelf.nearest_first(lacking):
        rows.append(result_of(trial, session, policy))
        if monotonic() - written > SECONDS_BETWEEN_WRITES:
            with transaction.atomic():
                keep(trial)
                TrialResult.objects.bulk_create(rows, ignore_conflicts=True)
            rows, written = [], monotonic()
    with transaction.atomic():
        keep(trial)
        TrialResult.objects.bulk_create(rows, ignore_conflicts=True)
        results = list(TrialResult.objects.filter(trial=trial))
        held_out = {session for session, is_held_out in members.items() if is_held_out}
        settle(trial, state=Trial.State.DONE, policy_digest=policy.digest, **figures_of(results, held_out))


def result_of(trial: Trial, session: Session, policy: Policy) -> TrialResult:
    """One session under the policy; one that cannot be replayed is marked, the sweep goes on."""
    try:
        figures = figures_of_summary(summary_of(shelf.warm(session), policy))
    except Exception as error:  # one odd session must not end a sweep of thousands; the log has the traceback
        logger.exception("session %s of %s could not be replayed", session.pk, trial)
        figures = {"error": f"{type(error).__name__}: {error}"[:300]}
    return TrialResult(trial=trial, session=session, session_revision=session.revision, **figures)


def figures_of_summary(summary: dict[str, Any]) -> dict[str, Any]:
    """The columns of a result, from the summary of its replay."""
    needed, cost = summary["rlr_n"], summary.get("cost_usd")
    return {
        **{name: summary[name] for name in OF_SUMMARY},
        **{name: summary.get(name) or 0 for name in OF_CACHE},
        "break_even": summary.get("break_even"),
        "cost_usd": None if cost is None else Decimal(cost).quantize(SMALLEST_MONEY),
        "rlr_kept": round((summary["rlr_view"] or 0) * needed),
        "rlr_reached": round((summary["rlr_reach"] or 0) * needed),
        "thrash": summary["thrash"] or 0,
    }


def keep(trial: Trial) -> None:
    """Say that the worker lives; ClaimLost when the trial is no longer its own or the sweep does not go on."""
    now = timezone.now()
    mine = Trial.objects.filter(pk=trial.pk, state=Trial.State.CLAIMED, claimed_at=trial.claimed_at)
    if not mine.filter(sweep__state=Run.State.RUNNING).update(claimed_at=now):
        raise ClaimLost
    trial.claimed_at = now


def settle(trial: Trial, **columns: Any) -> None:
    """Write how a trial ended, while the claim is still ours."""
    mine = Trial.objects.filter(pk=trial.pk, state=Trial.State.CLAIMED, claimed_at=trial.claimed_at)
    mine.update(finished_at=timezone.now(), **columns)


def release(trial: Trial) -> None:
    """A trial that is still ours, of a sweep that was cancelled, waits again with the results that it has."""
    mine = Trial.objects.filter(pk=trial.pk, state=Trial.State.CLAIMED, claimed_at=trial.claimed_at)
    mine.update(state=Trial.State.WAITING, claimed_at=None)


def close(sweep: Sweep) -> None:
    """The sweep is done when no trial waits, none is worked on and the search asks for no more."""
    if not Trial.objects.filter(sweep=sweep, state__in=OPEN).exists() and is_asked_out(sweep):
        end(sweep, Run.State.DONE)


def end(sweep: Sweep, state: str) -> None:
    Sweep.objects.filter(pk=sweep.pk, state=Run.State.RUNNING).update(state=state, finished_at=timezone.now())
