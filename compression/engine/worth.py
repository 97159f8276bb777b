"""What a name of an event's results is worth: nothing while the rest of the window says it.

Its class gives it a weight (``proposals``); age, the current work and repetition change it. The factors were chosen
once, by hand, on sessions of one agent; the benchmark of retention also reports sessions and cuts that nobody looked
at. Which names are kept is not decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from compression.engine.edits import Edit
from compression.engine.focus import Focus
from compression.engine.identifiers import occurs
from compression.engine.occurrences import Occurrences
from compression.engine.proposals import Name
from compression.engine.reading import Reading, reading_of_stub

RELEVANT = 1.3
"""A name that the current work speaks of, against one that it does not."""

DIAGNOSTIC_WORTH = 6.0
"""What a DEBUG line or a timing is worth, whatever names it has, while a bug or speed is the task."""

AGAIN = 0.5
"""For each further result that says a name: what comes up again and again is asked for again."""

HALF_LIFE = 40_000
"""Tokens after which a name has lost half of what its age can take, which is two thirds of its worth."""


class Said:
    """What some texts say, asked for single names. ``words`` = all their whole words."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = readings
        self.words: set[str] = set().union(*(reading.words for reading in readings))
        self._holders: dict[str, list[Reading]] = {}

    @cached_property
    def _names(self) -> set[str]:
        return set().union(*(reading.names for reading in self._readings))

    def holds(self, name: str, asked: frozenset[str]) -> bool:
        """Whether a name that is made of the words ``asked`` stands somewhere."""
        if not self.words.issuperset(asked):
            return False
        if name in self._names:
            return True
        fewest = min((self._holding(word) for word in asked), key=len, default=self._readings)
        return any(reading.words.issuperset(asked) and occurs(name, reading.text) for reading in fewest)

    def _holding(self, word: str) -> Sequence[Reading]:
        found = self._holders.get(word)
        if found is None:
            found = self._holders[word] = [reading for reading in self._readings if word in reading.words]
        return found


def said_beside(
    names: Occurrences, indexes: Iterable[int], touched: Collection[int], standing: Mapping[int, Edit]
) -> Said:
    """What the messages of a window say that an event does not touch; ``standing`` = edits in force, by message."""
    return Said(
        [
            reading_of_stub(standing[i].text.partition("\n")[2]) if i in standing else names.readings[i]
            for i in indexes
            if i not in touched
        ]
    )


def worths(results: Sequence[tuple[Sequence[Name], int]], said: Said, focus: Focus) -> tuple[dict[str, float], ...]:
    """For each result (its names, tokens from its end to the end of the window), oldest first: what those names are
    worth that no newer result has; what more results say is worth more. Names that ``said`` says are left out."""
    found: list[dict[str, float]] = [{} for _ in results]
    homes: dict[str, dict[str, float] | None] = {}
    said_words, work = said.words, focus.pieces
    for own, (names, age) in zip(reversed(found), reversed(results), strict=True):
        fresh = (1 + 2 * 0.5 ** (age / HALF_LIFE)) / 3
        for name, weight, _, asked, pieces in names:
            if name in homes:
                home = homes[name]
                if home is not None:
                    home[name] += AGAIN * weight
            elif (name in said_words) if asked is None else said.holds(name, asked):
                homes[name] = None
            else:
                homes[name] = own
                own[name] = weight * fresh
                if not pieces.isdisjoint(work):
                    own[name] *= 1 + (RELEVANT - 1) * len(pieces & work) / len(pieces)
    return tuple(found)
