"""Very long outputs are read in part, so that no result takes seconds: their beginning and their end.

The cut lies between lines, or where lines are long between words: never in a name or a number. What was not read stays
in the original, behind the address.
"""

from __future__ import annotations

from typing import NamedTuple

LONGEST_READ = 400_000
"""Characters that a compressor looks at; real tool output is rarely a tenth of it."""

FROM_START = 250_000
LINE_REACH = 20_000
"""As far as a line's end is looked for; a longer line is cut between words."""

_BLANKS = (" ", "\t", ",")


class Excerpt(NamedTuple):
    """``text`` is what is read; ``note`` says so where that is not all, with its numbers in ``counts``."""

    text: str
    note: str = ""
    counts: tuple[str, ...] = ()


def excerpt(text: str) -> Excerpt:
    """All of a text, or its first 250,000 and last 150,000 characters, less what is cut off. O(what is read)."""
    if len(text) <= LONGEST_READ:
        return Excerpt(text)
    end = text.rfind("\n", FROM_START - LINE_REACH, FROM_START) + 1
    end = end or max(text.rfind(blank, 0, FROM_START) for blank in ("\n", *_BLANKS)) + 1
    tail = text[_after(text, len(text) - (LONGEST_READ - FROM_START)) :]
    between = text.count("\n", end, len(text) - len(tail))
    figures = [f"{number:,}" for number in (end, len(tail), len(text))]
    note = f"[read in part: the first {figures[0]} and the last {figures[1]} of {figures[2]} characters"
    if between:
        figures.append(f"{between:,}")
        note += f"; what is counted below leaves out {figures[3]} {'line' if between == 1 else 'lines'} between them"
    joint = "" if text[:end].endswith("\n") else "\n"
    return Excerpt(f"{text[:end]}{joint}{tail}" if tail else text[:end], f"{note}]", tuple(figures))


def _after(text: str, start: int) -> int:
    """Where the first line begins from ``start`` on, or the first word, when that line is too far; else the end."""
    line = text.find("\n", start, start + LINE_REACH)
    if line >= 0:
        return line + 1
    found = [at for blank in ("\n", *_BLANKS) if (at := text.find(blank, start)) >= 0]
    return min(found) + 1 if found else len(text)
