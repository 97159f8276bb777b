"""The biggest eaters of a session: messages whose tokens were sent again and again.

A message costs its tokens in every request that holds it, so an early large result outweighs a late
one. Works on a replay, before and under its policy; knows no page.
"""

from __future__ import annotations

from bisect import bisect_right
from heapq import nlargest
from typing import Any

from compression.engine.replay import Replay

EATERS = 5


def biggest_eaters(replay: Replay, limit: int = EATERS) -> list[dict[str, Any]]:
    """The ``limit`` largest messages by tokens x requests that held them, had no policy acted.

    ``sent`` and ``sent_after`` are calibrated token sums over all requests; ``turn`` is the first request
    that held the message, ``edit_turn`` the event that replaced it or None. O(messages).
    """
    ends = [turn.request_end for turn in replay.transcript.turns]
    k, turns = replay.calibration.k, len(ends)
    edits = {edit.message: (event.turn, edit) for event in replay.events for edit in event.edits}
    sizes = replay.base.sizes

    def sent(i: int) -> int:
        return sizes[i] * (turns - bisect_right(ends, i))

    eaters = []
    for i in nlargest(limit, range(len(sizes)), key=lambda i: (sent(i), -i)):
        if not sent(i):
            break
        first = bisect_right(ends, i)
        at, edit = edits.get(i, (turns, None))
        at = max(at, first)
        saved = (edit.tokens_before - edit.tokens_after) * (turns - at) if edit else 0
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
                "sent_after": round(k * (sent(i) - saved)),
                "edit_turn": at if edit else None,
            }
        )
    return eaters
