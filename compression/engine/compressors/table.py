"""Tables: header, number of rows, what each column holds, the first and the last rows.

Rows are shown as they were printed, runs of padding narrowed to two spaces. What stands outside a
table (a title, ``(400 rows)``) is kept before further rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compression.engine.compressors import code_output
from compression.engine.compressors.columns import describe
from compression.engine.readers.problems import BAD_STATE
from compression.engine.readers.tables import Row, Table, parse
from compression.engine.tool_output import ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

FIRST = 5
LAST = 3
LONGEST_ROW = 400

_PADDING = re.compile(r"(?<=\S)(?: {3,}|\t+ *)(?=\S)")
_RULE = re.compile(r"^[\s|+:=-]*$")
_DESCRIBED_COLUMNS = 12
_MOST_TROUBLED = 4


def units(text: str) -> Units:
    source = cleaned(text)
    tables = parse(source.lines)
    if not tables:
        return code_output.units(text)
    total = len(source.lines)
    taken: set[int] = set()
    for table in tables:
        taken.add(table.header)
        for row in table.rows:
            taken.update(range(row.first, row.first + row.lines))
    notes = [index for index in range(total) if index not in taken and not _RULE.match(source.lines[index][:400])]
    taken.update(notes)
    found: list[Unit] = []
    plain: list[Row] = []
    for number, table in enumerate(tables):
        found += _table_units(source, table, number * 10, plain)
    for index in notes:
        line = source.lines[index]
        found.append(Unit(_row(line), "must" if len(line) < 80 else "should", index, 40, "note", index, 1))

    def ordinary() -> Iterator[Unit]:
        for row in plain:
            yield _with_rules(_row_unit(source, row, "may", 0, "row"), taken, total)

    return units_of(source, [_with_rules(unit, taken, total) for unit in found], gaps="once", rest=ordinary)


def _table_units(source: ToolOutput, table: Table, rank: int, plain: list[Row]) -> list[Unit]:
    """What stands out in a table; the rows that do not are added to ``plain``."""
    lines = source.lines
    header = Unit(_row(lines[table.header]), "must", table.header, rank, "header", table.header, 1)
    rows, columns = counted(len(table.rows)), counted(len(table.names))
    summary = (
        f"{rows} {'row' if len(table.rows) == 1 else 'rows'}, {columns} {'column' if columns == '1' else 'columns'}"
    )
    found = [header, Unit(summary, "must", table.header, rank + 1, "row count", table.header, 0, (rows, columns))]
    worth: dict[int, tuple[Tier, int, str]] = {}
    last = len(table.rows) - 1
    described = [
        describe(name, [row.cells[number] if number < len(row.cells) else "" for row in table.rows])
        for number, name in enumerate(table.names)
    ]
    for position in _troubled(table):
        worth[position] = ("must", rank + 2, "row of trouble")
    for position in range(len(table.rows)):
        if position < FIRST:
            worth.setdefault(position, ("must", rank + (5 if position else 3), "first row"))
        elif position > last - LAST:
            worth.setdefault(position, ("must", rank + (5 if position < last else 3), "last row"))
    for number, column in enumerate(described):
        telling = bool(column.extremes or column.rare) and number < _DESCRIBED_COLUMNS
        tier: Tier = "must" if telling else "should"
        found.append(Unit(column.line, tier, table.header, rank + 4, "column", table.header, 0, column.counts))
        for position in column.extremes:
            worth.setdefault(position, ("should", rank + 6, "extreme row"))
        for position in column.rare:
            worth.setdefault(position, ("should", rank + 7, "rare row"))
    found += [_row_unit(source, table.rows[position], *worth[position]) for position in sorted(worth)]
    plain += [row for position, row in enumerate(table.rows) if position not in worth]
    return found


def _troubled(table: Table) -> list[int]:
    """Rows with a cell that tells of trouble, when that is not what many of them do."""
    cells = {cell for row in table.rows for cell in row.cells if len(cell) < 60}
    bad = {cell for cell in cells if BAD_STATE.fullmatch(cell) and not cell.isdigit()}
    found = [position for position, row in enumerate(table.rows) if not bad.isdisjoint(row.cells)] if bad else []
    return found[:_MOST_TROUBLED] if 4 * len(found) <= len(table.rows) else []


def _row_unit(source: ToolOutput, row: Row, tier: Tier, rank: int, label: str) -> Unit:
    shown = _row(" ".join(source.lines[row.first : row.first + row.lines]))
    return Unit(shown, tier, row.first, rank, label, row.first, row.lines)


def _row(line: str) -> str:
    return clip(_PADDING.sub("  ", clip(line, 2 * LONGEST_ROW)).rstrip(), LONGEST_ROW)


def _with_rules(unit: Unit, taken: set[int], total: int) -> Unit:
    """Rules and blank lines carry nothing: they belong to the line before them, not to the omissions."""
    if not unit.lines:
        return unit
    end = unit.first + unit.lines
    while end < total and end not in taken:
        end += 1
    return unit._replace(lines=end - unit.first)
