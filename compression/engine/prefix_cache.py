"""Replays a provider's prompt cache: what each call reads, writes and pays in full, and where the cached prefix breaks.

Token arithmetic only. It is told how much of each request is as it was in the one before, and how long the cache lay
idle; which message that was, and why, others know. O(1) a call, but for entries that die.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from compression.engine.cache_profiles import CacheProfile

Cause = Literal["event", "expiry", "system", "model", "foreign", "lookback"]
"""Why a cached prefix was not read: an event changed it, nobody used it for too long, system prompt or tools changed,
another model has another cache, something else changed it, or no mark lies near enough behind its end."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a request where a cached prefix may end: tokens and blocks (parts of messages) before it."""

    tokens: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as the cache sees it. Calibrated tokens.

    ``marks`` ascend: the end of the system prompt, of the newest answer, of the request. ``unchanged`` = tokens that
    it shares with the request before, None when it extends that one; ``cause`` and ``message`` say what changed.
    ``idle`` = seconds since the cache was last used, None when nobody knows.
    """

    tokens: int
    marks: tuple[Mark, ...] = ()
    unchanged: int | None = None
    cause: Cause = "foreign"
    message: int | None = None
    idle: float | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Bust:
    """A cached prefix that a call could not read: ``tokens`` of it had to be sent anew."""

    cause: Cause
    message: int | None
    tokens: int


@dataclass(frozen=True, slots=True)
class CacheTurn:
    """What one call read, wrote and paid in full; the three add up to its request."""

    read: int
    write: int
    uncached: int
    bust: Bust | None = None

    @property
    def tokens(self) -> int:
        """The whole request."""
        return self.read + self.write + self.uncached


@dataclass
class _Cache:
    """The cached prefixes of one model, the shortest first. ``used`` = when it last was, on the session's clock."""

    profile: CacheProfile
    used: float
    entries: list[Mark] = field(default_factory=list)

    def cut(self, unchanged: int) -> None:
        """What lies behind the first change is no prefix of any later request."""
        entries = self.entries
        while entries and entries[-1].tokens > unchanged:
            last = entries.pop()
            if self.profile.matching == "prefix":
                entries.append(Mark(unchanged, last.blocks))

    def read(self, request: Sent) -> int:
        """Tokens of the longest entry that the provider finds for a request."""
        profile, entries = self.profile, self.entries
        if not entries:
            return 0
        if profile.matching != "marks":
            found = min(entries[-1].tokens, request.tokens) // profile.unit * profile.unit
            return found if found >= profile.minimum else 0
        newest = request.marks[1:] or request.marks
        first = min(mark.blocks for mark in newest) - profile.lookback
        for entry in reversed(entries):
            if entry.blocks < first:
                break
            if any(0 <= mark.blocks - entry.blocks <= profile.lookback for mark in newest):
                return entry.tokens
        system = request.marks[0]
        return entries[0].tokens if 0 <= system.blocks - entries[0].blocks <= profile.lookback else 0

    def write(self, request: Sent) -> None:
        """What a request leaves in the cache."""
        profile, entries = self.profile, self.entries
        if profile.matching == "none":
            return
        ends = request.marks if profile.matching == "marks" else (Mark(request.tokens, 0),)
        for mark in ends:
            if mark.tokens >= profile.minimum and (not entries or mark.tokens > entries[-1].tokens):
                entries.append(mark)
        if profile.matching == "prefix":
            del entries[:-1]
        elif profile.considered:
            del entries[: -profile.considered]


def simulate(
    requests: Sequence[Sent], profile: CacheProfile, *, lifetime_s: int | None = None, warm: int = 0
) -> tuple[CacheTurn, ...]:
    """The cache over a session. ``lifetime_s``: another one than the profile's usual lifetime.

    ``warm``: tokens of the first request that other sessions had cached already (the system prompt and tools of an
    agent that runs often).
    """
    lifetime = profile.lifetime_s if lifetime_s is None else lifetime_s
    caches: dict[str, _Cache] = {}
    done: list[CacheTurn] = []
    clock, held, previous = 0.0, 0, ""
    for turn, request in enumerate(requests):
        clock += request.idle or 0.0
        if request.unchanged is not None:
            for cache in caches.values():
                cache.cut(request.unchanged)
        cache = caches.setdefault(request.model, _Cache(profile, clock))
        expired = clock - cache.used > lifetime
        if expired:
            cache.entries.clear()
        read = cache.read(request)
        if turn == 0 and profile.minimum <= warm:
            read = min(warm, request.tokens)
        cache.write(request)
        cache.used = clock
        lost = min(held, request.tokens) - read
        bust = None
        if lost > profile.unit:
            if expired:
                bust = Bust("expiry", None, lost)
            elif request.model != previous:
                bust = Bust("model", None, lost)
            elif request.unchanged is not None and request.unchanged < held:
                bust = Bust(request.cause, request.message, lost)
            else:
                bust = Bust("lookback", None, lost)
        held = cache.entries[-1].tokens if cache.entries else 0
        rest = request.tokens - read
        write = held - read if profile.charges_writes and held > read else 0
        done.append(CacheTurn(read, write, rest - write, bust))
        previous = request.model
    return tuple(done)
