"""A message as names are looked for in it: its text, whole words and names, worked out once for a text.

The text is what a reader sees: content and the string and number leaves of tool calls' arguments; keys, tool names
and thinking are no text. A live agent sends the same messages with every call: what was read when a message arrived
is read no second time, whichever transcript holds it. Nothing here knows a session.
"""

from __future__ import annotations

import re
from functools import cached_property

import orjson

from compression.engine.identifiers import identifiers, leaves, quoted, readable, unescaped
from compression.engine.shelf import Shelf
from compression.engine.transcript import Message, Part

_WORD = re.compile(r"[A-Za-z0-9_]+")
_PAIR = re.compile(r"(?<![A-Za-z0-9_])(?=([A-Za-z0-9_]++[^A-Za-z0-9_\s]{1,3}+[A-Za-z0-9_]++))")
_SEEN = ("tool_result", "text", "tool_call")
_SHELF_CHARACTERS = 6_000_000


def words(text: str) -> set[str]:
    """Every whole word of a text: what stands between characters that are no ASCII letter, digit or underscore."""
    return set(_WORD.findall(text))


def marks(name: str) -> frozenset[str]:
    """What a text must have to say a name that is no single word: every two neighbouring words with the one to three
    characters between them, no blanks among these; its words when it has no such pairs."""
    return frozenset(_PAIR.findall(name) or words(name))


class Reading:
    """One text. ``tool``: it is a tool's, so quoted names on lines that speak of trouble count too."""

    def __init__(self, text: str, *, tool: bool = False) -> None:
        self.text = text
        self.words = words(text)
        self._tool = tool

    def settle(self) -> None:
        """Work out now what otherwise waits until it is asked for."""
        _ = self.marks, self.names

    @cached_property
    def marks(self) -> frozenset[str]:
        """Its pairs of words and its words."""
        return frozenset(self.words.union(_PAIR.findall(self.text)))

    @cached_property
    def names(self) -> dict[str, str]:
        """The identifiers with their classes, in order of first appearance."""
        found = identifiers(self.text)
        if self._tool:
            for name, kind in quoted(self.text).items():
                found.setdefault(name, kind)
        return found


NOTHING = Reading("")

_shelf: Shelf[tuple[object, ...], Reading] = Shelf(_SHELF_CHARACTERS)


def reading_of(message: Message) -> Reading:
    """A message as names are looked for in it."""
    return _reading(message.parts, message.role == "tool")


def reading_of_part(part: Part) -> Reading:
    """One tool result alone."""
    return _reading((part,), part.kind == "tool_result")


def reading_of_stub(body: str) -> Reading:
    """What stands for a result, its first line left out."""
    key = ("stub", body)
    return _shelf.get(key) or _shelf.put(key, Reading(unescaped(body)), len(body))


def _reading(parts: tuple[Part, ...], tool: bool) -> Reading:
    seen = [part for part in parts if part.kind in _SEEN]
    key = (tool, *((part.kind, part.text) for part in seen))
    known = _shelf.get(key)
    if known is None:
        text = "\n".join(filter(None, map(_text_of, seen)))
        known = _shelf.put(key, Reading(text, tool=tool), sum(len(part.text) for part in seen))
    return known


def _text_of(part: Part) -> str:
    if part.kind == "tool_result":
        return readable(part.text)
    if part.kind == "text":
        return unescaped(part.text)
    try:
        return unescaped("\n".join(leaves(orjson.loads(part.text), keys=False)))
    except orjson.JSONDecodeError:
        return unescaped(part.text)
