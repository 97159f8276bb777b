"""What grep and rg print: hits with file and line, lines around hits, counts per file.

Knows ``path:line:text``, ``path:text``, ``path:count``, rg's headings, and numbered lines of one file. Lines of
compilers (``path:line:column: error:``) are told apart by ``reports_problems``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from compression.engine.tool_output import ToolOutput

_HIT = re.compile(r"(?P<path>[^\s:][^:\n]{0,300}?):(?P<line>\d{1,7}):(?!\d+: (?:error|warning|note))")
_CONTEXT = re.compile(r"(?P<path>[^\s:][^:\n]{0,300}?)-(?P<line>\d{1,7})-")
_NUMBERED = re.compile(r"(?P<line>\d{1,7})(?P<mark>[:-])")
_PATH_ONLY_HIT = re.compile(
    r"(?P<path>(?:[\w.@~+-]{0,80}/){0,30}[\w.@+-]{0,80}\.\w{1,10}|(?:[\w.@~+-]{0,80}/){1,30}[\w.@+-]{1,80}):(?!//)"
)
_COUNT = re.compile(r"(?P<path>[^\s:]{1,300}):(?P<count>\d{1,9})$")
_HEADING = re.compile(r"[^\s:][^:\s]{0,300}[./][^:\s]{0,300}$")
_PROBLEM = re.compile(
    r"[^\s:(]{1,300}(?::\d+(?::\d+)?:|\(\d+,\d+\):) ?(?:fatal )?(?:error|warning|note|info|[A-Z]{1,3}\d{2,4})\b"
)
_LOOKED_AT = 1_200


class Hit(NamedTuple):
    """``path`` is empty for hits of one unnamed file; ``text`` starts at ``start``."""

    row: int
    path: str
    line: str
    start: int


class Search(NamedTuple):
    """``context`` rows belong to hits; ``counts`` = (row, path, count as printed); ``other`` rows are neither."""

    hits: tuple[Hit, ...]
    context: tuple[int, ...]
    counts: tuple[tuple[int, str, str], ...]
    other: tuple[int, ...]


def reports_problems(lines: Sequence[str]) -> bool:
    """Whether lines with places are a compiler's or a linter's rather than a search's."""
    return 4 * sum(1 for line in lines if _PROBLEM.match(line)) >= len(lines)


def is_one_file(source: ToolOutput) -> bool:
    """Whether the numbers before the lines are the search's own: they have gaps, as pages of a file have not."""
    numbers = [int(mark[:-1]) for mark in source.gutter if mark.endswith(":")]
    return bool(numbers) and numbers[-1] - numbers[0] >= len(numbers) + 2


def parse(source: ToolOutput) -> Search:
    """Hits in the order of the output, O(lines)."""
    lines = source.lines
    if is_one_file(source):
        rows = [index for index, line in enumerate(lines) if line.strip()]
        return Search(tuple(Hit(i, "", source.gutter[i][:-1], 0) for i in rows), (), (), ())
    hits: list[Hit] = []
    context: list[int] = []
    other: list[int] = []
    counts: list[tuple[int, str, str]] = []
    heading = ""
    for index, full in enumerate(lines):
        line = full[:_LOOKED_AT]
        if not line.strip() or line == "--":
            heading = heading if line == "--" else ""
            continue
        numbered = _NUMBERED.match(line)
        if numbered:
            if numbered["mark"] == ":":
                hits.append(Hit(index, heading, numbered["line"], numbered.end()))
            else:
                context.append(index)
            continue
        match = _HIT.match(line)
        around = _CONTEXT.match(line)
        if match and not (around and around.end() < match.end("path")):
            hits.append(Hit(index, match["path"], match["line"], match.end()))
        elif around:
            context.append(index)
        elif amount := _COUNT.match(line):
            counts.append((index, amount["path"], amount["count"]))
        elif bare := _PATH_ONLY_HIT.match(line):
            hits.append(Hit(index, bare["path"], "", bare.end()))
        elif _HEADING.match(line) and index + 1 < len(lines) and _NUMBERED.match(lines[index + 1][:20]):
            heading = line
        else:
            other.append(index)
    return Search(tuple(hits), tuple(context), tuple(counts), tuple(other))
