"""The fallback ladder: what is done when compressing old results was not enough. It proposes steps, touches nothing.

In order of severity: every block to its floor; the oldest whole groups out; a new window with the state of the work.
What leaves is kept as one text behind an address. When to climb is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping

from compression.engine.edits import Edit, Note, Step
from compression.engine.groups import groups_of, whole
from compression.engine.history import Course, Request
from compression.engine.planner import Planner
from compression.engine.rendering import rendered
from compression.engine.snapshots import digest
from compression.engine.standing import Standing
from compression.engine.state_header import header_text, state_header
from compression.engine.stubs import Stubber
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.zones import Zones

STATE_TOKENS = 1_200
"""Budget of a state header, at most."""

STATE_SHARE = 0.05
"""Of a window, that its state header may take."""

LINES_KEPT = 20
"""Lines with addresses that a note carries on; older ones stand in the text that the newest leads to."""

_LEFT_OUT, _ARCHIVED = "[left out", "[archived"
_NOTE_LINE = re.compile(r"^\[(?:left out|archived) · ", re.MULTILINE)


def state_budget(limit: int) -> int:
    """Tokens of a state header in a window of ``limit`` tokens."""
    return min(STATE_TOKENS, round(STATE_SHARE * limit))


class Ladder:
    """The rungs for one replay."""

    def __init__(
        self, course: Course, planner: Planner, stubber: Stubber, limit: int, known: Container[str] = ()
    ) -> None:
        """``limit``: the window's tokens; ``known``: sha256 of texts that an earlier compression put into the window,
        notes among them."""
        self._course = course
        self._limit = limit
        self._known = known
        self._planner = planner
        self._counter = stubber.counter
        self._addresses = stubber.addresses
        self._summaries = stubber.summaries

    def aggressive(self, zones: Zones, edits: Mapping[tuple[int, int], Edit]) -> Step:
        """Every compressible block to its floor: results, arguments, unsigned thinking, assistant and user texts.

        Stubs that stand are made shorter, from their originals. The agent's own clearings stay.
        """
        found = []
        for i in zones.compressible():
            if i in self._course.excluded:
                continue
            for j, tokens in enumerate(self._course.transcript.counts[i]):
                standing = edits.get((i, j))
                stands = tokens if standing is None else standing.tokens_after
                if standing is not None and standing.kind not in ("stub", "text", "arguments"):
                    continue
                edit = self._planner.at_floor(i, j)
                if edit is not None and edit.tokens_after < stands:
                    found.append(edit)
        return Step(tuple(found), reason="over the trigger after compressing: every block to its floor")

    def truncate(self, zones: Zones, standing: Standing, note: Note | None, excess: float) -> Step:
        """The oldest whole groups out until ``excess`` uncalibrated tokens are free; none with a sacred member."""
        transcript, request = self._course.transcript, zones.request
        groups = groups_of(transcript)
        sacred = {*request.indexes(0, zones.head), *zones.pinned, *request.indexes(zones.recent)}
        stays = {groups[i] for i in sacred}
        members: dict[int, list[int]] = {}
        for i in request.indexes(zones.head, zones.recent):
            if groups[i] not in stays and i not in self._course.excluded:
                members.setdefault(groups[i], []).append(i)
        left: list[int] = []
        freed = 0
        for group in members.values():
            if freed >= excess:
                break
            left += group
            freed += sum(standing.sizes[i] for i in group)
        if self._told(left):
            return Step()
        made = self._note(sorted(left), note, self._place(request, left, note), _LEFT_OUT, "")
        return Step(left=tuple(sorted(left)), note=made, reason="the oldest whole groups leave the window")

    def archive(self, zones: Zones, standing: Standing, note: Note | None) -> Step:
        """A new window: head, results of its calls as stubs, the state of the work, pins and recent, whole groups."""
        transcript, request = self._course.transcript, zones.request
        head = request.indexes(0, zones.head)
        window = request.indexes()
        answers = whole(transcript, head, window).difference(head)
        stays = {*head, *whole(transcript, (*zones.pinned, *request.indexes(zones.recent)), window), *answers}
        left = [i for i in window if i not in stays and i not in self._course.excluded]
        free = {*zones.compressible()}
        edits = tuple(
            edit
            for i in sorted(answers & free)
            for j, part in enumerate(transcript.messages[i].parts)
            if part.kind == "tool_result"
            and (edit := self._planner.at_floor(i, j)) is not None
            and edit.tokens_after < self._stands(standing, i, j)
        )
        if self._told(left):
            return Step()
        so_far = Request((), 0, request.end) if self._course.history == "uncompacted" else request
        state = header_text(
            state_header(self._course, so_far, request.end), self._counter.count_many, state_budget(self._limit)
        )
        made = self._note(left, note, self._place(request, left, note), _ARCHIVED, state)
        freed = sum(standing.sizes[i] for i in left)
        freed += sum(self._stands(standing, e.message, e.part) - e.tokens_after for e in edits)
        if freed <= made.tokens - (note.tokens if note else 0):
            return Step()
        return Step(edits, tuple(left), made, "a new window with the state of the work")

    def _told(self, left: Iterable[int]) -> bool:
        """Whether nothing would leave but notes of an earlier compression: another note would tell less."""
        course = self._course
        return all(
            part.kind == "text" and course.sha(i, j) in self._known and _NOTE_LINE.search(part.text)
            for i in left
            for j, part in enumerate(course.transcript.messages[i].parts)
        )

    def _stands(self, standing: Standing, i: int, j: int) -> int:
        edit = standing.edits.get((i, j))
        return self._course.transcript.counts[i][j] if edit is None else edit.tokens_after

    def _place(self, request: Request, left: Iterable[int], note: Note | None) -> int:
        """The ordinal of a note for ``left``: where the first of them or an earlier note stood, never within a group.

        What stands before it stays in the prompt cache.
        """
        groups, gone = groups_of(self._course.transcript), {*left}
        stays = [groups[i] for i in request.indexes() if i not in gone]
        first = next(ordinal for ordinal, i in enumerate(request.indexes()) if i in gone)
        at = first if note is None else min(first, note.ordinal)
        before = {*stays[:at]}
        return max((n + 1 for n in range(at, len(stays)) if stays[n] in before), default=at)

    def _note(self, left: list[int], note: Note | None, ordinal: int, verb: str, state: str) -> Note:
        """What stands for ``left`` and for all that left before: the state of the work, then a line for each time."""
        course = self._course
        earlier = note.text if note else self._came_with(left)
        text = self.snapshot(left, note)
        sha = digest(text)
        address = self._addresses.of(sha)
        tokens = sum(course.sizes[i] for i in left)
        noun = "message" if len(left) == 1 else "messages"
        line = f"{verb} · {len(left):,} {noun} · {tokens:,} tokens · original {address}]"
        if state:
            state = self._summaries.get(sha, state)
        lines = [row for row in earlier.split("\n") if row.startswith((_LEFT_OUT, _ARCHIVED))]
        if not state and lines:
            state = earlier.partition(lines[0])[0].rstrip("\n")
        body = "\n".join(filter(None, (state, *lines[-LINES_KEPT:], line)))
        cost = self._counter.count(body) + MESSAGE_OVERHEAD
        return Note("state" if state else "marker", "user", body, cost, ordinal, address, sha)

    def _came_with(self, left: Iterable[int]) -> str:
        """The notes among messages that leave: an agent that was compressed before sends them as its own messages."""
        course = self._course
        return "\n".join(
            part.text
            for i in left
            for j, part in enumerate(course.transcript.messages[i].parts)
            if part.kind == "text" and part.text and course.sha(i, j) in self._known
        )

    def snapshot(self, left: Iterable[int], note: Note | None) -> str:
        """The text behind the address of messages that leave; it begins with the note that they leave with."""
        messages = self._course.transcript.messages
        return rendered((messages[i] for i in left), note.text if note else "")
