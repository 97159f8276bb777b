"""Which tools' results fill the window, turn by turn, before and under a policy. Uncalibrated tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nlargest
from itertools import accumulate

from compression.engine.history import Course
from compression.engine.replay import Replay
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.transcript import Message

TOOLS = 8
UNNAMED = "unnamed tool"


def tool_columns(replay: Replay) -> dict[str, dict[str, list[int]]]:
    """Columns by turn for the tools with most tokens in all: side -> tool -> tokens. O(tools x messages)."""
    sizes: dict[str, dict[int, int]] = {}
    for (i, j), tool in _parts(replay.transcript.messages).items():
        if i not in replay.base.excluded or i not in replay.course.excluded:
            tokens = replay.transcript.counts[i][j] + (MESSAGE_OVERHEAD if j == 0 else 0)
            held = sizes.setdefault(tool, {})
            held[i] = held.get(i, 0) + tokens
    chosen = nlargest(TOOLS, sizes, key=lambda tool: sum(sizes[tool].values()))
    return {
        "before": {tool: _column(replay, replay.base, sizes[tool], tool, acts=False) for tool in chosen},
        "after": {tool: _column(replay, replay.course, sizes[tool], tool, acts=True) for tool in chosen},
    }


def tool_names(messages: Iterable[Message]) -> dict[int, str]:
    """The tool that answered, by the message of its result."""
    return {i: tool for (i, _), tool in _parts(messages).items()}


def _parts(messages: Iterable[Message]) -> dict[tuple[int, int], str]:
    return {
        (message.index, j): part.name or UNNAMED
        for message in messages
        for j, part in enumerate(message.parts)
        if part.kind == "tool_result"
    }


def _column(replay: Replay, course: Course, sizes: Mapping[int, int], tool: str, *, acts: bool) -> list[int]:
    own = [0 if i in course.excluded else sizes.get(i, 0) for i in range(len(course.sizes))]
    running = tuple(accumulate(own, initial=0))
    events = list(replay.events) if acts else []
    column, at = [], 0
    changes: dict[tuple[int, int], int] = {}
    for turn, request in enumerate(replay.requests if acts else course.windows):
        while at < len(events) and events[at].turn <= turn:
            for edit in events[at].edits:
                part = replay.transcript.messages[edit.message].parts[edit.part]
                if part.kind == "tool_result" and (part.name or UNNAMED) == tool:
                    changes[edit.message, edit.part] = edit.tokens_after - edit.tokens_before
            at += 1
        held = {*request.kept}
        tokens = running[request.end] - running[request.start] + sum(own[i] for i in held)
        tokens += sum(change for (i, _), change in changes.items() if i >= request.start or i in held)
        column.append(tokens)
    return column
