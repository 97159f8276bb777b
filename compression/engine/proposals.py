"""What the compressor of each result proposes, with the names, tokens and weights of every unit; once for a text.

Nothing here depends on a session, a budget or a policy, so all of it can be done when a result arrives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from sys import intern
from typing import NamedTuple

from compression.engine import compressors
from compression.engine.content_types import ContentType, detect
from compression.engine.focus import DIAGNOSTIC, pieces_of_name
from compression.engine.identifiers import spans, unescaped
from compression.engine.reading import marks, reading_of_part, words
from compression.engine.shelf import Shelf
from compression.engine.tokens import CachedCounter
from compression.engine.transcript import Part
from compression.engine.units import Tier, Unit, Units

WEIGHTS: Mapping[str, float] = {
    "path": 3.0,
    "error": 3.0,
    "dotted": 2.0,
    "snake": 2.0,
    "camel": 2.0,
    "hex": 1.5,
    "quoted": 1.0,
    "number": 0.75,
}
"""What a name of each class is worth while nothing else in the window says it."""

PLAIN: Mapping[Tier, float] = {"must": 1.0, "should": 0.1, "may": 0.0}
"""What a unit is worth beside its names: a total without a name still tells something."""

GRAVE_WORTH: Mapping[Tier, float] = {"must": 4.0, "should": 1.5, "may": 0.0}
"""The same for a unit that tells what went wrong."""

TIERS: Mapping[Tier, float] = {"must": 2.0, "should": 1.3, "may": 1.0}
"""What a name counts in a unit of a tier."""

IN_ITS_LINE = 1.25
"""A name in its line tells more than the same name in a list."""

DEFINES = 1.25
"""And more where it is defined."""

GAP_TOKENS = 2
"""A mark where lines are missing."""

GRAVE = frozenset(
    {"exit code", "totals", "failure", "error line", "error record", "error template", "traceback", "row of trouble"}
)
"""Labels of what went wrong and how it ended: a name in a list is no substitute for these."""

_SHELF_CHARACTERS = 16_000_000
_GUTTER = re.compile(r"(?m)^ *[0-9]+[\u2192\t|]")
_SEAM = "\n\x00\n"
_NOWHERE = (-1, -1)


class Name(NamedTuple):
    """A name of a result: ``weight`` by its class, ``tokens`` in a list of names, ``pieces`` as the current work is
    looked for in it."""

    text: str
    weight: float
    tokens: int
    pieces: frozenset[str]


@dataclass(frozen=True)
class Prepared:
    """The units of one result: for each of them the names that it says and its tokens, its line's end included.

    ``listing`` are the names of the result as its readers see it; a unit may say others, and not all need a unit.
    """

    content: ContentType
    units: Units
    names: tuple[tuple[str, ...], ...]
    tokens: tuple[int, ...]
    listing: tuple[Name, ...]

    def settle(self) -> None:
        """Work out now what otherwise waits until it is asked for."""
        _ = (self.words, self.others, self.ranked, self.list_tokens, self.factors, self.plain)
        _ = (self.alone, self.strong, self.first, self.weak, self.plains, self.diagnostic)

    @cached_property
    def list_tokens(self) -> Mapping[str, int]:
        """Name -> its tokens in a list."""
        return {name.text: name.tokens for name in self.listing}

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """For each unit, what a name counts in it."""
        return tuple(
            IN_ITS_LINE * TIERS[unit.tier] * (DEFINES if unit.label == "definition" else 1.0)
            for unit in self.units.units
        )

    @cached_property
    def plain(self) -> tuple[float, ...]:
        """For each unit, what it is worth beside its names."""
        return tuple((GRAVE_WORTH if unit.label in GRAVE else PLAIN)[unit.tier] for unit in self.units.units)

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """For each unit, the entry of the original that it begins with and the one after it; (-1, -1) for a unit that
        no mark stands beside."""
        marked = self.units.gaps == "mark"
        return tuple(
            (unit.first, unit.first + unit.lines) if marked and unit.lines else _NOWHERE for unit in self.units.units
        )

    @cached_property
    def alone(self) -> tuple[int, ...]:
        """For each unit, its tokens where no neighbour is taken."""
        return tuple(
            own + (GAP_TOKENS if edge != _NOWHERE else 0) for own, edge in zip(self.tokens, self.edges, strict=True)
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """The names that are one word."""
        return frozenset(name.text for name in self.listing if words(name.text) == {name.text})

    @cached_property
    def others(self) -> Mapping[str, frozenset[str]]:
        """The names that are more, or less, with what a text must have to say them."""
        return {name.text: marks(name.text) for name in self.listing if name.text not in self.words}

    @cached_property
    def ranked(self) -> tuple[Name, ...]:
        """The names, those that are worth most a token last."""
        return tuple(sorted(self.listing, key=lambda name: (name.weight / name.tokens, name.text)))

    @cached_property
    def strong(self) -> tuple[tuple[float, int], ...]:
        """(worth a token, unit) of units that are worth more a token than some of their names by themselves when the
        others of their names have been taken alone: only these may ever come before a name. The best last."""
        weights = {name.text: name.weight for name in self.listing}
        found = []
        for number, names in enumerate(self.names):
            left = {name: weights[name] / self.list_tokens[name] for name in names if name in weights}
            rates: list[float] = []
            size = 0
            while len(left) != size:
                size = len(left)
                worth = sum(weights[name] for name in left) * self.factors[number] + self.plain[number]
                rates.append(worth / self.alone[number])
                left = {name: single for name, single in left.items() if single < rates[-1]}
            if left:
                found.append((rates[0], number))
        return tuple(sorted(found))

    @cached_property
    def first(self) -> tuple[tuple[int, bool], ...]:
        """(unit, whether it is grave) of what comes before any name: grave musts, other musts, what else is grave; each
        by rank."""
        units = self.units.units
        found = [
            (unit.tier != "must", unit.label not in GRAVE, unit.rank, unit.order, number)
            for number, unit in enumerate(units)
            if unit.tier == "must" or (unit.tier == "should" and unit.label in GRAVE)
        ]
        return tuple((number, not other) for _, other, _, _, number in sorted(found))

    @cached_property
    def weak(self) -> tuple[tuple[float, int], ...]:
        """(worth a token beside its names, unit) of units that are worth more than any should but are not strong, the
        best last."""
        rest = {n for n, worth in enumerate(self.plain) if worth > PLAIN["should"]}
        rest.difference_update(number for _, number in self.strong)
        return tuple(sorted((self.plain[number] / self.alone[number], number) for number in rest))

    @cached_property
    def plains(self) -> tuple[tuple[float, int], ...]:
        """(worth a token beside its names, unit) of the shoulds, the best last: each is worth less than the one that
        its compressor would rather keep."""
        units = self.units.units
        turns = sorted(
            (n for n, worth in enumerate(self.plain) if worth == PLAIN["should"]),
            key=lambda n: (units[n].rank, units[n].order),
        )
        rates = ((self.plain[number] / self.alone[number] / turn, number) for turn, number in enumerate(turns, 1))
        return tuple(sorted(rates))

    @cached_property
    def diagnostic(self) -> frozenset[int]:
        """Units that show a DEBUG line or a timing."""
        return frozenset(n for n, unit in enumerate(self.units.units) if DIAGNOSTIC.search(unit.text))


class Proposals:
    """Prepared results, the latest so many characters of them."""

    def __init__(self, counter: CachedCounter) -> None:
        self._counter = counter
        self._shelf: Shelf[tuple[str, str, str], Prepared] = Shelf(_SHELF_CHARACTERS)

    def of(self, part: Part, arguments: str, sha: str) -> Prepared:
        """What is proposed for a tool result; ``sha`` is that of its text."""
        key = (sha, part.name, arguments)
        return self._shelf.get(key) or self._shelf.put(key, self._prepared(part, arguments), len(part.text))

    def _prepared(self, part: Part, arguments: str) -> Prepared:
        content = detect(part.text, part.name, arguments)
        units = compressors.units(part.text, content.kind, arguments)
        if units.gaps == "each":
            # A count at every gap would cost more than the lines that novelty picks from all over a text.
            units = replace(units, gaps="mark")
        # A name with a line break in it would break the list that it stands in.
        found = [(name, kind) for name, kind in reading_of_part(part).names.items() if "\n" not in name]
        own = len(units.units)
        texts = [*(f"{unit.text}\n" for unit in units.units), *(f", {name}" for name, _ in found)]
        tokens = [max(1, number) for number in self._counter.count_many(texts)]
        return Prepared(
            content,
            units,
            _names(units.units),
            tuple(tokens[:own]),
            tuple(
                Name(intern(name), WEIGHTS[kind], cost, pieces_of_name(name))
                for (name, kind), cost in zip(found, tokens[own:], strict=True)
            ),
        )


def _names(units: Sequence[Unit]) -> tuple[tuple[str, ...], ...]:
    """The names of each unit. All texts are made readable in one go; only where one holds the seam, each by itself."""
    texts = _readable(_SEAM.join(unit.text for unit in units)).split(_SEAM)
    if len(texts) != len(units):
        texts = [_readable(unit.text) for unit in units]
    return tuple(tuple(dict.fromkeys(intern(name) for name, _ in spans(text))) for text in texts)


def _readable(text: str) -> str:
    return _GUTTER.sub("", unescaped(text))
