"""What moved inside the cached prefix of a session although nothing was compressed, at which call, and what it cost.

Two witnesses. The provider's figures: a call that read less than the one before had left in the cache, although that
had not expired and the agent had compacted nothing. And what was sent: system prompts and tools that differ from call
to call. Nothing is guessed where neither speaks; the reason is the likeliest one and says what it rests on.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from compression.engine.calibration import Calibration
from compression.engine.history import Course, course_of
from compression.engine.pins import is_prompt
from compression.engine.pricing import MILLION
from compression.engine.terms import Terms
from compression.engine.transcript import Message, Recorded, Transcript, Turn

Kind = Literal["tools", "system", "clock", "fragments", "thinking", "batch", "model", "left", "unknown"]

LEAST_TOKENS = 1_000
LEAST_SHARE = 0.02
"""A read that falls short by less than both is noise."""

LEAST_LEFT = 200
"""Tokens that must be missing from a request for it to say that something was left out."""

_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
_MOVING = re.compile(r"\d+|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b[0-9a-f]{7,}\b", re.IGNORECASE)

REMEDIES: dict[Kind, str] = {
    "tools": "send the same tools in the same order in every call; keep one that is not needed now",
    "system": "keep the system prompt byte for byte; put what changes into the newest message",
    "clock": "take time and state out of the system prompt; put them into the newest message",
    "fragments": "append reminders and retrieved texts to the newest message, and leave them where they were sent",
    "thinking": "switch thinking on or off for a whole session, and ask the provider to keep it",
    "batch": "set a mark at least every 20 parts, so that the older entry is found",
    "model": "stay with one model in a session; give side tasks to a session of their own",
    "left": "record what leaves the window, and let it leave in one event",
    "unknown": "compare the bytes of the two requests: something before this place is not as it was",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that moved. ``turn`` is None where it only may move; ``tokens`` had been cached and were sent anew.

    ``message`` = where the change lies, None inside what the log does not hold. ``cost_usd`` = what these tokens cost
    above a read; None without a price.
    """

    kind: Kind
    turn: int | None
    message: int | None
    tokens: int
    cost_usd: Decimal | None
    evidence: Literal["usage", "messages"]
    why: str
    remedy: str


def stability_lint(transcript: Transcript, calibration: Calibration, terms: Terms) -> tuple[Finding, ...]:
    """Everything that moved in a session, by turn; what may move comes last."""
    course = course_of(transcript, "as-recorded")
    seen = dict(_resent(transcript, course))
    found = []
    for before, turn in pairwise(transcript.turns):
        t = turn.index
        if before.recorded is not None and turn.recorded is not None:
            tokens = _missed(before.recorded, turn.recorded)
            if tokens and not terms.is_cold(t) and not _has_boundary(transcript, t):
                kind, message, why = _reason(course, calibration, terms, before, turn, seen)
                found.append(_finding(terms, t, kind, message, tokens, "usage", why))
        elif t in seen or _sent_otherwise(before, turn):
            kind, message, why = seen.get(t) or _declared(before, turn)
            tokens = calibration.tokens(course.counted(course.windows[t - 1]))
            found.append(_finding(terms, t, kind, message, tokens, "messages", why))
    return (*found, *_clocks(transcript))


def _finding(
    terms: Terms,
    t: int,
    kind: Kind,
    message: int | None,
    tokens: int,
    evidence: Literal["usage", "messages"],
    why: str,
) -> Finding:
    prices = terms.prices[t]
    paid = None if prices is None else tokens * (prices.write(terms.write_seconds) - prices.cache_read) / MILLION
    return Finding(kind, t, message, tokens, paid, evidence, why, REMEDIES[kind])


def _missed(before: Recorded, now: Recorded) -> int:
    """Tokens that the call before had left in the cache and this one did not read; 0 when that is noise."""
    cached = before.cache_read + before.cache_write
    missed = min(cached, now.context_tokens) - now.cache_read
    return missed if missed > max(LEAST_TOKENS, LEAST_SHARE * cached) else 0


def _has_boundary(transcript: Transcript, turn: int) -> bool:
    return any(boundary.turn == turn and boundary.kind != "silent" for boundary in transcript.boundaries)


def _sent_otherwise(before: Turn, turn: Turn) -> bool:
    return _differ(before.tools, turn.tools) or _differ(before.system, turn.system)


def _differ(before: str, now: str) -> bool:
    return bool(before and now) and before != now


def _declared(before: Turn, turn: Turn) -> tuple[Kind, int | None, str]:
    if _differ(before.tools, turn.tools):
        return "tools", None, "other tools were sent than in the call before"
    return "system", None, "another system prompt was sent than in the call before"


