"""How long a prompt cache lay idle before each call, and how long it lives in a session: which idle gaps it survived.

Works on what the log recorded only. Gaps run from the end of an answer to the request after it, so that a slow answer
is no idle time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from compression.engine.cache_profiles import CacheProfile
from compression.engine.transcript import Message, Transcript

SURVIVED = 0.9
"""A call that read at least this share of the request before it had found its cache alive."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Seconds, and why: ``survived`` and ``expired`` = idle gaps between the shortest and the longest lifetime."""

    seconds: int
    basis: str
    survived: int = 0
    expired: int = 0


def idle_gaps(transcript: Transcript) -> tuple[float | None, ...]:
    """Seconds that the cache lay unused before each call, never negative; None where the log has no times."""
    known: tuple[float | None, ...] | None = transcript.memo.get("idle gaps")
    if known is None:
        known = _idle_gaps(transcript)
        transcript.memo["idle gaps"] = known
    return known


def _idle_gaps(transcript: Transcript) -> tuple[float | None, ...]:
    messages = transcript.messages
    found: list[float | None] = []
    used: float | None = None
    previous_end = 0
    for turn in transcript.turns:
        asked = _latest(messages[previous_end : turn.request_end])
        if turn.time is not None:
            asked = turn.time if asked is None else min(asked, turn.time)
        found.append(None if asked is None or used is None else max(0.0, asked - used))
        answered = _latest(messages[turn.request_end : turn.response_end])
        times = [time for time in (answered, turn.time, asked) if time is not None]
        used = max(times) if times else used
        previous_end = turn.response_end
    return tuple(found)


def _latest(messages: tuple[Message, ...]) -> float | None:
    return max((m.timestamp for m in messages if m.timestamp is not None), default=None)


def lifetime_of(transcript: Transcript, profile: CacheProfile) -> Lifetime:
    """The lifetime that a session's own figures speak for; the profile's usual one where they say nothing.

    The longer one wins when more idle gaps between the two were survived than not.
    """
    shortest, longest = profile.lifetime_s, profile.lifetimes[-1]
    if shortest == longest:
        return Lifetime(shortest, f"{profile.name} has one lifetime")
    gaps = idle_gaps(transcript)
    changed = {boundary.turn for boundary in transcript.boundaries}
    survived = expired = 0
    for before, turn in pairwise(transcript.turns):
        gap = gaps[turn.index]
        if gap is None or not shortest < gap <= longest or turn.index in changed:
            continue
        if before.recorded is None or turn.recorded is None or before.recorded.model != turn.recorded.model:
            continue
        if not before.recorded.cache_read + before.recorded.cache_write:
            continue
        whole = min(before.recorded.context_tokens, turn.recorded.context_tokens)
        if turn.recorded.cache_read >= SURVIVED * whole:
            survived += 1
        else:
            expired += 1
    if not survived + expired:
        return Lifetime(shortest, f"usual for {profile.name}: no idle gap tells")
    basis = f"{survived} of {survived + expired} idle gaps over {shortest // 60} minutes survived"
    return Lifetime(longest if survived > expired else shortest, basis, survived, expired)


def written_for(transcript: Transcript, profile: CacheProfile) -> int | None:
    """Seconds that most of what the log says it wrote was to live; None where it does not say that of anything."""
    calls = [turn.recorded for turn in transcript.turns if turn.recorded is not None]
    long, whole = sum(call.cache_write_long for call in calls), sum(call.cache_write for call in calls)
    if not long:
        return None
    return profile.lifetimes[-1] if 2 * long >= whole else profile.lifetime_s
