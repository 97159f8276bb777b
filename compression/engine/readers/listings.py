"""Lists of files: plain paths, ``ls -l``, ``ls -R``, ``tree``, ``du``. What is named, and where it lies.

Sizes and dates are read where a format gives them; which is newest is not guessed where years are missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

_LONG = re.compile(
    r"(?P<type>[-dlcbpsD])[rwxsStT-]{9}[@+.]?\s+\d+\s+\S+\s+(?:\S+\s+)?(?P<size>\d[\d.,]*[KMGTP]?)\s+"
    r"(?P<date>\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?: [+-]\d{4})?)?"
    r"|[A-Z][a-z]{2}\s+\d{1,2}\s+(?:\d\d:\d\d|\d{4})"
    r"|\d{1,2}\s[A-Z][a-z]{2}\s+(?:\d\d:\d\d|\d{4}))"
    r"\s(?P<name>.+)$"
)
_TREE = re.compile(r"(?P<lead>[│├└─|`\s\u00a0-]*(?:[├└`|]──|[├└]─|\|--|`--) ?)(?P<name>\S.*)$")
_DU = re.compile(r"(?P<size>\d[\d.]*[KMGTP]?)\t(?P<name>\S.*)$")
_HEADER = re.compile(r"(?P<name>[^:]{1,300}):$")
_PATH = re.compile(
    r"\s{0,12}(?:[-*] )?(?:[MADRCU?! ]{2} )?"
    r"(?P<name>\.?[\w.@~+()\[\]{}$%&#=,-]*(?:/[\w.@+()\[\]{}$%&#=, ~-]+)*/?[*@|=]?)$"
)
_NAME_SIGN = re.compile(r"[./]")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_LONGEST = 400


class Entry(NamedTuple):
    """Row ``row`` names ``path``. ``directory`` is where it lies, with its slash; ``size`` and ``date`` as printed."""

    row: int
    path: str
    directory: str
    is_directory: bool
    size: str = ""
    date: str = ""


def share(lines: Sequence[str]) -> float:
    """How many of ``lines`` name a file and nothing else."""
    few = lines[::6]
    if not lines or (len(few) > 3 and not any(map(_entry_like, few))):
        return 0.0
    return sum(1 for line in lines if _entry_like(line)) / len(lines)


def _entry_like(line: str) -> bool:
    if _LONG.match(line) or _TREE.match(line) or _DU.match(line):
        return True
    match = _PATH.match(line)
    return bool(
        match and match["name"] and _NAME_SIGN.search(match["name"]) and not match["name"].endswith((", ", ".,"))
    )


def parse(lines: Sequence[str]) -> tuple[list[Entry], list[int]]:
    """(entries, rows that are none), O(lines)."""
    entries: list[Entry] = []
    other: list[int] = []
    current = ""
    stack: list[tuple[int, str]] = []
    for row, full in enumerate(lines):
        line = full[:_LONGEST].rstrip()
        if not line:
            continue
        if match := _LONG.match(line):
            name = match["name"].split(" -> ")[0]
            entries.append(Entry(row, name, current, match["type"] == "d", match["size"], match["date"]))
        elif match := _TREE.match(line):
            depth = len(match["lead"])
            while stack and stack[-1][0] >= depth:
                stack.pop()
            name = match["name"].split(" -> ")[0].rstrip("/")
            above = stack[-1][1] if stack else ""
            entries.append(Entry(row, f"{above}{name}", above, match["name"].endswith("/")))
            stack.append((depth, f"{above}{name}/"))
        elif match := _DU.match(line):
            entries.append(_placed(row, match["name"], "", match["size"]))
        elif (match := _HEADER.match(line)) and ("/" in line or line == ".:"):
            current = match["name"].rstrip("/") + "/"
            other.append(row)
        elif (match := _PATH.match(line)) and match["name"]:
            entries.append(_placed(row, match["name"], current, ""))
        else:
            other.append(row)
    return _with_tree_directories(entries), other


def _placed(row: int, name: str, current: str, size: str) -> Entry:
    name = name.rstrip("*@|=") or name
    cut = name.rfind("/", 0, len(name) - 1) + 1
    return Entry(row, name, name[:cut] or current, name.endswith("/"), size)


def _with_tree_directories(entries: list[Entry]) -> list[Entry]:
    """What has entries below it is a directory."""
    parents = {entry.directory for entry in entries}
    return [
        entry._replace(is_directory=True)
        if not entry.is_directory and f"{entry.path.rstrip('/')}/" in parents
        else entry
        for entry in entries
    ]


def extension(path: str) -> str:
    """``.py`` of ``src/app.py``; empty without one."""
    path = path.rstrip("*@")
    at = path.rfind(".")
    end = path[at + 1 :]
    named = at > 0 and path[at - 1] not in "./" and len(end) <= 10 and end.isalnum() and end.isascii()
    return path[at:] if named and end[0].isalpha() else ""


def size_of(printed: str) -> Decimal:
    """Bytes (of ``4.0K`` 4,096), for comparison only."""
    number = printed.replace(",", "")
    factor = _UNITS.get(number[-1:], 1)
    try:
        return Decimal(number.rstrip("KMGTP")) * factor
    except ArithmeticError:
        return Decimal(0)
