"""What a policy's rules keep between the head and the recent zone, turn by turn.

A pin is a span of turns: a message is kept from the call that first sees it until a newer one takes its
place, its time is over, or for good. Later messages never change an earlier turn. Whether a pinned message is
in the window at all is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache

from compression.engine.history import Course
from compression.engine.patterns import compiled
from compression.engine.policy import PinRule, Policy
from compression.engine.transcript import Message

RECALL_TOOLS = "*recall*"
"""Tools that read an original back; stubbing their results again would start a loop."""

_Span = tuple[int, int, int, int, str]  # first turn, turn after the last, message, rank of the rule, reason


def is_prompt(message: Message) -> bool:
    """A request that a person typed, not an injection or a summary."""
    return message.role == "user" and not message.flags & {"injected", "memory", "skill", "compact_summary"}


class Pins:
    """The pinned messages of a session under a policy. Asked in the order of turns it costs O(changes)."""

    def __init__(self, course: Course, policy: Policy) -> None:
        spans = list(_spans(course, policy))
        self._starts = sorted(spans)
        self._ends = sorted(spans, key=lambda span: span[1])
        self._rewind()

    def _rewind(self) -> None:
        self._turn = -1
        self._started = self._ended = 0
        self._ranked: dict[int, dict[int, str]] = {}
        self._now: dict[int, str] = {}

    def at(self, turn: int) -> Mapping[int, str]:
        """Pinned message -> reason at a turn; where rules meet, the first one's. Valid until the next call."""
        if turn < self._turn:
            self._rewind()
        self._turn = turn
        while self._started < len(self._starts) and self._starts[self._started][0] <= turn:
            _, _, i, rank, reason = self._starts[self._started]
            self._started += 1
            self._ranked.setdefault(i, {}).setdefault(rank, reason)
            self._now[i] = self._ranked[i][min(self._ranked[i])]
        while self._ended < len(self._ends) and self._ends[self._ended][1] <= turn:
            _, _, i, rank, _ = self._ends[self._ended]
            self._ended += 1
            del self._ranked[i][rank]
            if self._ranked[i]:
                self._now[i] = self._ranked[i][min(self._ranked[i])]
            else:
                del self._ranked[i], self._now[i]
        return self._now


def _spans(course: Course, policy: Policy) -> Iterable[_Span]:
    arrivals, end = course.arrivals, len(course.transcript.turns) + 1
    for message in course.transcript.messages:
        if message.role == "system" and message.index not in course.excluded and arrivals[message.index] < end:
            yield arrivals[message.index], end, message.index, -1, "system message"
    for i in course.summaries:
        yield arrivals[i], end, i, -1, "summary of what is not in the file"
    for rank, rule in enumerate(policy.pins):
        yield from _rule_spans(arrivals, end, _matching(course, rule), rule.keep_last, rank, rule.reason)
    rank = len(policy.pins)
    if policy.pin_latest_user:
        prompts = [m.index for m in course.transcript.messages if is_prompt(m) and m.index not in course.excluded]
        yield from _rule_spans(arrivals, end, prompts, 1, rank, "latest user request")
    if policy.recall_hold_turns:
        for i in _matching(course, PinRule(tool=RECALL_TOOLS)):
            if arrivals[i] < end - 1:
                yield arrivals[i], arrivals[i] + policy.recall_hold_turns, i, rank + 1, "recalled lately"


def _rule_spans(
    arrivals: Sequence[int], end: int, found: Sequence[int], keep_last: int | None, rank: int, reason: str
) -> Iterable[_Span]:
    for at, i in enumerate(found):
        newer = at + keep_last if keep_last is not None else len(found)
        until = arrivals[found[newer]] if newer < len(found) else end
        if arrivals[i] < until:
            yield arrivals[i], until, i, rank, reason


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.lower()))


def _matching(course: Course, rule: PinRule) -> list[int]:
    """The messages that a rule matches, oldest first."""
    messages = course.transcript.messages
    candidates: Iterable[int] = range(len(messages))
    if rule.tool is not None:
        matches = _glob(rule.tool).match
        lists = [indexes for name, indexes in course.results_by_tool.items() if matches(name)]
        candidates = sorted({i for indexes in lists for i in indexes})
    if rule.role is None and rule.pattern is None and rule.is_error is None:
        return list(candidates)
    search = None
    if rule.pattern is not None:
        search = compiled(rule.pattern).search
    return [
        i
        for i in candidates
        if i not in course.excluded
        and (rule.role is None or messages[i].role == rule.role)
        and (rule.is_error is None or _has_result(messages[i], rule.is_error))
        and (search is None or any(search(p.text) for p in messages[i].parts))
    ]


def _has_result(message: Message, is_error: bool) -> bool:
    return any(part.kind == "tool_result" and part.is_error == is_error for part in message.parts)
