"""CSV that a spreadsheet opens without running any of it.

A text that begins like a formula gets an apostrophe in front, which spreadsheets show as text; figures
stay figures. Titles and names come out of logs, and those are hostile.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from decimal import Decimal
from io import StringIO
from typing import Any

from compression.engine.money import dollars

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: Any) -> Any:
    """None is an empty cell, True and False are words, money has no exponent, a text is never a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    if isinstance(value, Decimal):
        return dollars(value)
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Some lines of a CSV file, with the line ends of RFC 4180."""
    out = StringIO()
    csv.writer(out).writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()
