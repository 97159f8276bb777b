"""Where Hermes Agent's head ends and its tail begins. Pure arithmetic over weights and groups of a window.

A call and its results are never parted; the last prompt and the last reply lie in the tail.
"""

from __future__ import annotations

from collections.abc import Sequence

from compression.engine.references.cuts import past_group

OVERSHOOT = 1.5
SMALLEST_TAIL, LARGEST_TAIL_FLOOR = 3, 8
"""Messages that a tail has at least: ``protect_last`` within these."""


def tail_start(
    weights: Sequence[int],
    window: Sequence[int],
    groups: Sequence[int],
    head: int,
    *,
    budget: int,
    protect_last: int,
    last_prompt: int,
    last_reply: int,
) -> int:
    """The ordinal of the tail's first message, at least one past the head; ``len(window)`` when there is no tail.

    ``last_prompt`` and ``last_reply`` are ordinals, -1 when there is none behind the head.
    """
    count = len(window)
    available = max(0, count - head - 1)
    floor = max(SMALLEST_TAIL, min(protect_last, LARGEST_TAIL_FLOOR))
    floor = min(floor, max(SMALLEST_TAIL, available - 2), available) if available > 1 else 0
    limit = int(budget * OVERSHOOT)
    cut, spent = _walk(weights, head, limit, floor)
    if cut <= head and 0 < spent <= limit:
        # All of it fits: the budget without its tolerance leaves something to summarise.
        stopped, _ = _walk(weights, head, budget, floor)
        cut = stopped - 1 if stopped > head else stopped
    cut = min(cut, count - floor)
    if cut <= head:
        cut = max(count - floor, head + 1)
    cut = _before_calls(groups, window, cut)
    if 0 <= last_prompt < cut:
        cut = last_prompt if last_prompt > head else max(_past_exchange(groups, window, last_prompt), head + 1)
    if 0 <= last_reply < cut:
        cut = max(_before_calls(groups, window, last_reply), head + 1)
    return past_group(groups, window, max(cut, head + 1))


def _walk(weights: Sequence[int], head: int, limit: int, floor: int) -> tuple[int, int]:
    """Back from the end until ``limit`` tokens are spent, ``floor`` messages at least: (first message in, tokens)."""
    count, spent, cut = len(weights), 0, len(weights)
    for at in range(count - 1, head - 1, -1):
        if spent + weights[at] > limit and count - at >= floor:
            break
        spent += weights[at]
        cut = at
    return cut, spent


def _before_calls(groups: Sequence[int], window: Sequence[int], cut: int) -> int:
    """A cut that lies inside a response with calls, or right behind its results, moves before that response."""
    if not 0 < cut < len(window):
        return cut
    start = groups[window[cut - 1]]
    at = cut - 1
    while at > 0 and groups[window[at - 1]] == start:
        at -= 1
    has_results = at < cut - 1 or groups[window[cut]] == start
    return at if has_results else cut


def _past_exchange(groups: Sequence[int], window: Sequence[int], prompt: int) -> int:
    """Behind a prompt, the response to it and the results of that."""
    return past_group(groups, window, min(prompt + 2, len(window)))
