"""Which zone of a turn's window a message lies in, read off a stored replay. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from compression.replay_document import ReplayDocument


class WindowZones:
    """The zones of one turn under the replay's policy. O(1) a message."""

    def __init__(self, document: ReplayDocument, turn: int) -> None:
        self.document, self.turn = document, turn
        self.request = document.request(turn)
        self.pinned = document.pinned(turn)

    @cached_property
    def excluded(self) -> frozenset[int]:
        return frozenset(self.document.excluded)

    @cached_property
    def kept(self) -> Mapping[int, int]:
        """Earlier messages that stayed, with their place in the window."""
        return {i: ordinal for ordinal, i in enumerate(self.request.kept)}

    @cached_property
    def changed(self) -> frozenset[int]:
        """Messages of the window that an edit stands in."""
        return frozenset(i for i in self.document.edits(self.turn) if self.holds(i))

    def holds(self, i: int) -> bool:
        """Whether the window holds message i, in whatever form."""
        return (self.request.start <= i < self.request.end or i in self.kept) and i not in self.excluded

    def of(self, i: int) -> str:
        """head, pinned, compressible or recent; "left" and "later" for what the window does not hold."""
        if not self.holds(i):
            return "later" if i >= self.request.end else "left"
        request, table = self.request, self.document.table
        ordinal = len(request.kept) + i - request.start if i >= request.start else self.kept[i]
        if ordinal < table.head_at[self.turn]:
            return "head"
        if ordinal >= table.recent_at[self.turn]:
            return "recent"
        return "pinned" if i in self.pinned else "compressible"

    def matches(self, i: int, wanted: str) -> bool:
        """Whether a reader who asks for a zone means this message; empty asks for all."""
        if wanted == "":
            return True
        if wanted == "window":
            return self.holds(i)
        if wanted == "compressed":
            return i in self.changed
        return self.of(i) == wanted
