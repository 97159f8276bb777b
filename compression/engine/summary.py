"""The figures of a replay that people compare: what it saved, whether it fits, whether it kept its promises.

Every share comes with what it is a share of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compression.engine.archive_loss import archive_fields
from compression.engine.cost_fields import cost_fields
from compression.engine.costs import Ledger, ledger_of
from compression.engine.edits import LADDER, Event
from compression.engine.history import SOURCES, add_tokens
from compression.engine.invariants import Proof, prove
from compression.engine.repeat_reads import repeat_reads_fields
from compression.engine.replay import Replay
from compression.engine.retention import Loss, losses, retention_fields
from compression.engine.turns import TurnTable

CLOSE_TURNS = 3
THRASH_RATIO = 0.10


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 6) if whole else None


def _kept(kept: int, promised: int) -> float:
    """The share of promises that were kept; 1 where nothing was promised (``addresses``, ``claims`` say how many)."""
    return round(kept / promised, 6) if promised else 1.0


def _overflow(windows: Sequence[int], limit: int, reserve: int) -> int | None:
    return next((t for t, tokens in enumerate(windows) if tokens + reserve > limit), None)


def summarize(
    replay: Replay,
    table: TurnTable,
    lost: Sequence[Loss] | None = None,
    ledger: Ledger | None = None,
    proof: Proof | None = None,
) -> dict[str, Any]:
    """The summary of a replay. Figures that do not exist here (no events, no usage) are None, never 0; a promise
    that was never made is kept.

    ``lost`` = its losses, ``ledger`` = its bill and ``proof`` = its proof, where they are known already.
    """
    hidden, reserve, limit = table.hidden, replay.policy.reserve_output, replay.context_window
    own = {"recorded"} if replay.policy.strategy == "recorded" else {"compress", "arrival", *LADDER}
    changes = [e for e in replay.events if e.kind in own and e.reclaimed]
    sent_before, sent_after = sum(table.before), sum(table.after)
    stubs = {(e.message, e.part) for event in changes for e in event.edits if e.address}
    freed = sum(e.reclaimed for e in changes)
    bodies = sum(e.before - hidden for e in changes)
    overflow, overflow_none = _overflow(table.after, limit, reserve), _overflow(table.before, limit, reserve)
    lost = losses(replay) if lost is None else lost
    ledger = ledger_of(replay) if ledger is None else ledger
    proof = prove(replay) if proof is None else proof
    results_before, results_after = _results_at(replay, changes, table)
    return {
        "turns": len(table),
        "context_window": limit,
        "context_window_basis": replay.window_basis,
        "sent_before": sent_before,
        "sent_after": sent_after,
        "session_saved": _share(sent_before - sent_after, sent_before),
        "request_saved": _share(freed, bodies),
        "request_tokens": bodies,
        "request_freed": freed,
        "tool_saved": _share(results_before - results_after, results_before),
        "tool_before": results_before,
        "tool_after": results_after,
        "peak_before": max(table.before, default=0),
        "peak_after": max(table.after, default=0),
        "overflow_turn": overflow,
        "overflow_turn_none": overflow_none,
        "turns_lost": 0 if overflow is None else len(table) - overflow,
        "turns_lost_none": 0 if overflow_none is None else len(table) - overflow_none,
        "events": len(changes),
        "skipped_events": sum(1 + e.repeats for e in replay.events if e.kind == "skip"),
        "stubs": len(stubs),
        "thrash": _share(100 * _thrash(replay), len(table)),
        "ladder": {kind: sum(e.kind == kind for e in replay.events) for kind in (*sorted(LADDER), "incompressible")},
        "target_unreachable": sum(e.target_unreachable is not None for e in replay.events),
        "violations": len(proof.violations),
        "violation_list": [f"turn {v.turn}: {v.rule}: {v.detail}" for v in proof.violations[:50]],
        "addresses": proof.addresses,
        "recall_integrity": _kept(proof.resolved, proof.addresses),
        "claims": proof.claims,
        "fidelity": _kept(proof.true_claims, proof.claims),
        **_retention(replay, lost),
        **archive_fields(replay, lost),
        **repeat_reads_fields(replay),
        **cost_fields(replay, ledger),
        "counter_error": counter_error(replay, table),
        "composition": composition(table),
        "alarms": list(replay.alarms),
        "warnings": list(replay.course.warnings),
        "price_warnings": list(ledger.terms.warnings),
    }


def _results_at(replay: Replay, changes: Sequence[Event], table: TurnTable) -> tuple[int, int]:
    """Calibrated tokens of the tool results of the window before and after each event, summed.

    Only of events that took no message out: what an agent's own compaction took is not told apart by source.
    """
    before = after = 0
    standing: dict[int, int] = {}
    for event, (freed, gone) in zip(reversed(changes), reversed(_results_freed(replay, changes)), strict=True):
        here = standing.get(event.turn, table.sources_after["tool_result"][event.turn])
        standing[event.turn] = here + freed + gone
        if not event.left:
            after += here
            before += here + freed
    return before, after


def _results_freed(replay: Replay, changes: Sequence[Event]) -> list[tuple[int, int]]:
    """Calibrated tokens of tool results that each event made shorter by, and that left with messages."""
    transcript, k = replay.transcript, replay.calibration.k
    stands: dict[tuple[int, int], int] = {}
    found = []
    for event in changes:
        freed, others = 0, False
        for edit in event.edits:
            place = edit.message, edit.part
            if transcript.messages[edit.message].parts[edit.part].kind == "tool_result":
                freed += stands.get(place, edit.tokens_before) - edit.tokens_after
                stands[place] = edit.tokens_after
            else:
                others = True
        gone = 0
        for i in event.left:
            row = [0] * len(SOURCES)
            message = transcript.messages[i]
            add_tokens(row, message, [stands.get((i, j), tokens) for j, tokens in enumerate(transcript.counts[i])])
            gone += row[SOURCES.index("tool_result")]
        # Where results alone changed, the event's own figure is the exact one.
        alone = not others and not event.left
        found.append((event.reclaimed if alone else round(k * freed), round(k * gone)))
    return found


def _thrash(replay: Replay) -> int:
    """Events close to the one before, or that freed little (metrics.md 7)."""
    events = [e for e in replay.events if e.kind == "compress"]
    count = 0
    for at, event in enumerate(events):
        close = at > 0 and event.turn - events[at - 1].turn <= CLOSE_TURNS
        count += close or event.reclaimed < THRASH_RATIO * event.before
    return count


def counter_error(replay: Replay, table: TurnTable) -> dict[str, Any]:
    """Signed (estimate - recorded) / recorded over the turns before the first boundary; undercounting is negative."""
    first = replay.first_boundary
    errors = sorted(
        (table.before[t.index] - t.recorded.context_tokens) / t.recorded.context_tokens
        for t in replay.transcript.turns
        if t.index < first and t.recorded is not None and t.recorded.context_tokens
    )
    if not errors:
        return {"turns": 0, "median": None, "p95": None, "median_absolute": None}
    absolute = sorted(abs(e) for e in errors)
    return {
        "turns": len(errors),
        "median": round(_quantile(errors, 0.5), 6),
        "p95": round(_quantile(absolute, 0.95), 6),
        "median_absolute": round(_quantile(absolute, 0.5), 6),
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def composition(table: TurnTable) -> dict[str, Any]:
    """Share of each source of the largest request without a policy, hidden included, and of its logged text."""
    if not table.before:
        return {"turn": None, "tokens": 0, "of_request": {}, "of_logged": {}}
    turn = max(range(len(table)), key=lambda t: (table.before[t], -t))
    whole, logged = table.before[turn], table.before[turn] - table.hidden
    sources = {name: table.sources[name][turn] for name in SOURCES}
    return {
        "turn": turn,
        "tokens": whole,
        "of_request": {"hidden": _share(table.hidden, whole), **{n: _share(v, whole) for n, v in sources.items()}},
        "of_logged": {n: _share(v, logged) for n, v in sources.items()},
    }


def _retention(replay: Replay, lost: Sequence[Loss]) -> dict[str, Any]:
    """What was needed later. Truncation is no yardstick for what an agent summarised itself: no lift there."""
    fields = retention_fields(lost)
    if replay.policy.strategy == "recorded":
        fields |= {name: None for name in fields if name.startswith(("rlr_truncated", "rlr_lift"))}
    return fields
