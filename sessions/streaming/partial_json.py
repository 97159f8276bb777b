"""JSON that arrives in pieces: decoded text of strings that are still open, with their paths.

Each character is looked at once, however the text was cut. What a string says is handed out as it comes, half escapes
and half surrogate pairs wait for their rest; numbers and literals stay open until something follows them. Nothing is
repaired: a document that is not whole is never called whole, and after the first thing that is not JSON the scanner
only counts (``broken``), so that whoever judges falls back on the raw text.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

Path = tuple[str | int, ...]
Kind = Literal["string", "scalar", "object", "array"]
Flag = Literal["duplicate_key", "raw_control", "invalid_escape", "lone_surrogate"]

DEEPEST = 64
LONGEST = 64_000_000
"""Characters of a document."""

LONGEST_SCALAR = 1_000
"""Characters of a number: Python itself refuses to read integers of more than some thousand digits."""

REPLACEMENT = "\ufffd"

_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]+')
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[-+.0-9A-Za-z]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"true": True, "false": False, "null": None}
_HEX = re.compile("[0-9a-fA-F]{1,4}")


class Piece(NamedTuple):
    """What one ``feed`` added at one path.

    ``text`` is what a string gained, ``closed`` says that the value at the path is complete, and only then ``value`` is
    it (whole strings and containers too). A path that opens again after it closed is a duplicate key: the later value
    replaces the earlier one.
    """

    path: Path
    text: str = ""
    closed: bool = False
    value: Any = None
    kind: Kind = "string"


class Broken(NamedTuple):
    """Where the text stopped to be JSON: characters from its start, and what was wrong there."""

    at: int
    why: str


class Ending(NamedTuple):
    """Whether the document is whole when nothing more comes.

    ``pieces`` holds a number or literal that only the end closed. ``empty``: there was nothing but white space, which
    providers send for a tool without arguments; it counts as whole and as ``{}``.
    """

    whole: bool
    empty: bool
    why: str
    pieces: tuple[Piece, ...] = ()


_State = Literal["value", "first_value", "key", "first_key", "colon", "after", "string", "scalar", "done", "broken"]


class PartialJson:
    """A scanner of one document; ``feed`` it until ``finish``."""

    __slots__ = (
        "_buffer",
        "_escape",
        "_high",
        "_in_key",
        "_keys",
        "_path",
        "_read",
        "_scalar",
        "_stack",
        "_state",
        "_value",
        "broken",
        "flags",
    )

    def __init__(self) -> None:
        self.broken: Broken | None = None
        self.flags: set[Flag] = set()
        self._state: _State = "value"
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str | int] = []
        self._path: Path = ()
        self._buffer: list[str] = []
        self._in_key = False
        self._escape = ""
        self._high = ""
        self._scalar = ""
        self._read = 0
        self._value: Any = None

    @property
    def complete(self) -> bool:
        """The top-level value is closed, and nothing but white space has followed. A number at the top never is before
        ``finish``."""
        return self._state == "done"

    @property
    def value(self) -> Any:
        """The top-level value as far as it is closed: open containers hold what is complete in them, open strings and
        numbers are not there yet. Empty text is ``{}``."""
        if self._state == "value" and not self._stack and self.broken is None:
            return {}
        return self._stack[0] if self._stack else self._value

    def feed(self, text: str) -> list[Piece]:
        """What the text added, in its order; at most one piece for the open string."""
        if self._state == "string" and not self._in_key and not self._escape and not self._high:
            run = _PLAIN.match(text)
            if run and run.end() == len(text) and self._read + len(text) <= LONGEST:
                self._read += len(text)
                self._buffer.append(text)
                return [Piece(self._path, text)]
        pieces: list[Piece] = []
        if self._state != "broken" and self._read + len(text) > LONGEST:
            self._break(0, f"more than {LONGEST:,} characters")
        position, end = 0, len(text)
        while position < end and self._state != "broken":
            if self._state == "string":
                position = self._string(text, position, pieces)
            elif self._state == "scalar":
                position = self._continue_scalar(text, position, pieces)
            else:
                position = self._structure(text, position, pieces)
        self._read += end
        return pieces

    def finish(self) -> Ending:
        """Says whether the document is whole; nothing may be fed afterwards."""
        pieces: list[Piece] = []
        if self._state == "scalar" and not self._stack:
            self._close_scalar(0, pieces)
        if self.broken is not None:
            return Ending(False, False, self.broken.why)
        if self._state == "done":
            return Ending(True, False, "", tuple(pieces))
        if self._state == "value" and not self._stack:
            return Ending(True, True, "")
        where = "a string" if self._state == "string" else "an object or array" if self._stack else "a value"
        return Ending(False, False, f"the text ends inside {where}")

    def _break(self, position: int, why: str) -> None:
        self.broken = Broken(self._read + position, why)
        self._state = "broken"

    def _structure(self, text: str, position: int, pieces: list[Piece]) -> int:
        """Between values: one significant character."""
        space = _SPACE.match(text, position)
        position = space.end() if space else position
        if position == len(text):
            return position
        char, state = text[position], self._state
        if state == "done":
            self._break(position, "something follows the document")
        elif state == "colon":
            if char == ":":
                self._state = "value"
            else:
                self._break(position, "a key without a colon")
        elif state == "after":
            self._after(char, position, pieces)
        elif state in ("key", "first_key"):
            if char == '"':
                self._open_string(in_key=True)
            elif char == "}" and state == "first_key":
                self._close_container(pieces)
            else:
                self._break(position, "a key without double quotes")
        elif char == "]" and state == "first_value":
            self._close_container(pieces)
        else:
            return self._open_value(char, position)
        return position + 1

    def _after(self, char: str, position: int, pieces: list[Piece]) -> None:
        container = self._stack[-1]
        if char == "," and isinstance(container, dict):
            self._state = "key"
        elif char == ",":
            self._keys[-1] = len(container)
            self._state = "value"
        elif char == ("}" if isinstance(container, dict) else "]"):
            self._close_container(pieces)
        else:
            self._break(position, "values without a comma between them")

    def _open_value(self, char: str, position: int) -> int:
        if char == '"':
            self._open_string(in_key=False)
        elif char in "{[":
            if len(self._stack) == DEEPEST:
                self._break(position, f"nested deeper than {DEEPEST}")
                return position
            self._stack.append({} if char == "{" else [])
            self._keys.append("" if char == "{" else 0)
            self._state = "first_key" if char == "{" else "first_value"
        elif char in "-0123456789tfn":
            self._state, self._scalar = "scalar", ""
            return position
        else:
            self._break(position, "no JSON value")
            return position
        return position + 1

    def _open_string(self, *, in_key: bool) -> None:
        self._state, self._in_key, self._buffer = "string", in_key, []
        if not in_key:
            self._path = tuple(self._keys)

    def _string(self, text: str, position: int, pieces: list[Piece]) -> int:
        """Reads on in a string until it closes or the text ends."""
        gained: list[str] = []
        end, closed = len(text), False
        while position < end:
            if self._escape:
                position = self._continue_escape(text, position, gained)
                continue
            if run := _PLAIN.match(text, position):
                if self._high:
                    self._flush_high(gained)
                gained.append(run.group())
                position = run.end()
                continue
            char = text[position]
            position += 1
            if char == "\\":
                short = text[position : position + 1]
                if short in _ESCAPES:
                    self._flush_high(gained)
                    gained.append(_ESCAPES[short])
                    position += 1
                else:
                    self._escape = char
            elif char == '"':
                self._flush_high(gained)
                closed = True
                break
            elif char >= "\ud800":
                self._surrogate(char, gained)
            else:
                self._flush_high(gained)
                self.flags.add("raw_control")
                gained.append(char)
        if gained:
            self._buffer += gained
        elif not closed:
            return position
        if closed and self._in_key:
            self._close_key("".join(self._buffer))
        elif closed:
            value = "".join(self._buffer)
            pieces.append(Piece(self._path, "".join(gained), True, value))
            self._put(value)
        elif gained and not self._in_key:
            pieces.append(Piece(self._path, "".join(gained)))
        return position

    def _continue_escape(self, text: str, position: int, gained: list[str]) -> int:
        """Some more of an escape."""
        if self._escape == "\\":
            char = text[position]
            if char == "u":
                self._escape = "\\u"
                return position + 1
            self._escape = ""
            self._flush_high(gained)
            if char not in _ESCAPES:
                self.flags.add("invalid_escape")
                # The character itself is read again: it may be one that has its own rules.
                gained.append("\\")
                return position
            gained.append(_ESCAPES[char])
            return position + 1
        digits = _HEX.match(text, position, position + 6 - len(self._escape))
        if digits is None:
            self.flags.add("invalid_escape")
            self._flush_high(gained)
            gained.append(self._escape)
            self._escape = ""
            return position
        self._escape += digits.group()
        if len(self._escape) == 6:
            char, self._escape = chr(int(self._escape[2:], 16)), ""
            if "\ud800" <= char <= "\udfff":
                self._surrogate(char, gained)
            else:
                if self._high:
                    self._flush_high(gained)
                gained.append(char)
        return digits.end()

    def _surrogate(self, char: str, gained: list[str]) -> None:
        """A half of a pair, escaped or raw (the document itself may have been cut between escapes of an outer one)."""
        if char < "\udc00":
            self._flush_high(gained)
            self._high = char
        elif self._high:
            gained.append(chr(0x10000 + ((ord(self._high) - 0xD800) << 10) + ord(char) - 0xDC00))
            self._high = ""
        else:
            self.flags.add("lone_surrogate")
            gained.append(REPLACEMENT)

    def _flush_high(self, gained: list[str]) -> None:
        if self._high:
            self.flags.add("lone_surrogate")
            gained.append(REPLACEMENT)
            self._high = ""

    def _close_key(self, key: str) -> None:
        if key in self._stack[-1]:
            self.flags.add("duplicate_key")
        self._keys[-1] = key
        self._state = "colon"

    def _continue_scalar(self, text: str, position: int, pieces: list[Piece]) -> int:
        run = _SCALAR.match(text, position)
        if run is None:
            self._close_scalar(position, pieces)
            return position
        if len(self._scalar) + len(run.group()) > LONGEST_SCALAR:
            self._break(position, f"a number of more than {LONGEST_SCALAR:,} characters")
            return position
        self._scalar += run.group()
        return run.end()

    def _close_scalar(self, position: int, pieces: list[Piece]) -> None:
        number = _NUMBER.fullmatch(self._scalar)
        value: Any
        if self._scalar in _LITERALS:
            value = _LITERALS[self._scalar]
        elif number:
            value = float(self._scalar) if number.group(1) or number.group(2) else int(self._scalar)
        else:
            self._break(position, "no JSON number, true, false or null")
            return
        pieces.append(Piece(tuple(self._keys), "", True, value, "scalar"))
        self._put(value)

    def _close_container(self, pieces: list[Piece]) -> None:
        container = self._stack.pop()
        self._keys.pop()
        kind: Kind = "object" if isinstance(container, dict) else "array"
        pieces.append(Piece(tuple(self._keys), "", True, container, kind))
        self._put(container)

    def _put(self, value: Any) -> None:
        """Files a closed value in what it belongs to."""
        if not self._stack:
            self._value, self._state = value, "done"
            return
        container = self._stack[-1]
        if isinstance(container, dict):
            container[str(self._keys[-1])] = value
        else:
            container.append(value)
        self._state = "after"
