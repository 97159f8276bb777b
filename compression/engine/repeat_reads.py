"""What an agent called again after its own compactions, though nothing had changed: calls it would have been spared.

Only a window that the agent really had can make it ask again, so only recorded events are looked at: a policy
that is replayed on a finished session changes nothing of what was called. Whether the agent asked because it had
lost the answer is not known; the rate before the same events is what it repeats anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from compression.engine.history import Course
from compression.engine.replay import Replay

SPAN = 10
"""Turns on each side of an event."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Calls of some turns that had a result, and those among them that repeated an earlier one."""

    calls: int = 0
    repeats: int = 0

    @property
    def rate(self) -> float | None:
        return self.repeats / self.calls if self.calls else None

    def __add__(self, other: Repeats) -> Repeats:
        return Repeats(self.calls + other.calls, self.repeats + other.repeats)


def repeats_by_turn(course: Course) -> list[Repeats]:
    """For each turn the calls of its response. O(calls).

    A call repeats when the last one with the same tool and the same arguments, read as JSON without regard to the
    order of keys, got the same result: its target was unchanged.
    """
    results = {
        part.call_id: (message.index, j)
        for message in course.transcript.messages
        for j, part in enumerate(message.parts)
        if part.kind == "tool_result" and part.call_id
    }
    last: dict[tuple[str, bytes], str] = {}
    rows = []
    for turn in course.transcript.turns:
        row = Repeats()
        for call, key in _calls(course, turn.request_end, turn.response_end):
            if call in results:
                answer = course.sha(*results[call])
                row += Repeats(1, int(last.get(key) == answer))
                last[key] = answer
        rows.append(row)
    return rows


def _calls(course: Course, start: int, end: int) -> Iterator[tuple[str, tuple[str, bytes]]]:
    for message in course.transcript.messages[start:end]:
        for part in message.parts:
            if part.kind == "tool_call":
                yield part.call_id, (part.name.lower(), canonical(part.text))


def canonical(arguments: str) -> bytes:
    """Arguments such that those that mean the same are the same."""
    try:
        return orjson.dumps(orjson.loads(arguments), option=orjson.OPT_SORT_KEYS)
    except orjson.JSONDecodeError:
        return arguments.strip().encode("utf-8", "surrogatepass")


def repeat_reads_fields(replay: Replay) -> dict[str, Any]:
    """For a summary: the share of calls that repeat within ``SPAN`` turns after the agent's compactions, minus the
    share before them, with both counts. None where no such event has calls on both sides."""
    turns = [event.turn for event in replay.events if event.kind == "recorded" and (event.edits or event.left)]
    before = after = Repeats()
    if turns:
        rows = repeats_by_turn(replay.course)
        for turn in turns:
            before = sum(rows[max(0, turn - SPAN) : turn], before)
            after = sum(rows[turn : turn + SPAN], after)
    is_known = before.rate is not None and after.rate is not None
    return {
        "repeat_reads": round((after.rate or 0.0) - (before.rate or 0.0), 6) if is_known else None,
        "repeat_reads_events": len(turns),
        "repeats_after": after.repeats,
        "calls_after": after.calls,
        "repeats_before": before.repeats,
        "calls_before": before.calls,
    }
