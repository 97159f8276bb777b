"""Reading tables as tools print them: Markdown, psql and its like, CSV, TSV, aligned columns.

``parse`` says where rows are and what stands in their cells, or that there is no table. It keeps to
what the lines show and repairs nothing; one row is one line (a CSV cell that holds a line break makes
its row longer).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from compression.engine.tool_output import LINE_LIMIT

_MARKDOWN_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_PSQL_RULE = re.compile(r"^\s*[-+]{3,}\s*$")
_BOX_RULE = re.compile(r"^\s*\+[-=+]{3,}\+\s*$")
_PIP_RULE = re.compile(r"^\s*[-=]{2,}(?: +[-=]{2,})*\s*$")
_WIDE = re.compile(r" {2,}|\t")
_WORD = re.compile(r"\S+(?: \S+)*")
_DIFFSTAT = re.compile(r"\| +\d+ [-+]*$")
_SAMPLE = 200
_DELIMITERS = ("\t", ",", ";", "|")
_MOST_COLUMNS = 200
_MOST_BLOCKS = 40


class Row(NamedTuple):
    first: int
    lines: int
    cells: tuple[str, ...]


class Table(NamedTuple):
    """``header`` is the line with the names; rows lie after it; lines in neither are notes."""

    format: str
    header: int
    names: tuple[str, ...]
    rows: tuple[Row, ...]


def parse(lines: Sequence[str]) -> list[Table]:
    """Every table of ``lines``; [] when they are none."""
    ruled = _ruled(lines)
    if ruled:
        return ruled
    several, everywhere = _in_blocks(lines)
    if len(several) > 1 and everywhere:
        return several
    table = _delimited(lines) or _aligned(lines)
    return [table] if table else several


def _in_blocks(lines: Sequence[str]) -> tuple[list[Table], bool]:
    """Tables with blank lines between them, each under names of its own, when they are most of the text; and whether
    they are all of it."""
    starts = [row for row, line in enumerate(lines) if line.strip() and (row == 0 or not lines[row - 1].strip())]
    found: list[Table] = []
    covered = filled = 0
    if not 1 < len(starts) <= _MOST_BLOCKS:
        return [], False
    for start, following in pairwise([*starts, len(lines)]):
        block = [line for line in lines[start:following] if line.strip()]
        filled += len(block)
        if len(block) < 3 or any(map(str.isdigit, block[0])):
            continue
        table = _delimited(block) or _aligned(block)
        if table is not None and table.header == 0:
            covered += len(block)
            rows = tuple(row._replace(first=row.first + start) for row in table.rows)
            found.append(table._replace(header=start, rows=rows))
    return (found, covered == filled) if 10 * covered >= 6 * filled else ([], False)


def _ruled(lines: Sequence[str]) -> list[Table]:
    """Tables with a line of dashes under their header."""
    tables: list[Table] = []
    end = 0
    for index in range(1, len(lines)):
        if index - 1 < end or "--" not in lines[index][:40] or len(lines[index]) > LINE_LIMIT:
            continue
        found = _ruled_at(lines, index)
        if found:
            tables.append(found)
            end = found.rows[-1].first + 1 if found.rows else index + 1
    return tables


def _ruled_at(lines: Sequence[str], index: int) -> Table | None:
    rule, head = lines[index], lines[index - 1][:LINE_LIMIT]
    if not head.strip():
        return None
    if "|" in head and (_MARKDOWN_RULE.match(rule) or _PSQL_RULE.match(rule) or _BOX_RULE.match(rule)):
        names = _piped(head)
        kind = "markdown" if "|" in rule else "psql"
        rows = []
        for at in range(index + 1, len(lines)):
            if "|" not in lines[at] or not lines[at].strip():
                break
            rows.append(Row(at, 1, _piped(lines[at][:LINE_LIMIT])))
        return Table(kind, index - 1, names, tuple(rows))
    if _PIP_RULE.match(rule) and " " in rule.strip():
        starts = [match.start() for match in re.finditer(r"[-=]+", rule)][:_MOST_COLUMNS]
        rows = []
        for at in range(index + 1, len(lines)):
            if not lines[at].strip():
                break
            rows.append(Row(at, 1, _at_starts(lines[at][:LINE_LIMIT], starts)))
        return Table("columns", index - 1, _at_starts(head, starts), tuple(rows)) if rows else None
    if _PSQL_RULE.match(rule) and "+" not in rule and any(re.match(r"^\(\d+ rows?\)", line) for line in lines[-3:]):
        stop = next(at for at in range(len(lines) - 1, index, -1) if re.match(r"^\(\d+ rows?\)", lines[at]))
        rows = [Row(at, 1, (lines[at][:LINE_LIMIT].strip(),)) for at in range(index + 1, stop)]
        return Table("psql", index - 1, (head.strip(),), tuple(rows))
    return None


def _piped(line: str) -> tuple[str, ...]:
    return tuple(map(str.strip, line.strip().removeprefix("|").removesuffix("|").split("|")))


def _at_starts(line: str, starts: Sequence[int]) -> tuple[str, ...]:
    """Cells by column positions; a cell that outgrew its column takes the rest of its word along."""
    cells = []
    begin = 0
    for following in [*starts[1:], len(line)]:
        end = min(following, len(line))
        while 0 < end < len(line) and line[end - 1] != " ":
            end += 1
        cells.append(line[begin:end].strip())
        begin = max(begin, end)
    return tuple(cells)


def _delimited(lines: Sequence[str]) -> Table | None:
    sample = [line[:LINE_LIMIT] for line in lines[:_SAMPLE] if line.strip()]
    if len(sample) < 3:
        return None
    for delimiter in _DELIMITERS:
        if sum(delimiter in line for line in sample) < 0.9 * len(sample) - 2:
            continue
        table = _split(lines, sample, delimiter)
        if table:
            return table
    return None


def _split(lines: Sequence[str], sample: Sequence[str], delimiter: str) -> Table | None:
    try:
        widths = Counter(len(record) for record in csv.reader(sample, delimiter=delimiter))
        width, votes = widths.most_common(1)[0]
        if width < 2 or width > _MOST_COLUMNS or votes < 0.9 * sum(widths.values()):
            return None
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
        rows: list[Row] = []
        at = 0
        for record in reader:
            if len(record) == width:
                rows.append(Row(at, reader.line_num - at, tuple(record)))
            at = reader.line_num
    except csv.Error:
        return None
    names = rows[0].cells
    cells = [cell.strip() for row in rows[:20] for cell in row.cells]
    if any(len(name) > 60 for name in names) or sum(map(len, cells)) > 40 * len(cells):
        return None
    if delimiter == "," and sum(" " in cell and len(cell) > 30 for cell in cells) > 0.3 * len(cells):
        return None
    if _looks_like_prose_or_code(sample, delimiter):
        return None
    indented = sum(not row.cells[0].strip() for row in rows)
    if 2 * indented > len(rows) or _DIFFSTAT.search(sample[0]):
        return None
    return Table("tsv" if delimiter == "\t" else "csv", rows[0].first, names, tuple(rows[1:]))


def _looks_like_prose_or_code(sample: Sequence[str], delimiter: str) -> bool:
    """Commas in sentences are followed by a space, statements end in brackets or semicolons."""
    text = "\n".join(sample)
    spaced = delimiter in ",;" and text.count(f"{delimiter} ") > 0.8 * text.count(delimiter)
    statements = sum(line.rstrip()[-1:] in "{}();," for line in sample)
    return (spaced and any(line.startswith((" ", "\t")) for line in sample)) or statements > 0.5 * len(sample)


def _aligned(lines: Sequence[str]) -> Table | None:
    """``docker ps``, ``kubectl get``: a header whose words begin where the cells begin."""
    start = next((index for index, line in enumerate(lines[:5]) if _WIDE.search(line.strip()[:LINE_LIMIT])), None)
    if start is None or len(lines) - start < 4:
        return None
    header = lines[start][:LINE_LIMIT].expandtabs()
    if not header[:1].isalpha() or ":" in header or "//" in header:
        return None
    starts = [match.start() for match in _WORD.finditer(header)]
    if not 2 <= len(starts) <= _MOST_COLUMNS:
        return None
    body = [
        (at, line[:LINE_LIMIT].expandtabs()) for at, line in enumerate(lines[start + 1 :], start + 1) if line.strip()
    ]
    fitting = sum(_fits(line, starts) for _, line in body[:_SAMPLE])
    if fitting < 0.8 * len(body[:_SAMPLE]):
        return None
    rows = tuple(Row(at, 1, _at_starts(line, starts)) for at, line in body)
    return Table("columns", start, _at_starts(header, starts), rows)


def _fits(line: str, starts: Sequence[int]) -> bool:
    inside = [start for start in starts[1:] if start < len(line)]
    held = sum(line[start - 1] == " " and line[start] != " " for start in inside)
    return bool(inside) and line[0] != " " and held >= max(1, 0.6 * len(inside))
