"""Where a window may be cut in two: never so that a response, its calls and their results come apart.

Ordinals are places in a window, as a list of messages; what belongs together is ``groups_of``'s to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from compression.engine.transcript import Transcript


def back_to_group(groups: Sequence[int], window: Sequence[int], ordinal: int) -> int:
    """The last cut at or before ``ordinal`` that parts no group; O(window)."""
    first = min((groups[i] for i in window[ordinal:]), default=len(groups))
    while ordinal > 0 and first <= window[ordinal - 1]:
        ordinal -= 1
        first = min(first, groups[window[ordinal]])
    return ordinal


def past_group(groups: Sequence[int], window: Sequence[int], ordinal: int) -> int:
    """The first cut at or after ``ordinal`` that parts no group; O(window)."""
    last = {groups[i]: at for at, i in enumerate(window)}
    end = max((last[groups[i]] + 1 for i in window[:ordinal]), default=0)
    while ordinal < end:
        end = max(end, last[groups[window[ordinal]]] + 1)
        ordinal += 1
    return ordinal


def calls(transcript: Transcript) -> Mapping[str, tuple[int, int]]:
    """Call id -> (message, part) of the call; worked out once for a transcript."""
    known = transcript.memo.get("calls")
    if known is None:
        known = transcript.memo["calls"] = {
            part.call_id: (message.index, j)
            for message in transcript.messages
            for j, part in enumerate(message.parts)
            if part.kind == "tool_call"
        }
    return cast("Mapping[str, tuple[int, int]]", known)
