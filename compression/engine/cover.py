"""A budget spent on the units and names of several results, whatever brings most new worth for its tokens first.

A lazy greedy cover: a name is worth something once, values only fall as the view grows, so a unit is valued again
only when its turn comes, O(units log units). A unit that is worth less a token than each of its new names by itself
waits: its names are taken before it. What a name is worth is not decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import repeat
from operator import itemgetter

from compression.engine.proposals import GAP_TOKENS, PLAIN, Prepared
from compression.engine.stubs import Draft, Stub, Stubber
from compression.engine.transcript import Part
from compression.engine.units import Unit, assembled
from compression.engine.worth import DIAGNOSTIC_WORTH

FIRST_LINE = 29
"""Tokens of a stub's own line."""

_LAST_LINE = 6  # the count of what was omitted
_LIST = "also: "
_LIST_TOKENS = 4
_SMALLEST = 2  # fewer tokens than this hold no name
_SPENT = 0.98  # of the budget: a second round for less changes nothing that can be seen
_ROUNDS = 3
_PATIENCE = 64  # so many that do not fit: what is left fits no more
_RATE = itemgetter(0)

_Row = tuple[float, int, int, str]  # worth a token, candidate, unit or -1, name


@dataclass(slots=True)
class Candidate:
    """A result that the event may stub; ``stub`` is None when none would be shorter."""

    message: int
    part: int
    tokens: int
    original: Part
    sha: str
    prepared: Prepared
    stub: Stub | None = None
    taken: set[int] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    starts: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)
    stale: bool = True

    @property
    def standing(self) -> int:
        """Tokens that this result will cost."""
        return self.tokens if self.stub is None else self.stub.tokens

    def cost(self, number: int) -> int:
        """About how many tokens a unit adds, with the marks of the gaps around it."""
        first, end = self.prepared.edges[number]
        tokens = self.prepared.alone[number] - GAP_TOKENS * ((first in self.ends) + (end in self.starts))
        return tokens if tokens > 1 else 1

    def name_cost(self, name: str) -> int:
        """How many tokens a name adds to the list."""
        return self.prepared.list_tokens[name] + (0 if self.listed else _LIST_TOKENS)

    def take(self, number: int) -> None:
        """Put a unit into the stub."""
        first, end = self.prepared.edges[number]
        self.taken.add(number)
        self.stale = True
        if first >= 0:
            self.starts.add(first)
            self.ends.add(end)

    def drop(self, number: int, name: str) -> None:
        """Take back a unit or a name."""
        self.stale = True
        if name:
            self.listed.discard(name)
        else:
            self.taken.discard(number)

    def draft(self) -> Draft:
        """What was taken, as the body of a stub."""
        units = self.prepared.units
        chosen = [units.units[number] for number in sorted(self.taken)]
        if self.listed:
            names = self.prepared.names
            wanted = self.listed.difference(*[names[number] for number in self.taken])
            listed = [name for name in self.prepared.list_tokens if name in wanted]
            if listed:
                label = "name" if len(listed) == 1 else "names"
                chosen.append(Unit(_LIST + ", ".join(listed), "may", 1 << 39, 0, label))
        body = assembled(units, chosen)
        return Draft(self.original, self.sha, self.tokens, self.prepared.content, "novelty", body)


