"""The windows that two policies leave at the same turn, side by side: the messages that differ, the rest counted.

Works from two stored replays of one session; asks only for the messages that are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest

from compression.message_texts import ShownMessage, shown_messages
from compression.replay_document import ReplayDocument
from compression.window_blocks import Block, NoteBlock, block_parts, changed_tokens, note_block
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
    """``alike`` messages are the same in both, ``alike_stubs`` of them the same stub; ``more`` differ unshown.

    ``notes``: what stands on each side for the messages that left it; None where the two say the same.
    """

    rows: tuple[Difference, ...]
    alike: int
    alike_stubs: int
    more: int
    notes: tuple[NoteBlock | None, NoteBlock | None] | None = None


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
        return changed_tokens(self.document.sizes[i], self.edits.get(i, {}))

    def text(self, i: int) -> tuple[bool, dict[int, str]]:
        """What tells two sides apart: whether it is held, and what stands in place of which part."""
        return i in self.held, {part: edit.text for part, (_, edit) in self.edits.get(i, {}).items()}

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
        edits, zone = self.edits.get(i, {}), self.zone(i)
        pinned = self.document.pinned(self.turn)
        return Block(
            message=message,
            look="compressed" if edits else {"head": "sacred", "recent": "sacred"}.get(zone, zone),
            reason=f"pinned · {pinned[i]}" if zone == "pinned" else f"{zone} · {'changed' if edits else 'whole'}",
            content_type=self.document.content_types.get(i, "").replace("_", " "),
            tokens_before=self.document.sizes[i],
            tokens=self.tokens(i),
            parts=block_parts(message, edits),
        )


def window_difference(session: Session, a: ReplayDocument, b: ReplayDocument, turn: int) -> WindowDifference:
    """What differs at a turn, the largest differences first chosen and then in the window's order. Two queries."""
    left, right = _Side(a, turn), _Side(b, turn)
    candidates = set(left.edits) | set(right.edits) | (left.held ^ right.held)
    differing = [i for i in candidates if left.text(i) != right.text(i)]
    shown = sorted(nlargest(DIFFERENCES_SHOWN, differing, key=lambda i: (abs(left.tokens(i) - right.tokens(i)), -i)))
    parts = {i: {*left.edits.get(i, ()), *right.edits.get(i, ())} for i in shown}
    messages = shown_messages(session, shown, first=parts)
    rows = tuple(Difference(i, left.block(messages[i]), right.block(messages[i])) for i in shown if i in messages)
    both = left.held & right.held
    alike = len(both) - sum(i in both for i in differing)
    stubs = sum(i in right.edits and left.text(i) == right.text(i) for i in left.edits)
    notes = note_block(a, turn), note_block(b, turn)
    return WindowDifference(rows, alike, stubs, len(differing) - len(rows), None if notes[0] == notes[1] else notes)
