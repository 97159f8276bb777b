"""Which messages belong together: a response with all its calls, and the results of these calls.

What a provider refuses to see apart. Worked out once for a transcript.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from compression.engine.transcript import Transcript


def group_starts(transcript: Transcript) -> Sequence[int]:
    """The first message of each message's group; a message that belongs to no call is a group of its own."""
    known = transcript.memo.get("group starts")
    if known is None:
        found = list(range(len(transcript.messages)))
        for turn in transcript.turns:
            for i in range(turn.request_end, min(turn.results_end, len(found))):
                found[i] = turn.request_end
        known = transcript.memo["group starts"] = tuple(found)
    return cast("Sequence[int]", known)


def calls(transcript: Transcript) -> Mapping[str, tuple[int, int]]:
    """Call id -> (message, part) of the call."""
    known = transcript.memo.get("calls")
    if known is None:
        known = transcript.memo["calls"] = {
            part.call_id: (message.index, j)
            for message in transcript.messages
            for j, part in enumerate(message.parts)
            if part.kind == "tool_call"
        }
    return cast("Mapping[str, tuple[int, int]]", known)


def back_to_group(starts: Sequence[int], window: Sequence[int], ordinal: int) -> int:
    """``ordinal`` moved back to where its group begins in the window, when it lies inside one."""
    while 0 < ordinal < len(window) and starts[window[ordinal]] == starts[window[ordinal - 1]]:
        ordinal -= 1
    return ordinal


def past_group(starts: Sequence[int], window: Sequence[int], ordinal: int) -> int:
    """``ordinal`` moved on to where its group has ended, when it lies inside one."""
    while 0 < ordinal < len(window) and starts[window[ordinal]] == starts[window[ordinal - 1]]:
        ordinal += 1
    return ordinal
