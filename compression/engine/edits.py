"""What an event changes, as data: nothing here has been applied to anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

EventKind = Literal["compress", "skip", "arrival", "recorded", "stopped"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One part of one message replaced. Token figures are uncalibrated; ``text`` is what stands there now."""

    message: int
    part: int
    kind: Literal["stub", "cleared"]
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


@dataclass(frozen=True, slots=True)
class Event:
    """One compression of the window at one turn. ``before`` and ``after`` are calibrated window tokens.

    ``skip`` records that an event would have freed too little; ``repeats`` counts the calls in a row for
    which that stayed so. ``target_unreachable`` is the floor in tokens below which nothing could be
    compressed. ``first_changed_message`` is the first in the window's order; ``cache_prefix_survival`` = tokens
    before it / before. ``calls_after``: calls after this one until the next event that changed something.
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

    @property
    def reclaimed(self) -> int:
        """Calibrated tokens that the event freed."""
        return self.before - self.after
