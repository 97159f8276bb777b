"""Which tool results a window no longer needs: their text stands in a newer message, or their file was written anew.

The first kind loses nothing: every line is still there word for word, in the message that is named. When in doubt
(a text that starts or ends within a line of the newer one, a line number that moved, a path written otherwise) a
result is not superseded. A part of the file edited since does not supersede a read of it, for the file's other
lines may stand nowhere else: that read is only ``stale``. Nothing here is edited.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Literal

from compression.engine.history import Course, Request
from compression.engine.tool_calls import Made, calls_of
from compression.engine.transcript import Part

Why = Literal["same text", "contained", "written anew"]
_Place = tuple[int, int]  # message, part

_REMINDER = "<system-reminder>"
_REMINDER_END = "</system-reminder>"
_MOST_TRIED = 16
_LONGEST_TARGET = 100
_LONGEST_NAME = 40
_UNSAFE = re.compile(r"[\[\]·\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Replacement:
    """Where what a result said stands now. ``call``: that message in words (``Read src/a.py (call toolu_1)``)."""

    message: int
    part: int
    why: Why
    call: str


def pieces(text: str) -> tuple[str, ...]:
    """A result's text and the reminder that the client appended to it, which may stand apart from each other.
    Only line breaks between the two are in neither."""
    end = text.rstrip()
    if not end.endswith(_REMINDER_END):
        return (text,)
    start = end.find(_REMINDER)
    body = text[:start].rstrip("\n")
    return (body, end[start:]) if body.strip() else (text,)


def _key_line(text: str) -> str:
    """A line that any text has whole which contains this one along its lines: the longest, the first and last only
    where there is no other."""
    lines = text.split("\n")
    return max(lines[1:-1] if len(lines) > 2 else lines, key=len)


class Superseded:
    """Answers for the results of one course. Its index is built once for a transcript, O(text)."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._messages = course.transcript.messages
        self._calls = calls_of(course)
        memo = course.transcript.memo
        key = f"superseded {course.history}"
        if key not in memo:
            memo[key] = _Lines(course), {}
        self._lines: _Lines
        self._verified: dict[tuple[_Place, _Place], Why | None]
        self._lines, self._verified = memo[key]

    def newer(self, request: Request, i: int, j: int, changed: Container[_Place]) -> Replacement | None:
        """What stands in the request for result j of message i; None when nothing does.

        ``changed``: parts that no longer stand word for word; they replace nothing. The newest of several is named.
        """
        for place in self._newest(request, i, j, changed):
            if (why := self._holds(place, (i, j))) is not None:
                return Replacement(*place, why, self._words(place))
        return self._written_anew(request, i, j, changed)

    def stale(self, request: Request, i: int, j: int) -> bool:
        """Whether the file that a result is about was changed by a later call of the request, if only in part."""
        return any(True for _ in self._later_changes(request, i, j))

    def _newest(self, request: Request, i: int, j: int, changed: Container[_Place]) -> Iterator[_Place]:
        """Parts that may contain the text, newest first; so few that no session takes long."""
        tried = 0
        length = len(pieces(self._messages[i].parts[j].text)[0])
        for place in self._lines.after((i, j)):
            if place[0] < request.end and place not in changed and request.ordinal(place[0]) is not None:
                part = self._messages[place[0]].parts[place[1]]
                if len(part.text) < length:
                    continue
                tried += 1
                yield place
                if tried == _MOST_TRIED:
                    return

    def _holds(self, newer: _Place, older: _Place) -> Why | None:
        if (older, newer) not in self._verified:
            text = self._messages[older[0]].parts[older[1]].text
            held = self._messages[newer[0]].parts[newer[1]].text
            why: Why | None = None
            if text == held:
                why = "same text"
            elif all(piece in held for piece in pieces(text)):
                why = "contained"
            self._verified[older, newer] = why
        return self._verified[older, newer]

    def _written_anew(self, request: Request, i: int, j: int, changed: Container[_Place]) -> Replacement | None:
        older = self._calls.of_result.get((i, j))
        if older is None or older.failed or len(older.call.files) != 1:
            return None
        for made, whole in reversed([*self._later_changes(request, i, j)]):
            if whole and made.place not in changed:
                return Replacement(*made.place, "written anew", self._words(made.place))
        return None

    def _later_changes(self, request: Request, i: int, j: int) -> Iterator[tuple[Made, bool]]:
        """Calls of the request that changed the one file a result is about, with: was it replaced as a whole?"""
        older = self._calls.of_result.get((i, j))
        if older is None or len(older.call.files) != 1:
            return
        path = older.call.files[0].path
        if not _certain(older, path):
            return
        for made, use in self._calls.changes.get(path, ()):
            if (
                made.place[0] > i
                and made.result is not None
                and made.result[0] < request.end
                and request.ordinal(made.place[0]) is not None
                and request.ordinal(made.result[0]) is not None
            ):
                yield made, use.whole and _certain(made, path)

    def _words(self, place: _Place) -> str:
        part = self._messages[place[0]].parts[place[1]]
        if part.kind == "text":
            return f"a message of the {self._messages[place[0]].role}"
        made = self._calls.of_result.get(place) or self._calls.of_call.get(place)
        named = _bounded(part.name or (made.call.name if made else ""), _LONGEST_NAME)
        target = _bounded(made.call.target, _LONGEST_TARGET) if made else ""
        called = f"(call {_bounded(part.call_id, _LONGEST_NAME)})" if part.call_id else ""
        return " ".join(filter(None, (named, target, called))) or "a newer result"


def _certain(made: Made, path: str) -> bool:
    """Where a command ran is not known: its relative path may be another file."""
    return made.call.action != "run" or path.startswith("/")


def _bounded(text: str, limit: int) -> str:
    """Words of the session inside a stub's own line: no brackets, no line breaks; cut at a blank, a path at a slash."""
    text = _UNSAFE.sub(" ", text[: 8 * limit]).strip()
    if len(text) <= limit:
        return text
    if " " in text[:limit]:
        return f"{text[:limit].rpartition(' ')[0]} …"
    return f"…/{text[-limit:].partition('/')[2]}" if "/" in text[-limit:] else "…"


def superseded_line(kind: str, lines: int, tokens: int, replacement: Replacement, address: str) -> str:
    """The one line that stands for a superseded result, in the form of every stub's first line."""
    noun = "line" if lines == 1 else "lines"
    where = f"{replacement.why} in {replacement.call}"
    return f"[superseded {kind} · {lines:,} {noun} · {tokens:,} tokens · {where} · original {address}]"


class _Lines:
    """Which parts have the key line of which result as a whole line."""

    def __init__(self, course: Course) -> None:
        messages = course.transcript.messages
        self._keys = {(i, j): _key_line(pieces(messages[i].parts[j].text)[0]) for i, j, _ in course.results}
        self._holders: dict[str, list[_Place]] = {key: [] for key in self._keys.values() if key.strip()}
        for message in messages:
            if message.index not in course.excluded:
                for j, part in enumerate(message.parts):
                    self._read(part, (message.index, j))

    def _read(self, part: Part, place: _Place) -> None:
        if part.kind not in ("text", "tool_result"):
            return
        for line in dict.fromkeys(part.text.split("\n")):
            holders = self._holders.get(line)
            if holders is not None:
                holders.append(place)

    def after(self, place: _Place) -> Iterator[_Place]:
        """Parts of later messages with the key line of a result, newest first."""
        holders = self._holders.get(self._keys[place], [])
        for at in reversed(range(bisect_left(holders, (place[0] + 1,)), len(holders))):
            yield holders[at]
