"""What a name of an event's results is worth: nothing while the rest of the window says it.

Its class gives it a weight (``proposals``); age, the current work and repetition change it. The factors were chosen
once, by hand, on sessions of one agent; the benchmark of retention also reports sessions and cuts that nobody looked
at. Which names are kept is not decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from compression.engine.edits import Edit
from compression.engine.focus import Focus
from compression.engine.identifiers import occurs
from compression.engine.occurrences import Occurrences
from compression.engine.proposals import Prepared
from compression.engine.reading import Reading, reading_of_stub

RELEVANT = 1.3
"""A name that the current work speaks of, against one that it does not."""

DIAGNOSTIC_WORTH = 6.0
"""What a DEBUG line or a timing is worth, whatever names it has, while a bug or speed is the task."""

AGAIN = 0.5
"""For each further result that says a name: what comes up again and again is asked for again."""

HALF_LIFE = 40_000
"""Tokens after which a name has lost half of what its age can take, which is two thirds of its worth."""


def readings_beside(
    names: Occurrences, indexes: Iterable[int], touched: Collection[int], standing: Mapping[int, Edit]
) -> list[Reading]:
    """The messages of a window that an event does not touch; ``standing`` = edits in force, by message."""
    return [
        reading_of_stub(standing[i].text.partition("\n")[2]) if i in standing else names.readings[i]
        for i in indexes
        if i not in touched
    ]


def said_by(readings: Sequence[Reading], results: Sequence[Prepared]) -> set[str]:
    """Those names of the results that one of the readings says too.

    Names that are one word are known by the words; of others nearly all are names there as well, or have neighbouring
    words that stand together nowhere. Only the rest is looked for in texts.
    """
    words = set[str]().union(*(result.words for result in results))
    others: dict[str, frozenset[str]] = {}
    for result in results:
        others.update(result.others)
    said: set[str] = set()
    for reading in readings:
        said |= words & reading.words
        said |= others.keys() & reading.names.keys()
    left = [(name, marks) for name, marks in others.items() if name not in said]
    wanted = frozenset[str]().union(*(marks for _, marks in left))
    found = [(wanted & reading.marks, reading.text) for reading in readings]
    there = frozenset[str]().union(*(marks for marks, _ in found))
    for name, marks in left:
        if marks <= there and any(marks <= own and occurs(name, text) for own, text in found):
            said.add(name)
    return said


def worths(
    results: Sequence[tuple[Prepared, int]], said: Collection[str], focus: Focus
) -> tuple[tuple[dict[str, float], float], ...]:
    """For each result (with the tokens from its end to the end of the window), oldest first: what those names are
    worth that no newer result has, and what age alone makes of a weight there.

    What more results say is worth more. Names in ``said`` are left out.
    """
    found: list[tuple[dict[str, float], float]] = []
    homes: dict[str, dict[str, float]] = {}
    work = focus.pieces
    for prepared, age in reversed(results):
        own: dict[str, float] = {}
        fresh = (1 + 2 * 0.5 ** (age / HALF_LIFE)) / 3
        for name, weight, _, pieces in prepared.ranked:
            if name in said:
                continue
            if name in homes:
                homes[name][name] += AGAIN * weight
                continue
            homes[name] = own
            if pieces.isdisjoint(work):
                own[name] = weight * fresh
            else:
                own[name] = weight * fresh * (1 + (RELEVANT - 1) * len(pieces & work) / len(pieces))
        found.append((own, fresh))
    return tuple(reversed(found))
