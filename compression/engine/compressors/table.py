"""Tables: header, number of rows, what each column holds, the first and the last rows.

Rows are shown as they were printed, runs of padding narrowed to two spaces. What stands outside a
table (a title, ``(400 rows)``) is kept before further rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compression.engine.compressors import code_output
from compression.engine.compressors.columns import describe
from compression.engine.readers.tables import Table, parse
from compression.engine.tool_output import ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

FIRST = 5
LAST = 3
LONGEST_ROW = 400

_PADDING = re.compile(r"(?<=\S)(?: {3,}|\t+ *)(?=\S)")
_RULE = re.compile(r"^[\s|+:=-]*$")
_DESCRIBED_COLUMNS = 12


def units(text: str) -> Units:
    source = cleaned(text)
    tables = parse(source.lines)
    if not tables:
        return code_output.units(text)
    found: list[Unit] = []
    taken: set[int] = set()
    for number, table in enumerate(tables):
        found += _table_units(source, table, number * 10, taken)
    for index, line in enumerate(source.lines):
        if index not in taken and not _RULE.match(line[:400]):
            taken.add(index)
            found.append(Unit(_row(line), "must" if len(line) < 80 else "should", index, 40, "note", index, 1))
    rules = len(source.lines) - len(taken)
    # Rules and blank lines carry nothing: they belong to the line before them, not to the omissions.
    return units_of(source, _with_rules(found, taken, len(source.lines)) if rules else found)


def _table_units(source: ToolOutput, table: Table, rank: int, taken: set[int]) -> list[Unit]:
    lines = source.lines
    header = Unit(_row(lines[table.header]), "must", table.header, rank, "header", table.header, 1)
    taken.add(table.header)
    rows, columns = counted(len(table.rows)), counted(len(table.names))
    summary = (
        f"{rows} {'row' if len(table.rows) == 1 else 'rows'}, {columns} {'column' if columns == '1' else 'columns'}"
    )
    found = [header, Unit(summary, "must", table.header, rank + 1, "row count", table.header, 0, (rows, columns))]
    worth: dict[int, tuple[Tier, int, str]] = {}
    for position in range(len(table.rows)):
        if position < FIRST:
            worth[position] = ("must", rank + 3, "first row")
        elif position >= len(table.rows) - LAST:
            worth[position] = ("must", rank + 3, "last row")
    for number, name in enumerate(table.names):
        column = describe(name, [row.cells[number] if number < len(row.cells) else "" for row in table.rows])
        numeric = bool(column.extremes)
        tier: Tier = "must" if numeric and number < _DESCRIBED_COLUMNS else "should"
        found.append(Unit(column.line, tier, table.header, rank + 2, "column", table.header, 0, column.counts))
        for position in column.extremes:
            worth.setdefault(position, ("should", rank + 4, "extreme row"))
        for position in column.rare:
            worth.setdefault(position, ("should", rank + 5, "rare row"))
    ordinary: tuple[Tier, int, str] = ("may", rank, "row")
    for position, row in enumerate(table.rows):
        tier, turn, label = worth.get(position, ordinary)
        shown = _row(" ".join(lines[row.first : row.first + row.lines]))
        found.append(Unit(shown, tier, row.first, turn, label, row.first, row.lines))
        taken.update(range(row.first, row.first + row.lines))
    return found


def _row(line: str) -> str:
    return clip(_PADDING.sub("  ", clip(line, 2 * LONGEST_ROW)).rstrip(), LONGEST_ROW)


def _with_rules(found: Sequence[Unit], taken: set[int], total: int) -> list[Unit]:
    widened: list[Unit] = []
    for unit in found:
        end = unit.first + unit.lines
        while unit.lines and end < total and end not in taken:
            end += 1
        widened.append(unit._replace(lines=end - unit.first) if unit.lines else unit)
    return widened
