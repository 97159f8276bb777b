"""Which messages of a request no policy may touch, and why.

``head + compressible + pinned + recent`` is the request, always, exactly once. Zones are cut by
uncalibrated tokens, so that they do not depend on a fit. Nothing is changed here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from compression.engine.edits import Event
from compression.engine.history import Course, Request
from compression.engine.pins import Pins, is_prompt
from compression.engine.standing import Standing
from compression.engine.transcript import Message

Zone = Literal["head", "compressible", "pinned", "recent"]


class Zones(NamedTuple):
    """A request cut up. ``head`` and ``recent`` are ordinals: [0:head) is head, [recent:] is recent."""

    request: Request
    head: int
    recent: int
    pinned: dict[int, str]  # message index -> reason
    recent_budget: int
    recent_tokens_actual: int
    overrun_reason: str | None

    def of(self, ordinal: int) -> Zone:
        """The zone of the message at an ordinal of the request."""
        if ordinal < self.head:
            return "head"
        if ordinal >= self.recent:
            return "recent"
        return "pinned" if self.request[ordinal] in self.pinned else "compressible"

    def of_message(self, index: int) -> Zone | None:
        """The zone of a message; None when the request does not hold it."""
        ordinal = self.request.ordinal(index)
        return None if ordinal is None else self.of(ordinal)

    def compressible(self) -> list[int]:
        """Indexes of the messages that a policy may touch, oldest first."""
        return [i for i in self.request.indexes(self.head, self.recent) if i not in self.pinned]


def _is_injection(message: Message) -> bool:
    return message.role == "system" or (message.role == "user" and not is_prompt(message))


def head_reason(message: Message) -> str:
    """Why a message of the head is there."""
    if message.role == "system":
        return "system prompt"
    if message.role == "assistant":
        return "first response"
    if "compact_summary" in message.flags:
        return "summary of what left"
    if _is_injection(message):
        return "memory and instructions"
    return "result without its call" if message.role == "tool" else "first request"


def head_length(course: Course, request: Request) -> int:
    """Ordinal after the head: leading system messages and injections, the first prompt, the first response.

    The response is whole, even when the log splits it into several messages. Where the assistant spoke before
    anybody asked, the head reaches on to the first prompt and its response. A result that comes before every
    call answers nothing in the log and belongs to what leads in; any other result ends the head.
    """
    messages, total, at, prompted = course.transcript.messages, len(request), 0, False
    while at < total:
        index = request[at]
        message = messages[index]
        if message.role == "assistant" and index not in course.excluded:
            at = _after_response(course, request, at)
            if prompted or at == total or messages[request[at]].role not in ("system", "user"):
                break
            while at < total and messages[request[at]].role in ("system", "user"):
                prompted = prompted or is_prompt(messages[request[at]])
                at += 1
            if not prompted:
                break
            continue
        if message.role == "tool" and index not in course.excluded and "orphan_result" not in message.flags:
            break
        prompted = prompted or (is_prompt(message) and index not in course.excluded)
        at += 1
    return at


def _after_response(course: Course, request: Request, at: int) -> int:
    """Ordinal after the response that begins at ordinal ``at``."""
    messages, first = course.transcript.messages, request[at]
    turns = course.transcript.turns
    turn = course.arrivals[first] - 1  # the request that reaches past it comes after the call that gave it
    end = turns[turn].response_end if turns and turn >= 0 and turns[turn].request_end <= first else first + 1
    response = messages[first].response_id
    at += 1
    while at < len(request):
        message = messages[request[at]]
        if message.role != "assistant":
            break
        if request[at] >= end and not (response and message.response_id == response):
            break
        at += 1
    return at


class Cutter:
    """Cuts requests into zones, call by call; remembers what it was told of stubs.

    The recent zone is word for word: it never reaches back over a stub, but for one that was made when its
    result arrived, which is what it then protects. O(log messages) a call where nothing had left the window.
    """

    def __init__(self, course: Course, pins: Pins, budgets: Sequence[int]) -> None:
        self.standing = Standing(course)
        self._course = course
        self._pins = pins
        self._budgets = budgets
        self._halved: tuple[int, int] | None = None  # turn, budget
        self._prefix: Sequence[int] = course.prefix
        self._changed: set[int] = set()
        self._barrier = -1
        self._heads: dict[tuple[tuple[int, ...], int], tuple[int, int]] = {}

    def tell(self, event: Event) -> None:
        """An event that happened, so that the zones are cut as it left the window."""
        self.standing.tell(event)
        if event.recent_budget is not None:
            self._halved = (event.turn, event.recent_budget)
        if event.kind == "arrival":
            self._prefix = list(accumulate(self.standing.sizes, initial=0))
        else:
            self._changed.update(edit.message for edit in event.edits)
            self._barrier = max(self._changed, default=-1)

    def at(self, turn: int, budget: int | None = None) -> Zones:
        """The zones of a turn's request as things stand; ``budget`` = another size of the recent zone, in tokens.

        A re-zoning holds for the turn that needed it.
        """
        request = self.standing.request(turn)
        if budget is None:
            halved = self._halved is not None and self._halved[0] == turn
            budget = self._halved[1] if halved and self._halved else self._budgets[turn]
        head = self._head(request)
        recent, used = self._recent(request, head, budget)
        pinned = {}
        if head < recent:
            for i, reason in self._pins.at(turn).items():
                ordinal = request.ordinal(i)
                if ordinal is not None and head <= ordinal < recent:
                    pinned[i] = reason
        overrun = None
        if used > budget:
            overrun = f"the newest message alone has {used:,} tokens; the budget is {budget:,}"
        return Zones(request, head, recent, pinned, budget, used, overrun)

    def _head(self, request: Request) -> int:
        """Requests that begin alike share their head: it is looked for in the longest of them, once."""
        key = (request.kept, request.start)
        length, head = self._heads.get(key, (0, 0))
        if head == length and length < len(request):
            head = head_length(self._course, request)
            self._heads[key] = (len(request), head)
        return min(head, len(request))

    def _recent(self, request: Request, head: int, budget: int) -> tuple[int, int]:
        """(first ordinal of the recent zone, its tokens): the longest suffix after the head within ``budget``.

        At least one message, even when it alone is larger.
        """
        total, kept = len(request), len(request.kept)
        if head >= total:
            return total, 0
        prefix, end = self._prefix, request.end
        lowest = max(request.start, request.start + head - kept, self._barrier + 1)
        first = min(bisect_left(prefix, prefix[end] - budget, lowest, end) if lowest < end else end, end)
        newest = end - 1
        while newest > lowest and newest in self._course.excluded:
            newest -= 1
        if first > newest >= request.start:
            first = newest
        used = self.standing.sizes[first] if first in self._changed else prefix[end] - prefix[first]
        ordinal = first - request.start + kept
        while head < ordinal <= kept and used <= budget:
            i = request.kept[ordinal - 1]
            if used and (i in self._changed or used + self.standing.sizes[i] > budget):
                break
            used += self.standing.sizes[i]
            ordinal -= 1
        return ordinal, used
