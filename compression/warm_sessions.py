"""Sessions that are being tuned, kept at hand: transcript, counts and stubs, so that a draft costs one replay.

A small shelf in this process, by session and revision. It holds nothing that cannot be read again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from compression.engine.stubs import Stubber
from compression.project_prices import digest_of
from compression.transcripts import Subject, from_session
from sessions.models import Session

SHELF_SIZE = 6
SHELF_TOKENS = 8_000_000
"""More than this is not kept, but for the newest session: texts take about five bytes a token."""


@dataclass(frozen=True)
class WarmSession:
    """A session as the engine sees it with its stubs so far. One replay at a time: hold ``lock``."""

    subject: Subject
    tokens: int
    stubber: Stubber = field(default_factory=Stubber, repr=False)
    lock: Lock = field(default_factory=Lock, repr=False)


_shelf: OrderedDict[tuple[object, ...], WarmSession] = OrderedDict()
_lock = Lock()


def warm_session(session: Session) -> WarmSession:
    """The session's present revision under its project's prices. No query when it is at hand, three otherwise; one
    more where the prices were not selected along with it."""
    key = (session.pk, session.revision, session.updated_at, digest_of(session.project))
    with _lock:
        if (found := _shelf.get(key)) is not None:
            _shelf.move_to_end(key)
            return found
    made = WarmSession(from_session(session), session.counted_tokens)
    with _lock:
        found = _shelf.setdefault(key, made)
        while len(_shelf) > 1 and (len(_shelf) > SHELF_SIZE or sum(w.tokens for w in _shelf.values()) > SHELF_TOKENS):
            _shelf.popitem(last=False)
    return found
