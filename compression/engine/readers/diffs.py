"""Unified diffs taken apart: files, hunks, added and removed lines. ``git show`` and ``git diff --stat`` too.

A line counts as changed only inside a hunk; hunks end by the numbers in their header, so that a removed line that
begins with ``-- `` is no file header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

HUNK = re.compile(r"@@+ -\d+(?:,(\d+))?(?: -\d+(?:,\d+)?)* \+\d+(?:,(\d+))? @@+(.*)")
_GIT = re.compile(r"diff --(?:git|cc|combined) (?:\"?a/)?(.{1,400}?)\"?(?: \"?b/(.{1,400})\"?)?$")
_OLD = re.compile(r"--- (?:\"?a/)?([^\t]{1,400})")
_NEW = re.compile(r"\+\+\+ (?:\"?b/)?([^\t]{1,400})")
_INDEX = re.compile(r"Index: (\S{1,400})|\*\*\* (?:Add|Update|Delete) File: (.{1,400})")
_STATE = re.compile(
    r"(new file|deleted file) mode|(rename|copy) from (.{1,300})|(Binary files) .* differ|(GIT binary patch)|old mode"
)
STAT = re.compile(r"\s(\S.{0,300}?)\s+\|\s+(?:\d+(?: [+-]*)?|Bin .*)$")
SIGNED_STAT = re.compile(r"\s\S.{0,300}?\s+\|\s+(?:\d+ [+-]+|Bin .*)$")
"""Rows of a table with a number in their last column look like statistics, but for the signs."""
_HEADER = re.compile(r"index [0-9a-f]+|similarity index|dissimilarity|new mode|rename to|copy to|={20,}$|\\ No newline")


@dataclass(slots=True)
class Hunk:
    """``first`` is the row of the header; ``changed`` are the rows of added and removed lines."""

    first: int
    changed: list[int] = field(default_factory=list)


@dataclass(slots=True)
class File:
    """``row`` is where it begins; ``states`` say in the diff's words what else happened to it."""

    path: str
    row: int
    added: int = 0
    removed: int = 0
    states: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)


@dataclass(slots=True)
class Diff:
    """``headers`` are rows that say nothing which ``files`` does not; ``other`` stand outside of every file."""

    files: list[File] = field(default_factory=list)
    headers: set[int] = field(default_factory=set)
    stats: list[int] = field(default_factory=list)
    other: list[int] = field(default_factory=list)


def parse(lines: Sequence[str]) -> Diff:
    """One pass, O(lines)."""
    diff = Diff()
    current: File | None = None
    hunk: Hunk | None = None
    left_old = left_new = 0
    for row, full in enumerate(lines):
        line = full[:1_000]
        sign = line[:1]
        if hunk is not None and (left_old > 0 or left_new > 0) and sign in ("+", "-", " ", "\\", ""):
            assert current is not None
            if sign == "+":
                left_new -= 1
                current.added += 1
                hunk.changed.append(row)
            elif sign == "-":
                left_old -= 1
                current.removed += 1
                hunk.changed.append(row)
            elif sign != "\\":
                left_old -= 1
                left_new -= 1
            continue
        if match := HUNK.match(line):
            if current is None:
                current = File("", row)
                diff.files.append(current)
            hunk = Hunk(row)
            current.hunks.append(hunk)
            left_old, left_new = int(match[1] or 1), int(match[2] or 1)
            continue
        following = lines[row + 1][:1_000] if row + 1 < len(lines) else ""
        if match := _GIT.match(line):
            current = File((match[2] or match[1]).strip(), row)
            diff.files.append(current)
        elif match := _INDEX.match(line):
            current = File(match[1] or match[2], row)
            diff.files.append(current)
        elif (match := _OLD.match(line)) and following.startswith("+++ "):
            if current is None or current.hunks or hunk is not None:
                new = _NEW.match(following)
                path = new[1] if new and new[1] != "/dev/null" else match[1]
                current = File(path.strip(), row)
                diff.files.append(current)
        elif current is not None and (match := _STATE.match(line)):
            if current.hunks:
                diff.other.append(row)
                continue
            _note(current, match)
        elif current is not None and (_NEW.match(line) or _HEADER.match(line)):
            pass
        elif STAT.match(line):
            diff.stats.append(row)
            hunk = None
            continue
        else:
            if line.strip():
                diff.other.append(row)
            if line.startswith("commit "):
                current = None
            hunk = None
            continue
        diff.headers.add(row)
        hunk = None
    return diff


def _note(current: File, match: re.Match[str]) -> None:
    if match[1]:
        current.states.append("new" if match[1] == "new file" else "deleted")
    elif match[3]:
        current.states.append(f"{'renamed' if match[2] == 'rename' else 'copied'} from {match[3].strip()}")
    elif match[4] or match[5]:
        current.states.append("binary")
