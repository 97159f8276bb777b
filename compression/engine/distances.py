"""How far back an agent refers: the tokens between a name's last appearance and its use.

Causal: what is known before turn t comes from responses before t. It sizes the adaptive recent
zone and nothing else; what a policy lost is measured elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from compression.engine.history import Course
from compression.engine.identifiers import identifiers
from compression.engine.policy import Policy
from compression.engine.transcript import Message

SHARE = 0.90


def reference_distances(course: Course) -> list[tuple[int, int]]:
    """(turn, tokens back) for every name that a response uses and an earlier tool result showed. O(text).

    The distance runs from the end of the newest earlier message with the name to the start of the response.
    """
    transcript, prefix = course.transcript, course.prefix
    seen: dict[str, int] = {}
    found: list[tuple[int, int]] = []
    read = 0
    for turn in transcript.turns:
        for message in transcript.messages[read : turn.request_end]:
            if message.role == "tool" and message.index not in course.excluded:
                seen.update(dict.fromkeys(_names(message, ("tool_result",)), message.index))
        read = turn.request_end
        used: set[str] = set()
        for message in transcript.messages[turn.request_end : turn.response_end]:
            used.update(_names(message, ("text", "thinking", "tool_call")))
        start = prefix[turn.request_end]
        found.extend((turn.index, start - prefix[seen[name] + 1]) for name in sorted(used & seen.keys()))
    return found


def _names(message: Message, kinds: Iterable[str]) -> set[str]:
    wanted = set(kinds)
    return {name for part in message.parts if part.kind in wanted for name in identifiers(part.text)}


def recent_budgets(course: Course, policy: Policy) -> list[int]:
    """The recent zone's budget at every turn, in uncalibrated tokens.

    Fixed: the policy's. Adaptive: the 90th percentile of the distances known before the turn, within
    ``recent_min``..``recent_max``; ``recent_tokens`` within these bounds while nothing is known.
    """
    turns = course.transcript.turns
    if policy.recent_mode == "fixed":
        return [policy.recent_tokens] * len(turns)
    # A second policy on the same session, or a sweep of many, need not read its texts again.
    key = f"distances {course.history}"
    if key not in course.transcript.memo:
        course.transcript.memo[key] = reference_distances(course)
    distances: list[tuple[int, int]] = course.transcript.memo[key]
    known: list[int] = []
    budgets, at = [], 0
    for turn in turns:
        stop = bisect_left(distances, (turn.index, -1))
        for _, distance in distances[at:stop]:
            insort(known, distance)
        at = stop
        wanted = known[min(len(known) - 1, int(SHARE * len(known)))] if known else policy.recent_tokens
        budgets.append(max(policy.recent_min, min(policy.recent_max, wanted)))
    return budgets
