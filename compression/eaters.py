"""The biggest eaters of a session: messages whose tokens were sent again and again.

A message costs its tokens in every request that holds it, so an early large result outweighs a late
one. Works on a replay, before and under its policy; knows no page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from heapq import nlargest
from typing import Any

from compression.engine.edits import Edit
from compression.engine.replay import Replay

EATERS = 5


def biggest_eaters(replay: Replay, limit: int = EATERS) -> list[dict[str, Any]]:
    """The ``limit`` largest messages by tokens x requests that held them, had no policy acted.

    ``sent`` and ``sent_after`` are calibrated token sums over all requests; ``turn`` is the first request
    that held the message, ``edit_turn`` the event that first changed it or took it out, or None. O(messages + edits).
    """
    ends = [turn.request_end for turn in replay.transcript.turns]
    k, turns = replay.calibration.k, len(ends)
    sizes = replay.base.sizes

    def sent(i: int) -> int:
        return sizes[i] * (turns - bisect_right(ends, i))

    chosen = [i for i in nlargest(limit, range(len(sizes)), key=lambda i: (sent(i), -i)) if sent(i)]
    saved, changed = _saved(replay, chosen, ends)
    eaters = []
    for i in chosen:
        first = bisect_right(ends, i)
        message = replay.transcript.messages[i]
        kinds = [part.kind for part in message.parts]
        eaters.append(
            {
                "message": i,
                "role": message.role,
                "tool": ", ".join(dict.fromkeys(part.name for part in message.parts if part.name)),
                "is_call": "tool_call" in kinds,
                "tokens": sizes[i],
                "turn": first,
                "turns": turns - first,
                "sent": round(k * sent(i)),
                "sent_after": round(k * (sent(i) - saved[i])),
                "edit_turn": changed.get(i),
            }
        )
    return eaters


def _saved(replay: Replay, chosen: Collection[int], ends: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Uncalibrated tokens that events kept from being sent, and the turn of the first such event, by message."""
    turns = len(ends)
    saved, changed = dict.fromkeys(chosen, 0), dict[int, int]()
    stands = {i: replay.base.sizes[i] for i in chosen}
    standing: dict[tuple[int, int], Edit] = {}
    for event in replay.events:
        for edit in event.edits:
            if edit.message in stands:
                earlier = standing.get((edit.message, edit.part))
                freed = (earlier.tokens_after if earlier else edit.tokens_before) - edit.tokens_after
                standing[edit.message, edit.part] = edit
                at = max(event.turn, bisect_right(ends, edit.message))
                saved[edit.message] += freed * (turns - at)
                stands[edit.message] -= freed
                changed.setdefault(edit.message, at)
        for i in event.left:
            if i in stands:
                saved[i] += stands.pop(i) * (turns - max(event.turn, bisect_right(ends, i)))
                changed.setdefault(i, event.turn)
    return saved, changed
