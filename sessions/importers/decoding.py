"""Bytes to JSON values: the fast way for good lines, and recovery for damaged ones.

Knows what writers do to logs (two values on a line, a record cut off by the next one, runs of
NUL, lone surrogates, broken UTF-8). Knows no format, no file and no counters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

_RECORD_START = re.compile(r'\{\s*"(?:parentUuid|type|timestamp|role|uuid|sessionId|id|record_type|messageId)"\s*:')
_MOST_RESTARTS = 200
_MOST_RETRIED_CHARACTERS = 64 * 1024 * 1024
_LONGEST_INTEGER = 300  # digits; int() refuses 4300, and no count needs as many


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONGEST_INTEGER else float(digits)


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


class Undecodable(ValueError):
    """Not one complete JSON value."""


@dataclass(slots=True)
class Recovered:
    """What a damaged line held: its complete values, and how many pieces were given up, by reason."""

    values: list[Any] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    repaired_text: bool = False


def decode_text(raw: bytes) -> str:
    """UTF-8 with broken bytes replaced; surrogates that were written one by one are joined into their character."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        try:
            return join_surrogates(raw.decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            return raw.decode("utf-8", "replace")


def join_surrogates(text: str) -> str:
    """Pairs become their character, halves without a partner U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def decode_value(raw: bytes | str) -> Any:
    """One complete JSON value. Raises Undecodable, and nothing else, for anything that is not."""
    try:
        return orjson.loads(raw)
    except ValueError:
        text = decode_text(raw) if isinstance(raw, bytes) else raw
        try:
            value, end = _decode_at(text, 0)
        except ValueError as error:
            raise Undecodable(str(error)) from None
        if text[end:].strip():
            raise Undecodable(f"more text after the value, at character {end}") from None
        return value


def recover(raw: bytes) -> Recovered:
    """All complete values of a line that is not exactly one value.

    After a break the next record on the line is taken only when everything from there to the end of
    the line is complete: a block inside the cut-off record would otherwise pass for a record.
    """
    found = Recovered()
    if b"\x00" in raw:
        raw = raw.replace(b"\x00", b"")
        found.repaired_text = True
    text = decode_text(raw)
    if "\ufffd" in text and b"\xef\xbf\xbd" not in raw:
        found.repaired_text = True
    position = 0
    while (position := _skip_space(text, position)) < len(text):
        try:
            value, position = _decode_at(text, position)
        except ValueError as error:
            found.lost.append("nested too deeply" if isinstance(error.__cause__, RecursionError) else "damaged record")
            found.values.extend(_restart(text, position + 1))
            break
        found.values.append(value)
    return found


def _restart(text: str, position: int) -> list[Any]:
    retried = 0
    for count, match in enumerate(_RECORD_START.finditer(text, position)):
        if count >= _MOST_RESTARTS or retried > _MOST_RETRIED_CHARACTERS:
            break
        values: list[Any] = []
        at = match.start()
        try:
            while at < len(text):
                value, at = _decode_at(text, at)
                values.append(value)
                at = _skip_space(text, at)
        except ValueError as error:
            retried += (error.pos if isinstance(error, json.JSONDecodeError) else len(text)) - match.start()
            continue
        return values
    return []


def values_of(text: str) -> Iterator[Any]:
    """The values of a text that holds several in a row; raises ValueError at the first break."""
    position = 0
    while (position := _skip_space(text, position)) < len(text):
        value, position = _decode_at(text, position)
        yield value


def _decode_at(text: str, position: int) -> tuple[Any, int]:
    position = _skip_space(text, position)
    try:
        value, end = _DECODER.raw_decode(text, position)
        return _without_surrogates(value, text, position, end), end
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _without_surrogates(value: Any, text: str, start: int, end: int) -> Any:
    """Escaped halves of surrogate pairs pass every JSON decoder and break databases and pages later."""
    if text.find("\\u", start, end) < 0:
        return value
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.loads(join_surrogates(written), parse_int=_integer)
    return value


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position
