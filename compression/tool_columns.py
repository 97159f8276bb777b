"""Which tools' results fill the window, turn by turn, before and under a policy. Uncalibrated tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

from compression.engine.history import Course
from compression.engine.replay import Replay
from compression.engine.transcript import Message

TOOLS = 8
UNNAMED = "unnamed tool"


def tool_columns(replay: Replay) -> dict[str, dict[str, list[int]]]:
    """Columns by turn for the tools with most tokens in all: side -> tool -> tokens. O(tools x messages)."""
    tools = tool_names(replay.transcript.messages)
    totals: Counter[str] = Counter()
    for i, tool in tools.items():
        totals[tool] += replay.base.sizes[i]
    chosen = [tool for tool, _ in totals.most_common(TOOLS)]
    return {
        "before": {tool: _column(replay, replay.base, tools, tool, acts=False) for tool in chosen},
        "after": {tool: _column(replay, replay.course, tools, tool, acts=True) for tool in chosen},
    }


def tool_names(messages: Iterable[Message]) -> dict[int, str]:
    """The tool that answered, by the message of its result."""
    return {
        message.index: part.name or UNNAMED
        for message in messages
        for part in message.parts
        if part.kind == "tool_result"
    }


def _column(replay: Replay, course: Course, tools: dict[int, str], tool: str, *, acts: bool) -> list[int]:
    own = (size if tools.get(i) == tool else 0 for i, size in enumerate(course.sizes))
    running = tuple(accumulate(own, initial=0))
    events = list(replay.events) if acts else []
    column, changes, at = [], {}, 0
    for turn, request in enumerate(replay.requests if acts else course.windows):
        while at < len(events) and events[at].turn <= turn:
            for edit in events[at].edits:
                if tools.get(edit.message) == tool:
                    changes[edit.message] = edit.tokens_after - edit.tokens_before
            at += 1
        held = {*request.kept}
        tokens = running[request.end] - running[request.start]
        tokens += sum(course.sizes[i] for i in held if tools.get(i) == tool)
        tokens += sum(change for i, change in changes.items() if i >= request.start or i in held)
        column.append(tokens)
    return column
