"""One tool call while it arrives: announced -> arguments -> closed, or aborted, or truncated.

A call is closed only when its provider ended it and its arguments are whole; one that was merely cut at a lucky place
is truncated. Arguments are scanned once, as they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from sessions.streaming.facts import Fact
from sessions.streaming.json_extent import JsonExtent
from sessions.streaming.partial_json import PartialJson, Piece

State = Literal["announced", "arguments", "closed", "aborted", "truncated"]

ENDED: frozenset[State] = frozenset({"closed", "aborted", "truncated"})


class Call:
    """``raw_path`` names the one field of a tool that takes plain text instead of JSON."""

    def __init__(self, number: int, call_id: str, raw_path: str | None, tally: Calls) -> None:
        self.number = number
        self.id = call_id
        self.name = ""
        self.state: State = "announced"
        self.value: Any = None
        self.fragments = 0
        self._tally = tally
        self._raw_path = raw_path
        self._raw: list[str] = []
        self._extent = JsonExtent()
        self._parser = PartialJson()

    @property
    def open(self) -> bool:
        return self.state not in ENDED

    @property
    def whole(self) -> bool:
        """The top-level value of the arguments has ended."""
        return self._extent.complete

    @property
    def raw(self) -> str:
        return "".join(self._raw)

    def named(self, name: str) -> Iterator[Fact]:
        """Sets or extends the name: an equal one is ignored, a longer one replaces, a piece is appended."""
        if not name or name == self.name:
            return
        if not self.name or name.startswith(self.name):
            self.name = name
        elif self.state == "announced":
            self.name += name
        else:
            return
        yield Fact("tool_named", self.number, self.name, id=self.id)

    def append(self, text: str) -> Iterator[Fact]:
        if not text or not self.open:
            return
        self.state = "arguments"
        self.fragments += 1
        self._tally.fragments += 1
        self._tally.characters += len(text)
        self._raw.append(text)
        if self._raw_path is not None:
            yield Fact("argument", self.number, self.name, (self._raw_path,), text)
            return
        for piece in self._parser.feed(text):
            yield from self._piece(piece)
        if self._parser.broken:  # no JSON, but rules for plain text still want to see it
            yield Fact("argument", self.number, self.name, (), text)

    def end_of_value(self, text: str) -> int | None:
        """Where in ``text``, the next fragment, the arguments' object ends; to be asked once for each fragment."""
        return None if self._raw_path is not None else self._extent.feed(text)

    def close(self) -> Iterator[Fact]:
        """The provider says that the call is over."""
        if not self.open:
            return
        if self._raw_path is not None:
            if self.value is None:
                self.value = self.raw
            yield Fact("argument_complete", self.number, self.name, (self._raw_path,), value=self.raw)
            yield self._ended("closed")
            return
        ending = self._parser.finish()
        for piece in ending.pieces:
            yield from self._piece(piece)
        if ending.whole:
            # No arguments at all and null are what tools without parameters send.
            self.value = {} if ending.empty or self._parser.value is None else self._parser.value
        yield self._ended("closed" if ending.whole else "truncated")

    def abandon(self, state: Literal["aborted", "truncated"]) -> Iterator[Fact]:
        if self.open:
            yield self._ended(state)

    def _ended(self, state: State) -> Fact:
        self.state = state
        arguments = self.value if state == "closed" else self.raw
        return Fact(
            "tool_complete",
            self.number,
            self.name,
            id=self.id,
            arguments=arguments,
            closed=state == "closed",
            state=state,
        )

    def _piece(self, piece: Piece) -> Iterator[Fact]:
        if piece.text:
            yield Fact("argument", self.number, self.name, piece.path, piece.text)
        # What containers hold was told leaf by leaf; all of it stands in tool_complete.
        if piece.closed and piece.kind in ("string", "scalar"):
            yield Fact("argument_complete", self.number, self.name, piece.path, value=piece.value)


class Calls:
    """The calls of one stream in the order in which they began, and how much of arguments came for all of them."""

    def __init__(self) -> None:
        self.all: list[Call] = []
        self.notes: Counter[str] = Counter()
        self.fragments = 0
        self.characters = 0

    def start(self, call_id: str | None, name: str = "", raw_path: str | None = None) -> tuple[Call, list[Fact]]:
        """A call and the facts of its beginning. Without an id it gets one of ours, which is counted as such."""
        number = len(self.all)
        if not call_id:
            call_id = f"call-{number}"
            self.notes["synthesised_id"] += 1
        call = Call(number, call_id, raw_path, self)
        self.all.append(call)
        return call, [Fact("call_started", number, id=call_id), *call.named(name)]

    def abandon(self, state: Literal["aborted", "truncated"]) -> Iterator[Fact]:
        for call in self.all:
            yield from call.abandon(state)


class Clocks:
    """Two clocks, in the caller's seconds: bytes prove that the link lives, progress that the model works."""

    def __init__(self, started: float) -> None:
        self.last_bytes = started
        self.last_progress = started

    def heard(self, at: float, *, progress: bool) -> None:
        self.last_bytes = at
        if progress:
            self.last_progress = at

    def silent(self, now: float) -> float:
        return max(0.0, now - self.last_bytes)

    def idle(self, now: float) -> float:
        return max(0.0, now - self.last_progress)
