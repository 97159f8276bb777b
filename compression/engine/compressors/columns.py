"""What a column of cells holds: type, extremes, distinct values.

Cells are text and are shown as they were written; only how many there are is computed. Numbers and
dates are compared by value, everything else is only counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import NamedTuple

from compression.engine.units import clip, counted

_NUMBERS = re.compile(r"(?>[-+]?[$€£]?\d{1,30}(?:,\d{3})*(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?%?(?:\n|$))+")
_DATES = re.compile(
    r"(?>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z| UTC|[+-]\d\d:?\d\d)?)?(?:\n|$))+"
)
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
    """O(cells), with a closer look at each distinct one."""
    tally: Counter[str] = Counter()
    empty = 0
    for cell, amount in Counter(cells).items():
        value = cell.strip()
        if value in _EMPTY:
            empty += amount
        else:
            tally[value] += amount
    name = clip(" ".join(name.split()), 60) or "column"
    counts: list[str] = []

    def number(value: int) -> str:
        counts.append(counted(value))
        return counts[-1]

    tail = f", {number(empty)} empty" if empty else ""
    if not tally:
        return Column(f"{name}: empty", (), (), ())
    present = len(cells) - empty
    kind = _kind(tally)
    if kind == "text":
        rare: tuple[int, ...] = ()
        line = f"{name}: text, {number(len(tally))} distinct"
        if len(tally) <= _FEW and max(map(len, tally)) <= 40 and present > len(tally):
            amounts = (f"{_value(cell)} {number(amount)}" for cell, amount in tally.most_common())
            line += f" ({', '.join(amounts)})"
        if len(tally) <= 50:
            scarce = {cell for cell, amount in tally.items() if amount * 50 <= present}
            if 10 * sum(tally[cell] for cell in scarce) > present:
                scarce.clear()
            rare = tuple(islice((index for index, cell in enumerate(cells) if cell.strip() in scarce), 3))
        return Column(line + tail, tuple(counts), (), rare)
    low, high = _extremes(kind, tally)
    line = f"{name}: {kind}, min {low}, max {high}, {number(len(tally))} distinct{tail}"
    return Column(line, tuple(counts), (_first(cells, low), _first(cells, high)), ())


def _first(cells: Sequence[str], value: str) -> int:
    """Where ``value`` stands; cells may have blanks around it."""
    try:
        return cells.index(value)
    except ValueError:
        return next(index for index, cell in enumerate(cells) if cell.strip() == value)


def _kind(values: Counter[str]) -> str:
    """One look at all of the values at once."""
    text = "\n".join(values)
    if text.count("\n") == len(values) - 1:
        longest = max(map(len, values))
        if longest <= 64 and _NUMBERS.fullmatch(text):
            return "number"
        if longest <= 40 and _DATES.fullmatch(text):
            return "date"
    return "text"


def _extremes(kind: str, values: Counter[str]) -> tuple[str, str]:
    """The least and the greatest by value, of equal ones by their text."""
    keys: Iterable[object]
    if kind == "date":
        keys = (value.replace("T", " ") for value in values)
    else:
        try:
            keys = [Decimal(value) for value in values]
        except InvalidOperation:
            keys = [Decimal(value.translate(_NOT_IN_NUMBER)) for value in values]
    ranked = dict(zip(values, zip(keys, values, strict=True), strict=True))
    return min(values, key=ranked.__getitem__), max(values, key=ranked.__getitem__)


def _value(cell: str) -> str:
    return f'"{cell}"' if " " in cell or "," in cell else cell
