"""JSON as bytes: where each value stands in a document, so that one can be replaced and all else stays as it was.

A value is looked into only when it is asked for, one level at a time; deep or odd documents cost no more than their
length. Numbers, escapes, the order of keys and blanks are never written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import orjson

Kind = Literal["object", "array", "string", "other"]
_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(_STRING + rb"|[\[\]{}]", re.DOTALL)
_SCALAR = re.compile(_STRING + rb"|[^\s,\[\]{}\":]+", re.DOTALL)
_BLANK = re.compile(rb"[ \t\r\n]*")
_BETWEEN = re.compile(rb"[ \t\r\n,]*")
_NAME = re.compile(rb"[ \t\r\n,]*(" + _STRING + rb")[ \t\r\n]*:[ \t\r\n]*", re.DOTALL)
_CLOSED = ord("]")
_KINDS: dict[int, Kind] = {ord("{"): "object", ord("["): "array", ord('"'): "string"}


class NoJson(ValueError):
    """The document is no JSON that a provider would take; says where."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a document: its bytes are ``raw[start:end]``."""

    raw: bytes
    start: int
    end: int

    @property
    def kind(self) -> Kind:
        return _KINDS.get(self.raw[self.start], "other")

    @property
    def source(self) -> bytes:
        """The value's own bytes."""
        return self.raw[self.start : self.end]

    def decoded(self) -> Any:
        """The value as Python has it."""
        return orjson.loads(self.source)

    def text(self) -> str | None:
        """The text of a string; None for anything else."""
        if self.kind != "string":
            return None
        found = self.decoded()
        assert isinstance(found, str)
        return found

    def members(self) -> dict[str, Value]:
        """The members of an object, none of anything else. Of a key that stands twice the last one counts."""
        if self.kind != "object":
            return {}
        raw, at = self.raw, self.start + 1
        found: dict[str, Value] = {}
        while (name := _NAME.match(raw, at)) is not None:
            at = _end_of(raw, name.end())
            found[orjson.loads(name[1])] = Value(raw, name.end(), at)
        return found

    def items(self) -> list[Value]:
        """The items of an array, none of anything else."""
        if self.kind != "array":
            return []
        raw, found = self.raw, []
        at = _skip(_BETWEEN, raw, self.start + 1)
        while raw[at] != _CLOSED:
            end = _end_of(raw, at)
            found.append(Value(raw, at, end))
            at = _skip(_BETWEEN, raw, end)
        return found


def parse(raw: bytes) -> Value:
    """The whole document, checked once. NoJson says where it breaks off."""
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise NoJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    start = _skip(_BLANK, raw, 0)
    return Value(raw, start, _end_of(raw, start))


@dataclass(frozen=True, slots=True)
class Splice:
    """``raw[start:end]`` becomes ``new``."""

    start: int
    end: int
    new: bytes


def spliced(raw: bytes, splices: Iterable[Splice], start: int = 0, end: int | None = None) -> bytes:
    """``raw[start:end]`` with those splices that lie in it. They must not overlap."""
    end = len(raw) if end is None else end
    pieces: list[bytes] = []
    at = start
    for splice in sorted(splices, key=lambda splice: (splice.start, splice.end)):
        if splice.start < start or splice.end > end:
            continue
        if splice.start < at:
            raise AssertionError("two edits of the same bytes")
        pieces += (raw[at : splice.start], splice.new)
        at = splice.end
    pieces.append(raw[at:end])
    return b"".join(pieces)


def _skip(pattern: re.Pattern[bytes], raw: bytes, at: int) -> int:
    match = pattern.match(raw, at)
    assert match is not None
    return match.end()


def _end_of(raw: bytes, start: int) -> int:
    """Where the value ends that begins at ``start``."""
    if raw[start] not in b"[{":
        return _skip(_SCALAR, raw, start)
    depth = 0
    for token in _TOKEN.finditer(raw, start):
        first = raw[token.start()]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
            if not depth:
                return token.end()
    raise AssertionError("the document was checked before")
