"""Search hits: every file with its number of hits, the first hit of each file, then the hits that match best.

A hit is shown with its file, as it was printed. Which hits match best is judged by the words of the query (from the
tool's arguments, never run as a pattern) and by whether the line defines something.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from compression.engine.compressors import code_output
from compression.engine.readers.path_groups import fit_in_full, grouped
from compression.engine.readers.problems import exit_lines
from compression.engine.readers.search_lines import Hit, Search, parse
from compression.engine.tool_output import ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

LONGEST_SHOWN = 240

_QUERY = re.compile(r'"(?:pattern|query|regex|search|q)": ?"((?:[^"\\]|\\.){1,400})"')
_COMMAND = re.compile(r"\b(?:grep|rg|ag|ack)\b([^|;]{1,400})")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_DEFINES = re.compile(
    r"\s*(?:(?:export|public|private|static|async|default|pub|abstract)\s+)*"
    r"(?:def|class|func|fn|function|interface|type|struct|enum|trait|const|var|let)\s+"
)
_COMMENT = re.compile(r"\s*(?://|#|\*|/\*|<!--)")
_MOST_WORDS = 12
# More than all words of a query can be worth.
_DEFINITION, _MOST_DEFINITIONS = 40, 3
_BEST_TURN, _ANY_TURN = 100, 200


def units(text: str, arguments: str = "") -> Units:
    source = cleaned(text)
    search = parse(source)
    if not search.hits and not search.counts:
        return code_output.units(text)
    words = _words(arguments)
    found = [_summary(search), *_files(source, search, len(text))]
    first_of_file: set[str] = set()
    scores = {hit.row: _score(source, hit, words) for hit in search.hits}
    order = sorted(search.hits, key=lambda hit: (-scores[hit.row], hit.row))
    best = max(10, len(order) // 5)
    shown: dict[int, Unit] = {}
    ordinary_hits = []
    for place, hit in enumerate(order):
        if scores[hit.row] >= _DEFINITION and place < _MOST_DEFINITIONS:
            shown[hit.row] = _hit_unit(source, hit, "should", place - _MOST_DEFINITIONS, "definition")
        elif scores[hit.row] > 0 and place < best:
            shown[hit.row] = _hit_unit(source, hit, "should", _BEST_TURN + place, "best hit")
        else:
            ordinary_hits.append((place, hit))
    for hit in search.hits:
        if hit.path not in first_of_file:
            first_of_file.add(hit.path)
            if scores[hit.row] >= _DEFINITION and hit.row in shown:
                continue
            shown[hit.row] = _hit_unit(source, hit, "should", 0, "first hit of a file")
    exits = set(exit_lines(source.lines))
    for index in search.other:
        must = index in exits or len(search.other) <= 3
        shown[index] = _plain(source, index, "must" if must else "should", 50, "note")
    found += [shown[index] for index in sorted(shown)]

    def ordinary() -> Iterator[Unit]:
        for place, hit in ordinary_hits:
            if hit.row not in shown:
                yield _hit_unit(source, hit, "may", place, "hit")
        for index in search.context:
            yield _plain(source, index, "may", 1 << 20, "line around a hit")

    counted_rows = len({path for _, path, _ in search.counts})
    total = len(search.hits) + len(search.context) + len(search.other) + counted_rows
    return units_of(source, found, total=total, gaps="once", rest=ordinary)


def _summary(search: Search) -> Unit:
    files = len({hit.path for hit in search.hits}.union(path for _, path, _ in search.counts))
    total = len(search.hits) + sum(int(amount) for _, _, amount in search.counts)
    amounts = counted(total), counted(files)
    text = f"{amounts[0]} {'hit' if total == 1 else 'hits'} in {amounts[1]} {'file' if files == 1 else 'files'}"
    return Unit(text, "must", -100, -100, "totals", counts=amounts)


def _files(source: ToolOutput, search: Search, size: int) -> list[Unit]:
    """One line a file, or one a directory where that would be too much. Hits of one unnamed file need none."""
    amounts: Counter[str] = Counter(hit.path for hit in search.hits if hit.path)
    for _, path, amount in search.counts:
        amounts[path] += int(amount)
    if not amounts:
        return []
    rows = Counter(path for _, path, _ in search.counts)
    tails = {path: f": {counted(number)}" for path, number in amounts.items()}
    full = [f"{path}{tail}" for path, tail in tails.items()]
    if fit_in_full(full, size):
        lines: list[tuple[str, tuple[str, ...]]] = [(line, (path,)) for line, path in zip(full, tails, strict=True)]
    else:
        lines = grouped({path: f" {counted(number)}" for path, number in amounts.items()})
    return [
        Unit(
            line, "must", -50, -50 + min(turn, 40), "files", 0, sum(rows[path] for path in paths),
            tuple(counted(amounts[path]) for path in paths),
        )
        for turn, (line, paths) in enumerate(lines)
    ]  # fmt: skip


def _words(arguments: str) -> tuple[str, ...]:
    """The words of the query, in order of first appearance."""
    head = arguments[:4_000]
    asked = _QUERY.findall(head) or _COMMAND.findall(head)
    words = dict.fromkeys(word for part in asked for word in _WORD.findall(part.replace("\\b", " ").replace("\\", " ")))
    return tuple(words)[:_MOST_WORDS]


def _score(source: ToolOutput, hit: Hit, words: tuple[str, ...]) -> int:
    line = source.lines[hit.row][hit.start : hit.start + 400]
    tokens = set(_WORD.findall(line)) if words else set()
    whole = sum(word in tokens for word in words)
    defines = bool(_DEFINES.match(line))
    return 2 * whole + _DEFINITION * defines * (whole > 0 or not words) - 2 * bool(_COMMENT.match(line))


def _hit_unit(source: ToolOutput, hit: Hit, tier: Tier, rank: int, label: str) -> Unit:
    line = source.lines[hit.row]
    if not hit.path and source.gutter:
        shown = source.shown(hit.row)
        start = len(shown) - len(line)
    elif line.startswith(hit.path):
        shown, start = line, hit.start
    else:
        shown, start = f"{hit.path}:{line}", hit.start + len(hit.path) + 1
    body = shown[start:].strip()
    shown = clip(f"{shown[:start]}{' ' if shown[start : start + 1].isspace() else ''}{body}", LONGEST_SHOWN)
    return Unit(shown, tier, hit.row, rank, label, hit.row, 1)


def _plain(source: ToolOutput, index: int, tier: Tier, rank: int, label: str) -> Unit:
    return Unit(clip(source.shown(index).rstrip(), LONGEST_SHOWN), tier, index, rank, label, index, 1)
