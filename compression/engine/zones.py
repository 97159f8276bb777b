"""Which messages of a request no policy may touch, and why.

``head + compressible + pinned + recent`` is the request, always, exactly once. Zones are cut by
uncalibrated tokens, so that they do not depend on a fit. Nothing is changed here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal

from compression.engine.history import Course, Request
from compression.engine.policy import PinRule, Policy
from compression.engine.transcript import Message

Zone = Literal["head", "compressible", "pinned", "recent"]


@dataclass(frozen=True, slots=True)
class Zones:
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

    def compressible(self) -> list[int]:
        """Indexes of the messages that a policy may touch, oldest first."""
        return [i for i in self.request.indexes(self.head, self.recent) if i not in self.pinned]


def is_prompt(message: Message) -> bool:
    """A request that a person typed, not an injection or a summary."""
    return message.role == "user" and not message.flags & {"injected", "memory", "skill", "compact_summary"}


def _is_injection(message: Message) -> bool:
    return message.role == "system" or (message.role == "user" and not is_prompt(message))


def head_length(messages: Sequence[Message], request: Request, excluded: frozenset[int]) -> int:
    """Ordinal after the head: leading system messages and injections, the first prompt, the first response."""
    total = len(request)
    at = 0

    def message_at(ordinal: int) -> Message:
        return messages[request[ordinal]]

    def skips(ordinal: int) -> bool:
        return request[ordinal] in excluded

    while at < total and (skips(at) or _is_injection(message_at(at))):
        at += 1
    while at < total and (skips(at) or message_at(at).role in ("user", "system")):
        at += 1
    if at < total and message_at(at).role == "assistant":
        response = message_at(at).response_id
        at += 1
        while response and at < total and message_at(at).role == "assistant" and message_at(at).response_id == response:
            at += 1
    return at


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
    return "first request"


class Pins:
    """Which messages a policy's rules match: found once a session, asked at every event."""

    def __init__(self, messages: Sequence[Message], policy: Policy, excluded: frozenset[int]) -> None:
        self._always: list[tuple[int, str]] = []
        self._latest: list[tuple[list[int], int, str]] = []
        candidates = [m for m in messages if m.index not in excluded]
        for rule in policy.pins:
            found = [m.index for m in candidates if _matches(rule, m)]
            if not found:
                continue
            if rule.keep_last is None:
                self._always.extend((i, rule.reason) for i in found)
            else:
                self._latest.append((found, rule.keep_last, rule.reason))
        if policy.pin_latest_user:
            prompts = [m.index for m in candidates if is_prompt(m)]
            self._latest.append((prompts, 1, "latest user request"))
        self._always.sort()

    @cached_property
    def _always_indexes(self) -> list[int]:
        return [i for i, _ in self._always]

    def at(self, end: int) -> dict[int, str]:
        """Pinned message -> reason, for a request that ends before message ``end``."""
        pinned = dict(self._always[: bisect_left(self._always_indexes, end)])
        for found, keep, reason in self._latest:
            stop = bisect_left(found, end)
            for i in found[max(0, stop - keep) : stop]:
                pinned.setdefault(i, reason)
        return pinned


def _matches(rule: PinRule, message: Message) -> bool:
    if rule.role is not None and message.role != rule.role:
        return False
    results = [p for p in message.parts if p.kind == "tool_result"]
    if rule.tool is not None and not any(fnmatchcase(p.name.lower(), rule.tool.lower()) for p in results):
        return False
    if rule.is_error is not None and not any(p.is_error == rule.is_error for p in results):
        return False
    if rule.pattern is not None:
        import re2

        compiled = re2.compile(rule.pattern)
        return any(compiled.search(part.text) for part in message.parts)
    return True


def recent_ordinal(request: Request, head: int, sizes: Sequence[int], budget: int) -> tuple[int, int]:
    """(first ordinal of the recent zone, its tokens): the longest suffix after the head within ``budget``.

    At least one message, even when it alone is larger. O(messages of the zone).
    """
    at, used = len(request), 0
    while at > head:
        size = sizes[request[at - 1]]
        if used + size > budget and used:
            break
        used += size
        at -= 1
        if used > budget:
            break
    return at, used


def zones_at(course: Course, request: Request, pins: Pins, sizes: Sequence[int], budget: int) -> Zones:
    """Cut one request up. ``sizes`` are the messages' tokens as they stand, stubs included."""
    head = head_length(course.transcript.messages, request, course.excluded)
    recent, used = recent_ordinal(request, head, sizes, budget)
    pinned = pins.at(request.end)
    inside = {i: reason for i, reason in pinned.items() if _between(request, i, head, recent)}
    overrun = None
    if used > budget:
        overrun = f"the newest message alone has {used:,} tokens; the budget is {budget:,}"
    return Zones(request, head, recent, inside, budget, used, overrun)


def _between(request: Request, index: int, head: int, recent: int) -> bool:
    kept = len(request.kept)
    if index >= request.start:
        ordinal = index - request.start + kept
    elif index in request.kept:
        ordinal = request.kept.index(index)
    else:
        return False
    return head <= ordinal < recent
