"""Which messages belong together: a response with all its calls and all their results leaves whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compression.engine.transcript import Transcript


def groups_of(transcript: Transcript) -> Sequence[int]:
    """For every message the first message of its group. Worked out once for a transcript, O(messages)."""
    known = transcript.memo.get("groups")
    if known is None:
        known = transcript.memo["groups"] = _groups(transcript)
    found: Sequence[int] = known
    return found


def whole(transcript: Transcript, messages: Iterable[int], window: Iterable[int]) -> set[int]:
    """``messages`` and whatever of ``window`` belongs to their groups."""
    groups = groups_of(transcript)
    wanted = {groups[i] for i in messages}
    return {i for i in window if groups[i] in wanted}


def _groups(transcript: Transcript) -> list[int]:
    parents = list(range(len(transcript.messages)))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    def join(i: int, j: int) -> None:
        i, j = root(i), root(j)
        parents[max(i, j)] = min(i, j)

    for turn in transcript.turns:
        answered = {
            part.call_id
            for message in transcript.messages[turn.request_end : turn.response_end]
            for part in message.parts
            if part.kind == "tool_call"
        }
        if answered:
            for i in range(turn.request_end + 1, turn.response_end):
                join(turn.request_end, i)
    callers: dict[str, int] = {}
    for message in transcript.messages:
        for part in message.parts:
            if part.kind == "tool_call":
                callers[part.call_id] = message.index
            elif part.kind == "tool_result" and part.call_id in callers:
                join(callers[part.call_id], message.index)
    return [root(i) for i in range(len(parents))]
