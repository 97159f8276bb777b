"""One budget for all results of an event, spent where the window learns most.

Every candidate's output is cut into units by its compressor. Musts come first, within a floor for each result;
then whatever brings most new names for its tokens, a line as it stands or a bare name in a list of what was left out.
A name that the assistant, the user, an untouched or an already kept line says is worth nothing here. What new names
leave of the budget goes to shoulds; mays that say nothing new are never taken. Only what the request holds is looked
at: nothing later is known when an event happens. A lazy greedy cover: values only fall as the view grows, so a unit is
valued again only when it comes to the top, O(units log units).
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from compression.engine.edits import Edit
from compression.engine.focus import DIAGNOSTIC, Focus, focus_of
from compression.engine.history import Course, Request
from compression.engine.occurrences import Occurrences, View, occurrences_of, words
from compression.engine.policy import Policy
from compression.engine.proposals import Prepared
from compression.engine.stubs import Stub, Stubber
from compression.engine.transcript import Part
from compression.engine.units import Tier, Unit, assembled

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

TIERS: Mapping[Tier, float] = {"must": 2.0, "should": 1.3, "may": 1.0}
PLAIN: Mapping[Tier, float] = {"must": 1.0, "should": 0.1, "may": 0.0}
"""What a unit is worth beside its names: a total without a name still tells something."""

IN_ITS_LINE = 1.25
"""A name in its line tells more than the same name in a list."""

DEFINES = 1.25
RELEVANT = 1.3
"""A name that the current work speaks of, against one that it does not."""

DIAGNOSTIC_WORTH = 6.0
"""What a DEBUG line or a timing is worth, whatever names it has, while a bug or speed is the task."""

AGAIN = 0.5
"""For each further result that says a name: what comes up again and again is asked for again."""

HALF_LIFE = 40_000
"""Tokens after which a name has lost half of what its age can take, which is two thirds of its worth."""

_FIRST_LINE = 34  # a stub's own line and the count of what was omitted, in tokens
_LIST = "also: "
_LIST_TOKENS = 4
_GAP_TOKENS = 2
_SMALLEST = 2  # fewer tokens than this hold no name
_ROUNDS = 4


class Choice(NamedTuple):
    """A unit (its number), or a bare name of a candidate, that has been taken."""

    candidate: int
    unit: int
    name: str


@dataclass(slots=True)
class Candidate:
    """A result that the event may stub. ``kinds`` = its names with their classes."""

    message: int
    part: int
    tokens: int
    original: Part
    sha: str
    prepared: Prepared
    kinds: Mapping[str, str]
    taken: set[int] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    starts: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)
    stub: Stub | None = None
    stale: bool = True

    @property
    def rate(self) -> float:
        return self.tokens / max(1, len(self.original.text))

    @property
    def standing(self) -> int:
        """Tokens that this result will cost."""
        return self.tokens if self.stub is None else self.stub.tokens

    def cost(self, unit: Unit) -> float:
        """About how many tokens a unit adds, with the marks of the gaps around it."""
        gaps = 0
        if unit.lines and self.prepared.units.gaps == "mark":
            gaps = 1 - (unit.first in self.ends) - (unit.first + unit.lines in self.starts)
        return max(1.0, len(unit.text) * self.rate + 1 + _GAP_TOKENS * gaps)

    def name_cost(self, name: str) -> float:
        """About how many tokens a name adds to the list."""
        return (len(name) + 2) * self.rate + 0.5 + (0 if self.listed else _LIST_TOKENS)

    def take(self, number: int) -> None:
        """Put a unit into the stub."""
        unit = self.prepared.units.units[number]
        self.taken.add(number)
        self.stale = True
        if unit.lines:
            self.starts.add(unit.first)
            self.ends.add(unit.first + unit.lines)

    def drop(self, choice: Choice) -> None:
        """Take back a unit or a name."""
        self.stale = True
        if choice.name:
            self.listed.discard(choice.name)
        else:
            self.taken.discard(choice.unit)

    def assemble(self, stubber: Stubber) -> None:
        """Make the stub of what was taken; none when it would be no shorter than the original."""
        if not self.stale:
            return
        units = self.prepared.units
        chosen = [units.units[number] for number in sorted(self.taken)]
        said = {name for number in self.taken for name in self.prepared.names[number]}
        listed = [name for name in self.kinds if name in self.listed and name not in said]
        if listed:
            label = "name" if len(listed) == 1 else "names"
            chosen.append(Unit(_LIST + ", ".join(listed), "may", 1 << 39, 0, label))
        body = assembled(units, chosen)
        self.stub = stubber.finished(self.original, self.sha, self.tokens, self.prepared.content, "novelty", body)
        self.stale = False


def allocate(
    course: Course,
    request: Request,
    results: Sequence[tuple[int, int, int]],
    standing: Mapping[int, Edit],
    budget: float,
    policy: Policy,
    stubber: Stubber,
) -> list[Candidate]:
    """What stands for each of ``results`` (message, part, tokens) when together they may cost ``budget`` tokens.

    ``standing`` = edits in force, by message. Less is spent when ``novelty_ceiling`` says so, more when the budget lies
    below what ``per_result`` would spend: a target out of reach is no reason to keep nothing.
    """
    names = occurrences_of(course)
    found = []
    for i, j, tokens in results:
        part, sha = course.transcript.messages[i].parts[j], course.sha(i, j)
        prepared = stubber.proposals.of(part, course.arguments.get(part.call_id, ""), sha)
        found.append(Candidate(i, j, tokens, part, sha, prepared, names.names(i)))
    focus = focus_of(course, names, request) if policy.context_aware else Focus()
    worth = _worths(course, names, request, found, standing, focus)
    least = sum(min(policy.stub_budget(tokens), tokens // 2) for _, _, tokens in results)
    most = policy.novelty_ceiling * sum(tokens for _, _, tokens in results)
    _Cover(found, worth, focus, stubber).spend(max(least, min(budget, most)), policy.result_floor)
    return found


def _worths(
    course: Course,
    names: Occurrences,
    request: Request,
    candidates: Sequence[Candidate],
    standing: Mapping[int, Edit],
    focus: Focus,
) -> dict[str, float]:
    """What each name of the candidates is worth; those that the rest of the window says are left out."""
    rest = {*request.indexes()}.difference(candidate.message for candidate in candidates)
    said = _Said(names, rest, {i: edit for i, edit in standing.items() if i in rest}, request.end)
    worth: dict[str, float] = {}
    known: set[str] = set()
    for candidate in reversed(candidates):
        age = course.prefix[request.end] - course.prefix[candidate.message + 1]
        fresh = (1 + 2 * 0.5 ** (age / HALF_LIFE)) / 3
        for name, kind in candidate.kinds.items():
            if name in worth:
                worth[name] += AGAIN * WEIGHTS[kind]
            elif name not in known:
                known.add(name)
                if "\n" not in name and not said.by_others(name):
                    worth[name] = WEIGHTS[kind] * fresh * (1 + (RELEVANT - 1) * focus.share(name))
    return worth


class _Said:
    """Whether messages that an event does not touch say a name. ``edits`` = what stands for some of them."""

    def __init__(self, names: Occurrences, rest: Collection[int], edits: Mapping[int, Edit], end: int) -> None:
        self._names = names
        self._rest = rest
        self._end = end
        self._stubs = {i: View([edit.text.partition("\n")[2]]) for i, edit in edits.items()}
        self._words: set[str] = set()
        self._words.update(
            *(names.words(i) for i in rest if i not in edits), *(v.words() for v in self._stubs.values())
        )

    def by_others(self, name: str) -> bool:
        if name in self._words:
            return True
        asked = words(name)
        if asked == {name} or not self._words.issuperset(asked):
            return False
        for i in self._names.messages(name):
            if i >= self._end:
                return False
            if i in self._rest and (i not in self._stubs or self._stubs[i].holds(name)):
                return True
        return False


class _Cover:
    """The state of one allocation while it runs."""

    def __init__(
        self, candidates: Sequence[Candidate], worth: Mapping[str, float], focus: Focus, stubber: Stubber
    ) -> None:
        self._candidates = candidates
        self._worth = worth
        self._focus = focus
        self._stubber = stubber
        self._covered: set[str] = set()
        self._order: list[Choice] = []
        self._heap: list[tuple[float, int, int, str]] = []

    def spend(self, budget: float, floor: int) -> None:
        """Floors, then the best units and names until the budget is spent; estimates are set right by counting."""
        used = self._floors(min(floor, max(0.0, budget) / (2 * max(1, len(self._candidates)))))
        self._fill_heap()
        for _ in range(_ROUNDS):
            more = self._greedy(budget - used)
            self._assemble()
            used = sum(candidate.standing for candidate in self._candidates)
            if not more or used >= budget:
                break
        while used > budget and self._order:
            self._drop(used - budget)
            self._assemble()
            used = sum(candidate.standing for candidate in self._candidates)

    def _assemble(self) -> None:
        for candidate in self._candidates:
            candidate.assemble(self._stubber)

    def _floors(self, floor: float) -> float:
        """Each result's musts in their order, as far as its floor reaches. What they cost, in tokens."""
        used = 0.0
        for candidate in self._candidates:
            units = candidate.prepared.units.units
            candidate.starts.add(candidate.prepared.units.total)
            candidate.ends.add(0)
            room = floor - _FIRST_LINE
            used += _FIRST_LINE
            musts = [number for number, unit in enumerate(units) if unit.tier == "must"]
            for number in sorted(musts, key=lambda number: (units[number].rank, units[number].order)):
                cost = candidate.cost(units[number])
                if cost <= room:
                    room -= cost
                    used += cost
                    candidate.take(number)
                    self._covered.update(candidate.prepared.names[number])
        return used

    def _fill_heap(self) -> None:
        """Every unit that may be worth something, and every name by itself."""
        heap = self._heap
        for at, candidate in enumerate(self._candidates):
            units, names = candidate.prepared.units.units, candidate.prepared.names
            rate = candidate.rate
            for number, unit in enumerate(units):
                if number not in candidate.taken and (value := self._value(unit, names[number])):
                    heap.append((-value / candidate.cost(unit), at, number, ""))
            heap += [
                (-self._worth[name] / ((len(name) + 2) * rate + 0.5), at, -1, name)
                for name in candidate.kinds
                if name in self._worth and name not in self._covered
            ]
        heapq.heapify(heap)

    def _value(self, unit: Unit, names: Sequence[str]) -> float:
        worth, covered = self._worth, self._covered
        value = 0.0
        for name in names:
            if name in worth and name not in covered:
                value += worth[name]
        value *= IN_ITS_LINE * TIERS[unit.tier]
        if unit.label == "definition":
            value *= DEFINES
        if self._focus.diagnosing and DIAGNOSTIC.search(unit.text):
            value += DIAGNOSTIC_WORTH
        return value + PLAIN[unit.tier]

    def _greedy(self, room: float) -> bool:
        """Spend about ``room`` tokens. Whether there is anything left that did not fit."""
        heap, covered = self._heap, self._covered
        passed: list[tuple[float, int, int, str]] = []
        while heap and room > _SMALLEST:
            key, at, number, name = heapq.heappop(heap)
            candidate = self._candidates[at]
            if name:
                cost = candidate.name_cost(name)
                if name in covered:
                    continue
                if cost > room:
                    passed.append((key, at, number, name))
                    continue
                candidate.listed.add(name)
                candidate.stale = True
                covered.add(name)
            else:
                unit, names = candidate.prepared.units.units[number], candidate.prepared.names[number]
                value = self._value(unit, names)
                cost = candidate.cost(unit)
                if not value:
                    continue
                # A gap that closed makes a unit cheaper: what rises is taken at once.
                if heap and key < -value / cost > heap[0][0]:
                    heapq.heappush(heap, (-value / cost, at, number, ""))
                    continue
                if cost > room:
                    passed.append((key, at, number, name))
                    continue
                candidate.take(number)
                covered.update(names)
            room -= cost
            self._order.append(Choice(at, number, name))
        for row in passed:
            heapq.heappush(heap, row)
        return bool(heap)

    def _drop(self, excess: float) -> None:
        """Take back the last choices, about ``excess`` tokens of them."""
        while self._order and excess > 0:
            choice = self._order.pop()
            candidate = self._candidates[choice.candidate]
            unit = candidate.prepared.units.units[choice.unit]
            excess -= candidate.name_cost(choice.name) if choice.name else candidate.cost(unit)
            candidate.drop(choice)