class Cover:
    """The state of one allocation while it runs. ``worths``: for each candidate its own names, and what its age
    makes of a weight."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        worths: Sequence[tuple[Mapping[str, float], float]],
        stubber: Stubber,
        *,
        diagnosing: bool,
    ) -> None:
        self._candidates = candidates
        self._worths = worths
        self._stubber = stubber
        self._diagnosing = diagnosing
        self._open = {name: value for own, _ in worths for name, value in own.items()}
        self._order: list[_Row] = []
        self._rows: list[_Row] = []  # best last
        self._demoted: list[_Row] = []  # a heap, its rates negative: what turned out to be worth less
        self._plain_left = True

    def spend(self, budget: float, floors: Sequence[int]) -> None:
        """Floors, then the best units and names until the budget is spent; estimates are set right by counting.

        ``floors``: tokens for what comes first of each candidate, its own line not counted. All of them get the same
        share of theirs when they would take more than half of the budget, or more than all of it for what is grave.
        """
        reach = max(0.0, budget - FIRST_LINE * len(floors)) / max(1, sum(floors))
        used: float = self._floors(floors, min(1.0, reach / 2), min(1.0, reach))
        self._rows = self._first_rows()
        for _ in range(_ROUNDS):
            more = self._greedy(budget - used)
            used = self._assembled()
            if not more or used >= _SPENT * budget:
                break
        while used > budget and self._order:
            self._drop(used - budget)
            used = self._assembled()

    def _assembled(self) -> int:
        """Makes the stubs of what was taken. What all results then cost, in tokens."""
        stale = [candidate for candidate in self._candidates if candidate.stale]
        for candidate, stub in zip(stale, self._stubber.finish([c.draft() for c in stale]), strict=True):
            candidate.stub = stub
            candidate.stale = False
        return sum(candidate.standing for candidate in self._candidates)

    def _floors(self, floors: Sequence[int], share: float, full: float) -> int:
        """What comes first of each result, as far as ``share`` of its floor reaches, ``full`` for what is grave. What
        it costs, in tokens."""
        used = 0
        for candidate, floor in zip(self._candidates, floors, strict=True):
            candidate.starts.add(candidate.prepared.units.total)
            candidate.ends.add(0)
            spent = _LAST_LINE
            for number, is_grave in candidate.prepared.first:
                cost = candidate.cost(number)
                if spent + cost <= floor * (full if is_grave else share):
                    spent += cost
                    candidate.take(number)
                    self._cover(candidate.prepared.names[number])
            used += FIRST_LINE + spent
        return used

    def _cover(self, names: Sequence[str]) -> None:
        for name in names:
            self._open.pop(name, None)

    def _first_rows(self) -> list[_Row]:
        """Every name by itself, every unit that may come before one of its names, all musts; the best last.

        Units stand at what they would be worth if nothing else said their names: what they are worth is asked when
        their turn comes.
        """
        rows: list[_Row] = []
        for at, (candidate, (own, fresh)) in enumerate(zip(self._candidates, self._worths, strict=True)):
            prepared = candidate.prepared
            tokens = prepared.list_tokens
            rows += [(value / tokens[name], at, -1, name) for name, value in own.items()]
            rows += [(rate * fresh, at, number, "") for rate, number in prepared.strong]
            rows += [(rate, at, number, "") for rate, number in prepared.weak]
            if self._diagnosing:
                rows += [
                    (self._value(candidate, number) / prepared.alone[number], at, number, "")
                    for number in sorted(prepared.diagnostic)
                ]
        rows.sort(key=_RATE)
        return rows

    def _plain_rows(self) -> list[_Row]:
        """What is worth something even without a name, the best last."""
        return sorted(
            (
                (rate, at, number, "")
                for at, candidate in enumerate(self._candidates)
                for rate, number in candidate.prepared.plains
            ),
            key=_RATE,
        )

    def _value(self, candidate: Candidate, number: int) -> float:
        prepared = candidate.prepared
        value, names = prepared.plain[number], prepared.names[number]
        if names:
            value += sum(map(self._open.get, names, repeat(0.0))) * prepared.factors[number]
        if self._diagnosing and number in prepared.diagnostic:
            value += DIAGNOSTIC_WORTH
        return value

    def _greedy(self, room: float) -> bool:
        """Spend about ``room`` tokens. Whether there is anything left that did not fit."""
        rows, demoted, still_open, candidates = self._rows, self._demoted, self._open, self._candidates
        passed: list[_Row] = []
        while room > _SMALLEST and len(passed) < _PATIENCE:
            if demoted and (not rows or -demoted[0][0] > rows[-1][0]):
                row = heappop(demoted)
                rate = -row[0]
            elif rows:
                row = rows.pop()
                rate = row[0]
            elif self._plain_left:
                self._plain_left = False
                rows += self._plain_rows()
                continue
            else:
                break
            _, at, number, name = row
            if name and name not in still_open:
                continue
            candidate = candidates[at]
            if name:
                cost = candidate.name_cost(name)
            elif number in candidate.taken:
                continue
            else:
                value, cost = self._value(candidate, number), candidate.cost(number)
                now = value / cost
                # A gap that closed makes a unit cheaper: what rises is taken at once. What falls to what it is worth
                # without names comes again with its like.
                if now < rate and ((rows and rows[-1][0] > now) or (demoted and -demoted[0][0] > now)):
                    if value > (PLAIN["should"] if self._plain_left else 0.0):
                        heappush(demoted, (-now, at, number, ""))
                    continue
            if cost > room:
                passed.append((-rate, at, number, name))
                continue
            if name:
                candidate.listed.add(name)
                candidate.stale = True
                del still_open[name]
            else:
                candidate.take(number)
                self._cover(candidate.prepared.names[number])
            room -= cost
            self._order.append(row)
        for row in passed:
            heappush(demoted, row)
        return bool(demoted or rows or self._plain_left)

    def _drop(self, excess: float) -> None:
        """Take back the last choices, about ``excess`` tokens of them."""
        while self._order and excess > 0:
            _, at, number, name = self._order.pop()
            candidate = self._candidates[at]
            excess -= candidate.name_cost(name) if name else candidate.cost(number)
            candidate.drop(number, name)
