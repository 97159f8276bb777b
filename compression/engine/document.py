"""A replay and a window as plain data, in the shapes that others rely on (docs: interfaces)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import asdict
from typing import Any

from compression.engine.blocks import Block, Side, edit_fields, window_blocks
from compression.engine.cost_fields import findings_fields, terms_fields
from compression.engine.costs import Ledger, ledger_of
from compression.engine.edits import Event
from compression.engine.money import dollars
from compression.engine.replay import Replay
from compression.engine.retention import loss_fields, losses
from compression.engine.summary import summarize
from compression.engine.turns import ZONES, TurnTable, tabulate


def event_fields(
    event: Event, retention: dict[str, Any] | None = None, break_even: float | None = None
) -> dict[str, Any]:
    """One event, its edits without their texts. ``break_even`` is null without a price, and where nothing changed."""
    return {
        "turn": event.turn,
        "kind": event.kind,
        "before": event.before,
        "after": event.after,
        "reclaimed": event.reclaimed,
        "usage_ratio": round(event.usage_ratio, 6),
        "first_changed_message": event.first_changed_message,
        "target_unreachable": event.target_unreachable,
        "edits": [edit_fields(edit) for edit in event.edits],
        "left": len(event.left),
        "left_messages": list(event.left),
        "note": None if event.note is None else asdict(event.note),
        "recent_budget": event.recent_budget,
        "repeats": event.repeats,
        "reason": event.reason,
        "cache_prefix_survival": event.cache_prefix_survival,
        "break_even_calls": None if break_even is None else round(break_even, 2),
        "calls_after": event.calls_after,
        "retention": retention,
    }


def turn_fields(replay: Replay, table: TurnTable, ledger: Ledger, t: int) -> dict[str, Any]:
    """One turn of a replay."""
    recorded = replay.transcript.turns[t].recorded
    first = bisect_left(replay.events, t, key=lambda event: event.turn)
    last = bisect_right(replay.events, t, key=lambda event: event.turn) - 1
    cached, cost = ledger.turns[t], ledger.costs[t]
    at = bisect_left(table.overruns, (t, ""))
    overrun = table.overruns[at][1] if at < len(table.overruns) and table.overruns[at][0] == t else None
    return {
        "index": t,
        "request_end": table.request_end[t],
        "tokens": {
            "counted": table.counted[t],
            "counted_after": table.counted_after[t],
            "before": table.before[t],
            "after": table.after[t],
            "hidden": table.hidden,
            "by_source": {name: column[t] for name, column in table.sources.items()},
            "by_source_after": {name: column[t] for name, column in table.sources_after.items()},
        },
        "zones": {
            **{name: table.zones[name][t] for name in ZONES},
            "recent_budget": table.recent_budget[t],
            "recent_tokens_actual": table.recent_actual[t],
            "overrun_reason": overrun,
        },
        "usage_ratio": round(replay.usage(table.after[t]), 6),
        "fits": replay.fits(t),
        "event": {"index": last, "kind": replay.events[last].kind} if first <= last else None,
        "cache": {
            "read": cached.read,
            "write": cached.write,
            "uncached": cached.uncached,
            "bust": None if cached.bust is None else asdict(cached.bust),
        },
        "idle_s": ledger.terms.idle[t],
        "output": asdict(ledger.outputs[t]),
        "cost_usd": None if cost is None else dollars(cost.total),
        "recorded": None
        if recorded is None
        else {
            "context_tokens": recorded.context_tokens,
            "cache_read": recorded.cache_read,
            "cache_write": recorded.cache_write,
            "output": recorded.output,
            "model": recorded.model,
            "comparable": t < replay.first_boundary,
        },
    }


def replay_document(replay: Replay, *, session: str, counter: str, turn: int | None = None) -> dict[str, Any]:
    """What ``replay --json`` prints; ``turn`` leaves only that turn's row. Timings are never part of it."""
    table = tabulate(replay)
    lost = losses(replay)
    ledger = ledger_of(replay)
    ends = [turn.request_end for turn in replay.transcript.turns]
    retained = iter([loss_fields(loss, lambda i: bisect_right(ends, i) - 1) for loss in lost])
    rows = range(len(table)) if turn is None else [turn]
    return {
        "session": session,
        "policy": {"name": replay.policy.name, "digest": replay.policy.digest, "history": replay.course.history},
        "counter": {
            "encoding": counter,
            "k": replay.calibration.k,
            "hidden": replay.calibration.hidden,
            "basis": replay.calibration.basis,
        },
        "turns": [turn_fields(replay, table, ledger, t) for t in rows],
        "events": [
            event_fields(event, next(retained) if event.changes else None, break_even)
            for event, break_even in zip(replay.events, ledger.break_evens, strict=True)
        ],
        "cost": terms_fields(ledger),
        "stability": findings_fields(replay, ledger),
        "summary": summarize(replay, table, lost, ledger),
    }


def block_fields(block: Block) -> dict[str, Any]:
    """One block of a window."""
    return {
        "message": block.message,
        "part": block.part,
        "role": block.role,
        "kind": block.kind,
        "tool": block.tool,
        "zone": block.zone,
        "reason": block.reason,
        "content_type": block.content_type,
        "tokens": block.tokens,
        "text": block.text,
        "edit": block.edit,
    }


def window_document(replay: Replay, turn: int, side: str) -> dict[str, Any]:
    """The window of a turn; ``side`` is before, after or both. ``tokens`` are the calibrated totals of the sides."""
    sides: tuple[Side, ...] = ("before", "after") if side == "both" else ("before",) if side == "before" else ("after",)
    totals = {"before": replay.windows_before[turn], "after": replay.windows_after[turn]}
    return {
        "turn": turn,
        "policy": replay.policy.name,
        "tokens": {name: totals[name] for name in sides},
        **{name: [block_fields(block) for block in window_blocks(replay, turn, name)] for name in sides},
    }
