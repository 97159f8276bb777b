"""OpenHands' summarising condenser: past 240 events the middle of the history becomes a summary, half stays.

An event is a message; a response with several calls is as many. Calls and their results leave together.
"""

from __future__ import annotations

from compression.engine.edits import Step
from compression.engine.groups import groups_of
from compression.engine.references.arrivals import Arrivals, in_window
from compression.engine.references.cuts import past_group
from compression.engine.references.parameters import NOT_DOCUMENTED, Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import leave, simulated_summary
from compression.engine.transcript import Message


class Condenser(Parameters):
    """When the condenser acts, and what stays."""

    max_events: int = setting(240, "events", "condense above this; half of it stays", ge=4, le=1_000_000)
    max_tokens: int | None = setting(None, "tokens", "condense above this too", ge=1, le=20_000_000)
    keep_first: int = setting(2, "events", "the first ones stay", ge=0, le=1_000)
    minimum_progress: float = setting(0.1, "of events", "do nothing when fewer would leave", ge=0, le=1)
    summary_tokens: int = setting(NOT_DOCUMENTED, "tokens", "length of the summary", ge=1, le=1_000_000)


def events_of(message: Message) -> int:
    """How many events a message is."""
    return max(1, sum(part.kind == "tool_call" for part in message.parts))


class CondenserSession:
    """A call costs what came since the last one."""

    def __init__(self, parameters: Condenser) -> None:
        self._parameters = parameters
        self._arrivals = Arrivals()
        self._events = 0

    def act(self, now: Now) -> Step | None:
        """Condense when there are too many events, or tokens."""
        options, messages = self._parameters, now.course.transcript.messages
        fresh, indexes = self._arrivals.take(now)
        came = sum(events_of(messages[i]) for i in indexes if i not in now.course.excluded)
        self._events = came + (0 if fresh else self._events)
        events = self._events + (now.note is not None)
        over_tokens = options.max_tokens is not None and now.tokens > options.max_tokens
        if events <= options.max_events and not over_tokens:
            return None
        window, groups = in_window(now), groups_of(now.course.transcript)
        first = past_group(groups, window, min(options.keep_first, len(window)))
        room = min(events, options.max_events) // 2 - options.keep_first - 1
        last = len(window)
        while last > first and room >= (size := events_of(messages[window[last - 1]])):
            room -= size
            last -= 1
        last = past_group(groups, window, last)
        left = window[first:last]
        if sum(events_of(messages[i]) for i in left) < options.minimum_progress * events:
            return None
        note = simulated_summary(now, options.summary_tokens, first, len(left))
        return leave(now, left, note, f"{events:,} events condensed")


REFERENCE = Reference(
    name="openhands",
    about="OpenHands: past 240 events half of them leave for a summary; the first two stay.",
    version="OpenHands software-agent-sdk 1.x LLMSummarizingCondenser",
    source="OpenHands documentation, context condenser: https://docs.openhands.dev/sdk/guides/context-condenser",
    parameters=Condenser,
    begin=CondenserSession,
    simulated="the summary, at summary_tokens; no size is documented",
    breaks=frozenset({"sacred bytes stay"}),
)
