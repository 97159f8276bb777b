"""Sessions that a worker replays again and again: read once, then at hand up to a weight.

Token counts are the stored ones. One replay at a time of a session: hold its ``lock``. Nothing is written here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from compression.engine.policy import Policy
from compression.engine.replay import replay
from compression.engine.summary import summarize
from compression.engine.turns import tabulate
from compression.project_prices import digest_of
from compression.transcripts import from_session
from compression.warm_sessions import WarmSession
from sessions.models import Session

SHELF_TOKENS = 10_000_000
"""More is not kept at once, but for the newest session. A token weighs about 40 bytes with what is known of it."""

UNCHANGED = "summary of unchanged requests"
Key = tuple[object, ...]


class SessionShelf:
    """Warm sessions, together no heavier than ``limit`` tokens; what was not asked for longest goes first."""

    def __init__(self, limit: int = SHELF_TOKENS) -> None:
        self._limit = limit
        self._held: OrderedDict[Key, WarmSession] = OrderedDict()

    def warm(self, session: Session) -> WarmSession:
        """Three queries when it is not at hand, if its project's prices were selected along with it."""
        key = _key(session)
        if key not in self._held:
            self._held[key] = WarmSession(from_session(session), session.counted_tokens)
        self._held.move_to_end(key)
        while len(self._held) > 1 and sum(one.tokens for one in self._held.values()) > self._limit:
            self._held.popitem(last=False)
        return self._held[key]

    def nearest_first(self, sessions: Iterable[Session]) -> list[Session]:
        """What is at hand, then the rest: going round in one order would drop each session just before its turn."""
        return sorted(sessions, key=lambda session: _key(session) not in self._held)


def _key(session: Session) -> Key:
    return (session.pk, session.revision, session.updated_at, digest_of(session.project))


shelf = SessionShelf()


def summary_of(warm: WarmSession, policy: Policy) -> dict[str, Any]:
    """The figures of a replay by their names in its summary; nothing is stored.

    Requests that nobody changed are summed up once for a session: under another policy only their overflow differs, and
    what is said there of the window is the first policy's.
    """
    with warm.lock:
        subject = warm.subject
        done = replay(subject.transcript, policy, subject.calibration, stubber=warm.stubber, prices=subject.prices)
        if done.events or policy.strategy == "recorded":
            return summarize(done, tabulate(done))
        memo = subject.transcript.memo
        if UNCHANGED not in memo:
            memo[UNCHANGED] = summarize(done, tabulate(done))
        overflow = next((turn for turn in range(len(done.windows_after)) if not done.fits(turn)), None)
        return {**memo[UNCHANGED], "overflow_turn": overflow}
