"""The windows that two policies leave at the same turn, side by side: the messages that differ, the rest counted.

Works from two stored replays of one session; asks only for the messages that are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest

from compression.engine.edits import Edit, Event
from compression.message_texts import ShownMessage, shown_messages
from compression.replay_document import ReplayDocument
from compression.window_view import Block
from sessions.models import Session

DIFFERENCES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Difference:
    """One message that the two windows hold differently; None where a window does not hold it."""

    index: int
    a: Block | None
    b: Block | None


@dataclass(frozen=True, slots=True)
class WindowDifference:
    """``alike`` messages are the same in both, ``alike_stubs`` of them the same stub; ``more`` differ unshown."""

    rows: tuple[Difference, ...]
    alike: int
    alike_stubs: int
    more: int


class _Side:
    """One policy's window at a turn."""

    def __init__(self, document: ReplayDocument, turn: int) -> None:
        self.document, self.turn = document, turn
        self.request = document.request(turn)
        self.edits = {i: found for i, found in document.edits(turn).items() if i in self.held}

    @cached_property
    def held(self) -> frozenset[int]:
        return frozenset(self.request.indexes()) - frozenset(self.document.excluded)

    def tokens(self, i: int) -> int:
        """Uncalibrated tokens of a message here; 0 when the window does not hold it."""
        if i not in self.held:
            return 0
        found = self.edits.get(i)
        return self.document.sizes[i] - (found[1].tokens_before - found[1].tokens_after if found else 0)

    def text(self, i: int) -> tuple[bool, str | None]:
        """What tells two sides apart: whether it is held, and the stub that stands for it."""
        found = self.edits.get(i)
        return i in self.held, found[1].text if found else None

    def zone(self, i: int) -> str:
        table, ordinal = self.document.table, self.request.ordinal(i) or 0
        if ordinal < table.head_at[self.turn]:
            return "head"
        if ordinal >= table.recent_at[self.turn]:
            return "recent"
        return "pinned" if i in self.document.pinned(self.turn) else "compressible"

    def block(self, message: ShownMessage) -> Block | None:
        i = message.index
        if i not in self.held:
            return None
        event, edit = self.edits.get(i, (None, None))
        zone = self.zone(i)
        look = "compressed" if edit else {"head": "sacred", "recent": "sacred"}.get(zone, zone)
        return Block(
            message=message,
            look=look,
            reason=_reason(self.document.pinned(self.turn), i, zone, event, edit),
            content_type=self.document.content_types.get(i, "").replace("_", " "),
            tokens_before=self.document.sizes[i],
            tokens=self.tokens(i),
            edit=edit,
            event=event,
        )


def _reason(pinned: Mapping[int, str], i: int, zone: str, event: Event | None, edit: Edit | None) -> str:
    if event is not None and edit is not None:
        verb = "compressed" if edit.kind == "stub" else "cleared"
        return f"{verb} at turn {event.turn} · {edit.reason}"
    return f"pinned · {pinned[i]}" if zone == "pinned" else f"{zone} · whole"


def window_difference(session: Session, a: ReplayDocument, b: ReplayDocument, turn: int) -> WindowDifference:
    """What differs at a turn, the largest differences first chosen and then in the window's order. Two queries."""
    left, right = _Side(a, turn), _Side(b, turn)
    candidates = set(left.edits) | set(right.edits) | (left.held ^ right.held)
    differing = [i for i in candidates if left.text(i) != right.text(i)]
    shown = sorted(nlargest(DIFFERENCES_SHOWN, differing, key=lambda i: (abs(left.tokens(i) - right.tokens(i)), -i)))
    messages = shown_messages(session, shown)
    rows = tuple(Difference(i, left.block(messages[i]), right.block(messages[i])) for i in shown if i in messages)
    both = left.held & right.held
    alike = len(both) - sum(i in both for i in differing)
    stubs = sum(i in right.edits and left.text(i) == right.text(i) for i in left.edits)
    return WindowDifference(rows, alike, stubs, len(differing) - len(rows))
