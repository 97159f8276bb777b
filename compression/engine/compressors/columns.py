"""What a column of cells holds: type, extremes, distinct values.

Cells are text and are shown as they were written; only how many there are is computed. Numbers and
dates are compared by value, everything else is only counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from compression.engine.units import clip, counted

_NUMBER = re.compile(r"[-+]?[$€£]?\d{1,30}(?:,\d{3})*(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?%?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z| UTC|[+-]\d\d:?\d\d)?)?")
_EMPTY = frozenset({"", "NULL", "null", "None", "NaN", "nan", "N/A", "n/a", "-"})
_FEW = 6
_NOT_IN_NUMBER = str.maketrans("", "", "$€£,%")


class Column(NamedTuple):
    """One line about a column, the computed numbers in it, and the cells (by position) that are its extremes
    or its rare values."""

    line: str
    counts: tuple[str, ...]
    extremes: tuple[int, ...]
    rare: tuple[int, ...]


def describe(name: str, cells: Sequence[str]) -> Column:
    present = [(index, cell.strip()) for index, cell in enumerate(cells) if cell.strip() not in _EMPTY]
    name = clip(" ".join(name.split()), 60) or "column"
    empty = len(cells) - len(present)
    counts: list[str] = []

    def number(value: int) -> str:
        counts.append(counted(value))
        return counts[-1]

    tail = f", {number(empty)} empty" if empty else ""
    if not present:
        return Column(f"{name}: empty", (), (), ())
    tally = Counter(cell for _, cell in present)
    kind = _kind(tally)
    if kind == "text":
        rare: tuple[int, ...] = ()
        line = f"{name}: text, {number(len(tally))} distinct"
        if len(tally) <= _FEW and max(map(len, tally)) <= 40 and len(present) > len(tally):
            amounts = (f"{_value(cell)} {number(amount)}" for cell, amount in tally.most_common())
            line += f" ({', '.join(amounts)})"
        if len(tally) <= 50:
            scarce = {cell for cell, amount in tally.items() if amount * 50 <= len(present)}
            rare = tuple(index for index, cell in present if cell in scarce)[:3]
        return Column(line + tail, tuple(counts), (), rare)
    values = {cell: _sort_key(kind, cell) for cell in tally}
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    places = tuple(next(index for index, cell in present if cell == extreme) for extreme in (low, high))
    line = f"{name}: {kind}, min {low}, max {high}, {number(len(tally))} distinct{tail}"
    return Column(line, tuple(counts), places, ())


def _kind(values: Counter[str]) -> str:
    if all(len(value) <= 64 and _NUMBER.fullmatch(value) for value in values):
        return "number"
    if all(len(value) <= 40 and _DATE.fullmatch(value) for value in values):
        return "date"
    return "text"


def _sort_key(kind: str, cell: str) -> tuple[Decimal, str]:
    if kind == "number":
        return Decimal(cell.translate(_NOT_IN_NUMBER)), cell
    return Decimal(0), cell.replace("T", " ")


def _value(cell: str) -> str:
    return f'"{cell}"' if " " in cell or "," in cell else cell
