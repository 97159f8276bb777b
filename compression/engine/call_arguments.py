"""Arguments of a tool call made shorter: long texts in them keep their beginning and a little of their end.

Keys, numbers, flags and short texts (paths, names) stay byte for byte, and so does everything between them: long
text leaves are cut where they stand, nothing is written anew. What is no JSON is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from compression.engine.units import Count

SMALLEST_CUT = 160
"""Characters that a cut text keeps at least; texts up to twice as long are never cut."""

_TAIL = 0.2
_LINE_BREAKS = frozenset(("\\n", "\\u000a", "\\u000A"))
_BLANKS = _LINE_BREAKS | {" ", "\\t", "\\r"}
_STEP = 0.75
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_KEY_FOLLOWS = re.compile(r"[ \t\r\n]*:")
# One character of a text as it is written in JSON; a pair of surrogates is one.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_ESCAPED_LETTER = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A text between its quotation marks: where it stands, and its characters as they are written."""

    start: int
    end: int
    characters: tuple[str, ...]


def shortened(arguments: str, limit_tokens: int, count: Count, address: str) -> str | None:
    """The arguments with their largest texts cut until they cost ``limit_tokens``, or as near as cuts lead.

    None when they are within the limit, no JSON, or cannot be made shorter in tokens and in bytes. Each cut says
    how many characters are missing and the address of the original.
    """
    before = count([arguments])[0]
    if before <= limit_tokens or not _is_json(arguments):
        return None
    escaped = arguments.isascii() and bool(_ESCAPED_LETTER.search(arguments))
    leaves = _leaves(arguments)
    longest = max((len(leaf.characters) for leaf in leaves), default=0)
    level = int(longest * _STEP)
    made, after = arguments, before
    while after > limit_tokens and longest > 2 * SMALLEST_CUT:
        level = max(level, SMALLEST_CUT)
        made = _cut(arguments, leaves, level, address, escaped)
        after = count([made])[0]
        if level == SMALLEST_CUT:
            break
        level = int(level * _STEP)
    if after >= before or len(made.encode()) >= len(arguments.encode()):
        return None
    return made


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _leaves(arguments: str) -> list[_Leaf]:
    """The texts that may be cut; keys are not among them."""
    return [
        _Leaf(match.start() + 1, match.end() - 1, tuple(_CHARACTER.findall(match.group()[1:-1])))
        for match in _STRING.finditer(arguments)
        if match.end() - match.start() > 2 * SMALLEST_CUT and not _KEY_FOLLOWS.match(arguments, match.end())
    ]


def _cut(arguments: str, leaves: list[_Leaf], level: int, address: str, escaped: bool) -> str:
    """Every text that is longer than ``level`` and worth a cut keeps about that many characters."""
    pieces: list[str] = []
    at = 0
    for leaf in leaves:
        size = len(leaf.characters)
        if size <= level or size <= 2 * SMALLEST_CUT:
            continue
        tail = int(level * _TAIL)
        first, last = _head_end(leaf.characters, level - tail), _tail_start(leaf.characters, size - tail)
        note = f"… [{last - first:,} characters left out · original {address}] …"
        if escaped:
            note = json.dumps(note)[1:-1]
        kept = "".join((*leaf.characters[:first], note, *leaf.characters[last:]))
        if len(kept) < leaf.end - leaf.start:
            pieces += (arguments[at : leaf.start], kept)
            at = leaf.end
    return "".join((*pieces, arguments[at:]))


def _head_end(characters: Sequence[str], limit: int) -> int:
    """Where the beginning ends: after a whole line, else after a whole word, so that no name is cut in two."""
    for breaks in (_LINE_BREAKS, _BLANKS):
        for at in range(limit, limit // 2, -1):
            if characters[at - 1] in breaks:
                return at
    return limit


def _tail_start(characters: Sequence[str], start: int) -> int:
    """Where the end begins: at a whole line, else at a whole word."""
    for breaks in (_LINE_BREAKS, _BLANKS):
        for at in range(start, (start + len(characters)) // 2):
            if characters[at - 1] in breaks:
                return at
    return start
