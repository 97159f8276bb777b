"""Which lines hold one of several words: a few searches of the whole text instead of many of every line.

Looking for a word in a text costs a hundredth of trying an expression on each of its lines; most lines of an output
hold none of the words that an expression needs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate


class Sightings:
    """The lines of one text, ready to be searched. O(text) once for each word."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._text = "\n".join(lines)
        self._ends = list(accumulate(len(line) + 1 for line in lines))

    def of(self, words: Iterable[str]) -> set[int]:
        """The rows that hold one of ``words``, which have no line breaks."""
        text, ends = self._text, self._ends
        found: set[int] = set()
        for word in words:
            at = text.find(word)
            while at >= 0:
                row = bisect_right(ends, at)
                found.add(row)
                at = text.find(word, ends[row])
        return found

    def matching(self, pattern: re.Pattern[str]) -> set[int]:
        """The rows that hold a match of ``pattern``, which should begin with a letter or sign and stay in its line."""
        return {bisect_right(self._ends, match.start()) for match in pattern.finditer(self._text)}