def _reason(
    course: Course,
    calibration: Calibration,
    terms: Terms,
    before: Turn,
    turn: Turn,
    seen: dict[int, tuple[Kind, int, str]],
) -> tuple[Kind, int | None, str]:
    """(kind, message, why) of a break that the provider's figures show."""
    assert before.recorded is not None
    assert turn.recorded is not None
    messages = course.transcript.messages
    read = turn.recorded.cache_read
    if before.recorded.model != turn.recorded.model:
        return "model", None, f"{turn.recorded.model or 'another model'} has a cache of its own"
    if _sent_otherwise(before, turn):
        return _declared(before, turn)
    if turn.index in seen:
        return seen[turn.index]
    place = _message_at(course, calibration, turn.index, read)
    reason = _thinking(course, calibration, before, turn)
    if reason:
        return "thinking", place, reason
    if turn.recorded.context_tokens < before.recorded.context_tokens - LEAST_TOKENS:
        return "left", place, "the context fell and the log does not say what left"
    blocks = sum(len(message.parts) for message in messages[before.request_end : before.response_end])
    if blocks > terms.profile.lookback > 0:
        return "batch", place, f"the answer before has {blocks} parts: no mark lies near enough behind the older entry"
    if read == 0:
        return "tools", None, "nothing was read: tools or system prompt changed, or the provider dropped the cache"
    arrived = messages[before.response_end : turn.request_end]
    fragments = [m.index for m in arrived if m.flags & {"injected", "memory", "skill"} or m.role == "system"]
    if fragments:
        return "fragments", fragments[0], f"texts of the harness came with this call; {read:,} tokens were read"
    if place is None:
        return "system", None, f"{read:,} tokens were read: the change lies before the messages that the log holds"
    return "unknown", place, f"{read:,} tokens were read: the change lies near this message"


def _thinking(course: Course, calibration: Calibration, before: Turn, turn: Turn) -> str:
    """Whether thinking explains a break, in words; empty when it does not."""
    assert before.recorded is not None
    assert turn.recorded is not None
    messages = course.transcript.messages
    stood, thinks = (_thinks(messages[t.request_end : t.response_end]) for t in (before, turn))
    if stood != thinks:
        return f"thinking was switched {'on' if thinks else 'off'}: a provider then keeps tools and system prompt only"
    if any(map(is_prompt, messages[before.response_end : turn.request_end])) and _thinks(messages[: turn.request_end]):
        arrived = calibration.k * (course.prefix[turn.request_end] - course.prefix[before.request_end])
        missing = before.recorded.context_tokens + round(arrived) - turn.recorded.context_tokens
        if missing > LEAST_LEFT:
            return f"with a prompt, thinking of earlier answers is no longer sent: about {missing:,} tokens left"
    return ""


def _thinks(messages: Sequence[Message]) -> bool:
    return any(part.kind == "thinking" for message in messages for part in message.parts)


def _message_at(course: Course, calibration: Calibration, turn: int, tokens: int) -> int | None:
    """The message of a request that stands after so many tokens; None inside the hidden prefix."""
    counted = (tokens - calibration.hidden) / calibration.k
    if counted < 0:
        return None
    request = course.windows[turn]
    for i in request.kept:
        counted -= course.sizes[i]
        if counted < 0:
            return i
    index = bisect_right(course.prefix, course.prefix[request.start] + counted) - 1
    return index if index < request.end else None


def _resent(transcript: Transcript, course: Course) -> Iterator[tuple[int, tuple[Kind, int, str]]]:
    """System prompts that a log holds again with other words: turn -> (kind, message, why)."""
    earlier: dict[str, str] = {}
    for message in transcript.messages:
        if message.role != "system":
            continue
        text = "\n".join(part.text for part in message.parts if part.kind == "text")
        skeleton = _MOVING.sub("#", text)
        stood = earlier.get(skeleton)
        earlier[skeleton] = text
        turn = course.arrivals[message.index]
        if stood is not None and stood != text and turn < len(transcript.turns):
            line = next(a for a, b in zip(text.splitlines(), stood.splitlines(), strict=True) if a != b)
            yield turn, ("clock", message.index, f"the system prompt was sent again with another line: {_shown(line)}")


def _clocks(transcript: Transcript) -> Iterator[Finding]:
    """A time of day in the leading system prompt: it moves with every call if the prompt is built anew."""
    for message in transcript.messages:
        if message.role != "system":
            return
        for part in message.parts:
            line = next((line for line in part.text.splitlines() if _TIME.search(line)), None)
            if line is not None:
                why = f"a time stands in the system prompt: {_shown(line)}"
                yield Finding("clock", None, message.index, 0, None, "messages", why, REMEDIES["clock"])


def _shown(line: str) -> str:
    return repr(line.strip()[:80])
