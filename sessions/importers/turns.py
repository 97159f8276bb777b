"""From messages to model calls: pairs calls with results and cuts the list into turns. Shared by all importers.

Pairing is by position (the next unanswered call with that id), because some agents use an id twice.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import replace

from sessions.importers.parsed import ParsedMessage, ParsedTurn, Usage

_NO_CALL_FLAGS = frozenset({"synthetic", "compact_summary"})


def link_results(messages: list[ParsedMessage]) -> None:
    """Name each result after its call; flag calls without a result and results without a call."""
    unanswered: dict[str, deque[tuple[ParsedMessage, str]]] = defaultdict(deque)
    for message in messages:
        for at, part in enumerate(message.parts):
            if part.kind == "tool_call":
                unanswered[part.call_id or f"\n{part.name}"].append((message, part.name))
            elif part.kind == "tool_result":
                waiting = unanswered.get(part.call_id or f"\n{part.name}")
                if waiting:
                    name = waiting.popleft()[1]
                    if name != part.name:
                        message.parts[at] = replace(part, name=name)
                else:
                    message.flags.add("orphan_result")
    for waiting in unanswered.values():
        for message, _ in waiting:
            message.flags.add("missing_result")


def build_turns(
    messages: list[ParsedMessage],
    usage: Mapping[str, Usage],
    uncounted: frozenset[str] = _NO_CALL_FLAGS,
) -> list[ParsedTurn]:
    """One turn for each run of assistant messages with one response id (each message when it has none).

    Messages with a flag in ``uncounted`` were not made by a model call of this session.
    """
    turns: list[ParsedTurn] = []
    position, total = 0, len(messages)
    while position < total:
        message = messages[position]
        if message.role != "assistant" or not uncounted.isdisjoint(message.flags):
            position += 1
            continue
        response_end = position + 1
        while response_end < total and _continues(message, messages[response_end]):
            response_end += 1
        results_end = response_end
        while results_end < total and messages[results_end].role == "tool":
            results_end += 1
        recorded = usage.get(message.response_id) if message.response_id else None
        turns.append(
            ParsedTurn(
                position,
                response_end,
                results_end,
                recorded,
                (recorded.model if recorded else "") or message.model,
                message.timestamp,
            )
        )
        position = results_end
    return turns


def _continues(first: ParsedMessage, other: ParsedMessage) -> bool:
    return other.role == "assistant" and first.response_id != "" and other.response_id == first.response_id
