"""Source code: what it imports and defines, every signature with its line number, comments' first lines.

A listing keeps its own line numbers; other text is numbered by its lines, as ``recall`` counts them. Signatures over
several lines stand as one. Bodies come last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compression.engine.compressors import code_output
from compression.engine.readers.languages import OTHER, guess, named
from compression.engine.readers.outlines import Definition, Outline
from compression.engine.readers.syntax import outline
from compression.engine.tool_output import ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, units_of

LONGEST_SIGNATURE = 240
LONGEST_SHOWN = 300
LONGEST_IMPORTS = 400
SAMPLE = 400

# Characters that signatures may take: a share of the text, at least and at most so many. It is what the usual budget
# of a stub holds.
_SHARE, _ROOM, _MOST = 24, 480, 3_200
_LONGEST_CONTENTS = 240

_INSIDE_BRACKETS = re.compile(r"(?<=[(\[]) | (?=[)\]])")
_RANKS = {"package": -20, "type": 0, "function": 0, "call": 20, "constant": 200}


def units(text: str, arguments: str = "") -> Units:
    source = cleaned(text)
    lines = source.lines
    language = named(arguments)
    if language in ("", OTHER):
        language = guess([line[:300].rstrip() for line in lines[:SAMPLE] if line.strip()][:60], language).language
    read = outline(lines, language)
    if not read.definitions and not read.imports:
        return code_output.units(text)
    owned: dict[int, Unit] = {}
    skipped: set[int] = set()
    _claim_definitions(source, read, owned, skipped)
    found = _imports(read)
    if sum(len(unit.text) for unit in owned.values() if unit.tier == "must") > min(
        max(len(text) // _SHARE, _ROOM), _MOST
    ):
        found += _contents(source, read)
    imports = frozenset(read.import_rows)
    filled = sorted(_filled(lines).difference(skipped))
    following = dict(zip(filled, [*filled[1:], len(lines)], strict=False))
    found += [unit._replace(lines=following[index] - index) for index, unit in owned.items() if index in following]

    def ordinary() -> Iterator[Unit]:
        # Lone brackets tell nothing.
        ranks = {index: 50 if index in imports else 90 if _is_bare(lines[index]) else 0 for index in following}
        for index in sorted(following, key=lambda index: (ranks[index], index)):
            if index not in owned:
                unit = _line(source, index, "may", ranks[index], "line")
                yield unit._replace(lines=following[index] - index)

    return units_of(source, found, gaps="once", rest=ordinary)


def _filled(lines: Sequence[str]) -> set[int]:
    return {index for index, line in enumerate(lines) if line and not line.isspace()}


def _is_bare(line: str) -> bool:
    return len(line) < 8 and not any(map(str.isalnum, line))


def _imports(read: Outline) -> list[Unit]:
    if not read.imports:
        return []
    names = clip(", ".join(read.imports), LONGEST_IMPORTS)
    return [Unit(f"imports: {names}", "must", -1, -10, "imports")]


def _contents(source: ToolOutput, read: Outline) -> list[Unit]:
    """Every name that is defined with its line number, what a type holds behind it: for more signatures than a stub
    has room for."""
    named = [found for found in read.definitions if found.name and found.kind in ("type", "function")]
    lines: list[tuple[str, tuple[str, ...]]] = []
    text = ""
    numbers: list[str] = []
    for definition, following in zip(named, [*named[1:], None], strict=True):
        holds = definition.depth == 0 and following is not None and following.depth > 0
        number = source.gutter[definition.first][:-1] if source.gutter else str(definition.first + 1)
        entry = f"{definition.name} {number}"
        after_inner = definition.depth == 0 and ": " in text
        if text and (holds or after_inner or len(text) + len(entry) > _LONGEST_CONTENTS):
            lines.append((text, tuple(numbers)))
            text, numbers = "", []
        text += f"{', ' if text and not text.endswith(': ') else ''}{entry}{': ' if holds else ''}"
        numbers.append(number)
    if text:
        lines.append((text, tuple(numbers)))
    return [Unit(line.removesuffix(": "), "must", -1, -9, "contents", counts=counts) for line, counts in lines]


def _claim_definitions(source: ToolOutput, read: Outline, owned: dict[int, Unit], skipped: set[int]) -> None:
    for definition in read.definitions:
        if definition.first in owned or definition.first in skipped:
            continue
        owned[definition.first] = _signature(source, definition)
        skipped.update(range(definition.first + 1, definition.end))
    for definition in read.definitions:
        row = definition.doc
        if row >= 0 and row not in owned and row not in skipped:
            owned[row] = _line(source, row, "should", 100 + definition.depth, "documentation")


def _signature(source: ToolOutput, definition: Definition) -> Unit:
    first, end = definition.first, definition.end
    parts = [source.lines[first].rstrip(), *(source.lines[row].strip() for row in range(first + 1, end))]
    local = definition.kind == "constant"
    tier: Tier = "should" if local or definition.depth > 3 else "must"
    if local and definition.depth:
        tier = "may"
    rank = _RANKS[definition.kind] + definition.depth
    joined = _INSIDE_BRACKETS.sub("", " ".join(parts)) if len(parts) > 1 else parts[0]
    text = clip(joined.removesuffix(" {"), LONGEST_SIGNATURE)
    return _numbered(source, first, text, tier, rank, "signature" if not local else "constant")


def _line(source: ToolOutput, index: int, tier: Tier, rank: int, label: str) -> Unit:
    return _numbered(source, index, clip(source.lines[index].rstrip(), LONGEST_SHOWN), tier, rank, label)


def _numbered(source: ToolOutput, index: int, text: str, tier: Tier, rank: int, label: str) -> Unit:
    """A line with its number: the listing's own, else the one that is counted here."""
    if source.gutter:
        return Unit(source.gutter[index] + text, tier, index, rank, label, index, 1)
    number = str(index + 1)
    return Unit(f"{number}: {text}", tier, index, rank, label, index, 1, (number,))
