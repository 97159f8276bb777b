"""Originals and their addresses: what a stub points at, and reading it back.

An address is ``hermes:`` and the first 12 hex digits of the original's sha256, more where two
originals of the same store share them. Where originals are kept is the caller's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256

import orjson

from compression.engine.json_paths import BadPath, values_at
from compression.engine.patterns import BadPattern, compiled

SCHEME = "hermes:"
DIGITS = 12
LONGEST_EXPRESSION = 1_000
"""Characters of a grep or a json_path; no honest one comes near."""

_ADDRESS = re.compile(r"(?:hermes:)?([0-9a-f]{4,64})\Z")


class UnknownAddress(Exception):
    """Nothing is stored under that address here."""


class BadSlice(Exception):
    """The slice that was asked for cannot be read; says why and what is allowed."""


def digest(text: str) -> str:
    """sha256 of a text's UTF-8 bytes, 64 hex digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def address_digits(address: str) -> str:
    """The hex digits of an address; UnknownAddress when it is none."""
    match = _ADDRESS.match(address.strip())
    if match is None:
        raise UnknownAddress(f"{address!r} is no address: write hermes: and 12 or more hex digits")
    return match.group(1)


class Addresses:
    """sha256 -> address: 12 hex digits, more where two originals of one store share them."""

    def __init__(self, digits: int = DIGITS) -> None:
        self._digits = digits
        self._owners: dict[str, str] = {}

    def give(self, digits: str, sha: str) -> None:
        """These digits have meant that original before."""
        self._owners[digits] = sha

    def of(self, sha: str) -> str:
        """The address of an original; the same for the life of this object."""
        for length in range(self._digits, 65):
            if self._owners.setdefault(sha[:length], sha) == sha:
                return SCHEME + sha[:length]
        raise AssertionError("a sha256 has 64 digits")


def resolve(address: str, shas: Iterable[str]) -> str:
    """The sha256 that an address means among ``shas``; UnknownAddress when there is none, or more than one."""
    digits = address_digits(address)
    found = {sha for sha in shas if sha.startswith(digits)}
    if len(found) == 1:
        return found.pop()
    why = "nothing is stored under" if not found else "more than one original begins with"
    raise UnknownAddress(f"{why} {SCHEME}{digits}")


@dataclass(frozen=True, slots=True)
class Slice:
    """What to read of an original. At most one of ``lines`` ("10-40", from 1), ``grep`` (RE2) and ``json_path``."""

    lines: str = ""
    grep: str = ""
    json_path: str = ""
    max_tokens: int | None = None


def _lines(text: str, span: str) -> str:
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", span.strip())
    if match is None or int(match.group(1)) < 1:
        raise BadSlice(f"lines {span!r}: write A-B, counted from 1, as in 10-40")
    first, last = int(match.group(1)), int(match.group(2) or match.group(1))
    rows = text.removesuffix("\n").split("\n")
    if first > last or first > len(rows):
        raise BadSlice(f"lines {span!r}: the original has lines 1-{len(rows)}")
    return "\n".join(rows[first - 1 : last])


def _grep(text: str, pattern: str) -> str:
    try:
        search = compiled(pattern).search
    except BadPattern as error:
        raise BadSlice(f"grep: {error}") from None
    return "\n".join(
        f"{number}:{row}" for number, row in enumerate(text.removesuffix("\n").split("\n"), 1) if search(row)
    )


def _json_path(text: str, path: str) -> str:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise BadSlice("json_path: the original is not JSON; use lines or grep") from None
    try:
        return values_at(document, path)
    except BadPath as error:
        raise BadSlice(f"json_path {path!r}: {error}") from None


def read_slice(text: str, part: Slice, count: Callable[[str], int]) -> str:
    """The slice of an original. BadSlice when it cannot be read.

    ``max_tokens`` leaves whole lines, or the beginning of the first line when that alone is longer.
    """
    if sum(map(bool, (part.lines, part.grep, part.json_path))) > 1:
        raise BadSlice("give one of lines, grep and json_path")
    for name, given in (("lines", part.lines), ("grep", part.grep), ("json_path", part.json_path)):
        if len(given) > LONGEST_EXPRESSION:
            raise BadSlice(f"{name}: {len(given):,} characters are too many, at most {LONGEST_EXPRESSION:,}")
    if part.lines:
        text = _lines(text, part.lines)
    elif part.grep:
        text = _grep(text, part.grep)
    elif part.json_path:
        text = _json_path(text, part.json_path)
    if part.max_tokens is None or count(text) <= part.max_tokens:
        return text
    limit, rows = part.max_tokens, text.split("\n")
    whole = _longest(len(rows), lambda n: count("\n".join(rows[:n])) <= limit)
    if whole:
        return "\n".join(rows[:whole])
    # No token is longer than a few dozen characters, so there is no need to count all of a huge line.
    line = rows[0][: 64 * limit]
    return line[: _longest(len(line), lambda n: count(line[:n]) <= limit)]


def _longest(length: int, fits: Callable[[int], bool]) -> int:
    """The largest n in 0..length that fits, when everything shorter than what fits does too."""
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
