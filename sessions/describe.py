"""What can be said of a session at a glance: its counts, boundaries and the provider's figures.

``inspect`` and ``ingest`` print these rows, and ingest stores the same figures, so that a
file and its stored session never disagree. It reads parsed sessions, never rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import Any

from sessions.importers.parsed import ParsedBoundary, ParsedSession
from sessions.measures import Measurement
from sessions.storable import storable_time


def describe(parsed: ParsedSession, measurement: Measurement, *, path: str) -> dict[str, Any]:
    """The row that ``inspect`` prints for one session of the file at ``path``."""
    return row(
        parsed,
        path=path,
        boundaries=boundary_records(parsed, measurement.silent),
        counted_tokens=measurement.counted_tokens,
        calibration=measurement.calibration,
    )


def row(
    parsed: ParsedSession,
    *,
    path: str,
    boundaries: list[dict[str, Any]],
    counted_tokens: int,
    calibration: dict[str, Any],
) -> dict[str, Any]:
    """The same from figures that are known already, such as those of a stored session."""
    kinds = part_counts(parsed)
    started_at = storable_time(parsed.started_at)
    return {
        "path": path,
        "key": parsed.key,
        "parent": parsed.parent,
        "spawned_by": parsed.spawned_by,
        "format": parsed.format,
        "detection": {"score": parsed.detection.score, "why": parsed.detection.why},
        "title": parsed.title,
        "agent": parsed.agent,
        "models": parsed.models,
        "started_at": started_at.isoformat() if started_at else None,
        "messages": len(parsed.messages),
        "source_messages": parsed.source_messages,
        "turns": len(parsed.turns),
        "tool_calls": kinds["tool_call"],
        "tool_results": kinds["tool_result"],
        "media": kinds["media"],
        "thinking": kinds["thinking"],
        "boundaries": [{"turn": boundary["turn"], "kind": boundary["kind"]} for boundary in boundaries],
        "recorded": recorded(parsed),
        "counted_tokens": counted_tokens,
        "calibration": calibration,
        "skipped": skipped(parsed),
        "warnings": parsed.warnings,
    }


def part_counts(parsed: ParsedSession) -> Counter[str]:
    return Counter(part.kind for message in parsed.messages for part in message.parts)


def tool_errors(parsed: ParsedSession) -> int:
    return sum(part.kind == "tool_result" and part.is_error for message in parsed.messages for part in message.parts)


def recorded(parsed: ParsedSession) -> dict[str, int]:
    """Sums, and the peak, of what the provider itself reported, in tokens."""
    usages = [turn.usage for turn in parsed.turns if turn.usage is not None]
    return {
        "turns_with_usage": len(usages),
        "max_context_tokens": max((usage.context_tokens for usage in usages), default=0),
        "cache_read": sum(usage.cache_read for usage in usages),
        "cache_write": sum(usage.cache_write for usage in usages),
        "output": sum(usage.output for usage in usages),
    }


def skipped(parsed: ParsedSession) -> list[dict[str, Any]]:
    counts = sorted(parsed.skipped.items(), key=lambda item: (-item[1], item[0]))
    return [{"reason": reason, "count": count} for reason, count in counts]


def turns_of_messages(parsed: ParsedSession) -> list[int | None]:
    """The turn that wrote each message or caused it; for a prompt, the turn that sent it first.

    What comes after the last turn (a prompt that nobody answered) belongs to none.
    """
    # A turn never ends before the one in front of it, so that one search finds the owner.
    ends = list(accumulate((turn.results_end for turn in parsed.turns), max))
    owners = (bisect_right(ends, position) for position in range(len(parsed.messages)))
    return [owner if owner < len(ends) else None for owner in owners]


def boundary_records(parsed: ParsedSession, silent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every boundary as it is stored, the inferred ones included, in the order of turns.

    ``turn`` is the first request that felt it: the number of turns, when none came after it.
    """
    request_ends = list(accumulate((turn.request_end for turn in parsed.turns), max))
    records = [boundary_record(boundary, request_ends) for boundary in parsed.boundaries]
    return sorted(records + silent, key=lambda record: int(record["turn"]))


def boundary_record(boundary: ParsedBoundary, request_ends: list[int]) -> dict[str, Any]:
    return {
        "turn": bisect_right(request_ends, boundary.position),
        "kind": boundary.kind,
        "position": boundary.position,
        "summary": boundary.summary,
        "preserved": list(boundary.preserved),
        "cleared_call_ids": list(boundary.cleared_call_ids),
        "tokens_before": boundary.tokens_before,
        "tokens_saved": boundary.tokens_saved,
        "originals_in_file": boundary.originals_in_file,
    }
