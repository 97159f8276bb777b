"""The window of each call as the events so far left it: which messages it holds and how large they are.

Told of events, oldest first. Everything that walks a replay asks here, so that no two of them can disagree.
Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence

from compression.engine.edits import Edit, Event, Note
from compression.engine.history import SOURCES, Course, Request, add_tokens, source_of

NOTE_SOURCE = SOURCES.index("memory")


class Standing:
    """The state of a window between events. A turn costs O(1) while no message leaves it, else O(new messages)."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.sizes = list(course.sizes)
        """Uncalibrated tokens of every message as it stands."""
        self.edits: dict[tuple[int, int], Edit] = {}
        self._own: Request | None = None
        self._basis: tuple[object, object] = ((), 0)
        self._note: Note | None = None
        self._freed: tuple[object, list[int]] = (None, [])
        self._raw: tuple[object, int, list[int]] = (None, 0, [])

    @property
    def is_untouched(self) -> bool:
        """Whether every window is still as the course has it."""
        return not self.edits and self._own is None

    def tell(self, event: Event) -> None:
        """An event that happened."""
        for edit in event.edits:
            earlier = self.edits.get((edit.message, edit.part))
            stood = earlier.tokens_after if earlier else edit.tokens_before
            self.sizes[edit.message] += edit.tokens_after - stood
            self.edits[edit.message, edit.part] = edit
        if event.left and event.kind != "recorded":
            self._leave(event)
        if event.changes:
            self._freed = (None, [])

    def _leave(self, event: Event) -> None:
        request, window = self.request(event.turn), self.course.windows[event.turn]
        left = {*event.left}
        stays = [i for i in request.indexes() if i not in left]
        start = request.end
        while stays and stays[-1] == start - 1:
            start = stays.pop()
        self._own = Request(tuple(stays), start, request.end)
        self._basis = (window.kept, window.start)
        self._note = event.note

    def request(self, turn: int) -> Request:
        """The messages of a turn's request. What the agent itself reset in between starts afresh."""
        window = self.course.windows[turn]
        if self._own is None or self._basis != (window.kept, window.start):
            return window
        return Request(self._own.kept, min(self._own.start, window.end), window.end)

    def note(self, turn: int) -> Note | None:
        """What stands in a turn's request for the messages that left it."""
        return None if self.request(turn) is self.course.windows[turn] else self._note

    def row(self, turn: int) -> list[int]:
        """Uncalibrated tokens of a turn's request by source, in the order of ``SOURCES``."""
        window, request = self.course.windows[turn], self.request(turn)
        freed = self._freed_in(request, is_own=request is not window)
        raw: Sequence[int] = self.course.source_rows[turn] if request is window else self._raw_row(request)
        row = [tokens - less for tokens, less in zip(raw, freed, strict=True)] if freed else list(raw)
        if request is not window and self._note is not None:
            row[NOTE_SOURCE] += self._note.tokens
        return row

    def counted(self, turn: int) -> int:
        """Uncalibrated tokens of a turn's request."""
        if self.is_untouched:
            return self.course.counted_rows[turn]
        return sum(self.row(turn))

    def _freed_in(self, request: Request, *, is_own: bool) -> list[int]:
        """What edits freed in a request, by source. What the agent blanked itself is left out of its own windows."""
        if not self.edits:
            return []
        key = (request.kept, request.start, is_own)
        if self._freed[0] != key:
            row = [0] * len(SOURCES)
            kept, messages = {*request.kept}, self.course.transcript.messages
            for (i, j), edit in self.edits.items():
                if (edit.kind != "cleared" or is_own) and (request.start <= i < request.end or i in kept):
                    row[SOURCES.index(source_of(messages[i], j))] += edit.tokens_before - edit.tokens_after
            self._freed = (key, row if any(row) else [])
        return self._freed[1]

    def _raw_row(self, request: Request) -> list[int]:
        """The sources of a request of our own as logged; grows with it."""
        transcript, key = self.course.transcript, (request.kept, request.start)
        known, end, row = self._raw
        if known != key or end > request.end:
            end, row = request.start, [0] * len(SOURCES)
            for i in request.kept:
                if i not in self.course.excluded:
                    add_tokens(row, transcript.messages[i], transcript.counts[i])
        for i in range(end, request.end):
            if i not in self.course.excluded:
                add_tokens(row, transcript.messages[i], transcript.counts[i])
        self._raw = (key, request.end, row)
        return row
