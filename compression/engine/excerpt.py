"""Very long outputs are read in part, so that no result takes seconds: their beginning and their end.

The cut never goes through a name or a number. What was not read stays in the original, behind the address.
"""

from __future__ import annotations

from typing import NamedTuple

LONGEST_READ = 400_000
"""Characters that a compressor looks at; real tool output is rarely a tenth of it."""

FROM_START = 250_000
_BLANKS = ("\n", " ", "\t", ",")


class Excerpt(NamedTuple):
    """``text`` is what is read; ``note`` says so where that is not all, with its numbers in ``counts``."""

    text: str
    note: str = ""
    counts: tuple[str, ...] = ()


def excerpt(text: str) -> Excerpt:
    """All of a text, or its first 250,000 and last 150,000 characters, cut at blanks. O(what is read)."""
    if len(text) <= LONGEST_READ:
        return Excerpt(text)
    end = max(text.rfind(blank, 0, FROM_START) for blank in _BLANKS) + 1
    start = len(text) - (LONGEST_READ - FROM_START)
    starts = [found for blank in _BLANKS if (found := text.find(blank, start)) >= 0]
    tail = text[min(starts) + 1 :] if starts else ""
    figures = tuple(f"{number:,}" for number in (end, len(tail), len(text)))
    note = f"[read in part: the first {figures[0]} and the last {figures[1]} of {figures[2]} characters]"
    return Excerpt(f"{text[:end]}\n{tail}" if tail else text[:end], note, figures)
