"""What an event changes, as data: nothing here has been applied to anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

EventKind = Literal[
    "compress",
    "skip",
    "arrival",
    "recorded",
    "stopped",
    "aggressive",
    "truncate",
    "archive",
    "rezone",
    "incompressible",
]
EditKind = Literal["stub", "superseded", "arguments", "thinking", "text", "cleared", "placeholder"]
"""``cleared`` is the agent's own doing, ``placeholder`` a reference policy's; every other kind keeps its original
behind an address."""

LADDER: frozenset[EventKind] = frozenset({"aggressive", "truncate", "archive", "rezone"})
"""The steps of the fallback ladder that change a window."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One part of one message replaced. Token figures are uncalibrated; ``text`` is what stands there now.

    ``tokens_before`` are always those of the original, also when a stub is made shorter. ``newer``: the message that a
    superseded result points at.
    """

    message: int
    part: int
    kind: EditKind
    text: str
    tokens_before: int
    tokens_after: int
    content_type: str = ""
    compressor: str = ""
    confidence: float = 0.0
    why: str = ""
    kept: tuple[str, ...] = ()
    counts: frozenset[str] = frozenset()
    address: str = ""
    sha256: str = ""
    reason: str = ""
    newer: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A message that an event put into the window for those that left; the next such event replaces it.

    ``ordinal`` = messages of the window before it. ``tokens`` are uncalibrated and hold a message's overhead.
    ``simulated``: a model would have written it; ``text`` only says so and ``tokens`` are its documented size.
    """

    kind: Literal["marker", "state", "summary"]
    role: Literal["user", "assistant", "system"]
    text: str
    tokens: int
    ordinal: int
    address: str = ""
    sha256: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One compression of the window at one turn. ``before`` and ``after`` are calibrated window tokens.

    ``skip`` records that an event would have freed too little; ``repeats`` counts the calls in a row for
    which that stayed so. ``target_unreachable`` is the floor in tokens below which nothing could be
    compressed. ``first_changed_message`` is the first in the window's order; ``cache_prefix_survival`` = tokens
    before it / before. ``calls_after``: calls after this one until the next event that changed something.
    ``left`` = messages that are in the window no more, ``note`` what stands for them. ``recent_budget``: what a
    re-zoning left of the recent zone, in tokens.
    """

    turn: int
    kind: EventKind
    before: int
    after: int
    edits: tuple[Edit, ...] = ()
    first_changed_message: int | None = None
    target_unreachable: int | None = None
    cache_prefix_survival: float = 1.0
    usage_ratio: float = 0.0
    repeats: int = 0
    reason: str = ""
    calls_after: int = 0
    left: tuple[int, ...] = field(default=())
    note: Note | None = None
    recent_budget: int | None = None

    @property
    def reclaimed(self) -> int:
        """Calibrated tokens that the event freed."""
        return self.before - self.after

    @property
    def changes(self) -> bool:
        """Whether the window is another one after it."""
        return bool(self.edits or self.left)


@dataclass(frozen=True, slots=True)
class Step:
    """What somebody proposes to do with a window: an event before its figures are known."""

    edits: tuple[Edit, ...] = ()
    left: tuple[int, ...] = ()
    note: Note | None = None
    reason: str = ""
