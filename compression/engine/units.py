"""What a compressor proposes, and how one result's budget is spent on it.

A compressor cuts an output into units (a line, a block, a computed line) in three tiers; ``fill``
takes the musts first, then shoulds, then mays until the budget is spent, and puts what it took back
in document order with a line for every omission. Units know nothing of other results: an allocation
over a whole event may choose among the same units by other rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from typing import Literal, NamedTuple

from compression.engine.tool_output import ToolOutput

Tier = Literal["must", "should", "may"]
Count = Callable[[Sequence[str]], list[int]]

MARK = "…"
"""Stands where lines are missing, when how many is told once."""

_TIER_RANK: dict[Tier, int] = {"must": 0, "should": 1, "may": 2}
# Names end at blanks and at these; texts of scripts without blanks may be cut anywhere.
_BETWEEN_NAMES = frozenset("\"'`<>()[]{}|;")
_WITHOUT_BLANKS = range(0x2E80, 0x1F000)


class Unit(NamedTuple):
    """One thing that a stub may hold.

    ``order`` is its place in the stub, ``rank`` its turn inside its tier (lower first). It stands for the
    original's entries ``first`` .. ``first + lines`` (0 lines: a computed line that stands for none).
    ``counts`` are numbers in ``text`` that were computed, exactly as written there.
    """

    text: str
    tier: Tier
    order: int
    rank: int
    label: str
    first: int = 0
    lines: int = 0
    counts: tuple[str, ...] = ()


def _nothing() -> tuple[Unit, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Units:
    """All units of one output. ``total`` entries of kind ``noun`` (singular, plural) is what omissions are
    counted in; ``gaps``: a line for each omission where it is, one line for all at the end, or that line and
    a mark at each place.

    ``rest`` makes the ordinary units (tier may, by rank and order) that are not among ``units``: a small budget comes
    to few of them, and there are as many as lines.
    """

    units: tuple[Unit, ...]
    total: int
    noun: tuple[str, str] = ("line", "lines")
    gaps: Literal["each", "once", "mark"] = "each"
    rest: Callable[[], Iterable[Unit]] = _nothing

    def complete(self) -> Units:
        """The same with nothing left to make."""
        return replace(self, units=(*self.units, *self.rest()), rest=_nothing)


@dataclass(frozen=True, slots=True)
class Compressed:
    """A stub's body (its first line is the planner's), what it kept in words, and the numbers in it that
    were computed rather than copied."""

    text: str
    kept: tuple[str, ...] = ()
    counts: frozenset[str] = frozenset()


def counted(number: int) -> str:
    """A count as stubs write it."""
    return f"{number:,}"


def omission(number: int, noun: tuple[str, str]) -> str:
    return f"... {counted(number)} {noun[number != 1]} omitted"


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters, cut between words and marked with an ellipsis. A name or number is kept
    whole or not at all; one that fills the limit alone leaves only the ellipsis."""
    if len(text) <= limit:
        return text
    cut = max(limit - 2, 0)
    while cut > 0 and _in_name(text[cut - 1]) and _in_name(text[cut]):
        cut -= 1
    kept = text[:cut].rstrip()
    return f"{kept} …" if kept else "…"


def _in_name(character: str) -> bool:
    return not (character.isspace() or character in _BETWEEN_NAMES or ord(character) in _WITHOUT_BLANKS)


def units_of(
    source: ToolOutput,
    units: Iterable[Unit],
    *,
    total: int | None = None,
    noun: tuple[str, str] = ("line", "lines"),
    gaps: Literal["each", "once"] = "each",
    rest: Callable[[], Iterable[Unit]] = _nothing,
) -> Units:
    """``units`` and what every output has beside its text: exit status first, an omitted reminder last."""
    common = [Unit(line, "must", -1_000, -1_000, "exit code") for line in source.status]
    if source.reminder_lines:
        number = counted(source.reminder_lines)
        text = f"... system reminder of {number} {'line' if source.reminder_lines == 1 else 'lines'} omitted"
        common.append(Unit(text, "should", 1 << 40, 1 << 40, "reminder", counts=(number,)))
    return Units((*common, *units), len(source.lines) if total is None else total, noun, gaps, rest)


def fill(units: Units, budget: int, count: Count, *, longest: int | None = None) -> Compressed:
    """The best of ``units`` within ``budget`` tokens (hard, omission lines included) and ``longest``
    characters. A unit that does not fit is left out and smaller ones after it are still tried, of the ordinary ones
    only some; when the musts alone overrun, each is first shortened to a quarter of the budget.
    """
    gap_text = omission(max(units.total, 1), units.noun)
    taken: list[tuple[Unit, int]] = []
    used = gap_cost = 0
    starts: set[int] = {units.total}
    ends: set[int] = {0}
    first = True
    for batch in _batches(units, budget):
        costs = count([*(f"{unit.text}\n" for unit in batch), f"{gap_text}\n"])
        if first:
            first = False
            gap_cost = used = costs[-1] if units.total else 0
            batch, costs = _shortened(batch, costs, budget, count)
        before = len(taken)
        for unit, cost in zip(batch, costs, strict=False):
            change = 0
            if unit.lines and units.gaps == "each":
                change = gap_cost * (1 - (unit.first in ends) - (unit.first + unit.lines in starts))
            if used + cost + change > budget:
                continue
            used += cost + change
            taken.append((unit, cost))
            if unit.lines:
                starts.add(unit.first)
                ends.add(unit.first + unit.lines)
        if budget - used < max(3, budget // 40) or (before == len(taken) and batch and batch[0].tier == "may"):
            break
    return _fitted(units, taken, budget, count, longest)


def _batches(units: Units, budget: int) -> Iterator[list[Unit]]:
    """The units by their turn, as many at once as the budget could hold by characters: most outputs need one
    counting call, and never come to their ordinary lines."""
    ranked = sorted((unit for unit in units.units if unit.tier != "may"), key=_turn)
    ordinary = sorted((unit for unit in units.units if unit.tier == "may"), key=_turn)
    for found, width in ((ranked, 8), (merge(ordinary, units.rest(), key=_turn), 2)):
        batch: list[Unit] = []
        room = width * budget + 400
        for unit in found:
            batch.append(unit)
            room -= len(unit.text) + 1
            if room < 0:
                yield batch
                batch, room = [], width * budget + 400
        if batch or found is ranked:
            yield batch


def _turn(unit: Unit) -> tuple[int, int, int]:
    return _TIER_RANK[unit.tier], unit.rank, unit.order


def _shortened(batch: list[Unit], costs: list[int], budget: int, count: Count) -> tuple[list[Unit], list[int]]:
    musts = [index for index, unit in enumerate(batch) if unit.tier == "must"]
    share = max(budget // 4, 1)
    if sum(costs[index] for index in musts) <= budget - costs[-1] or all(costs[index] <= share for index in musts):
        return batch, costs
    units, costs = list(batch), list(costs)
    long = [index for index in musts if costs[index] > share]
    for index in long:
        unit = units[index]
        units[index] = unit._replace(text=clip(unit.text, len(unit.text) * share // costs[index]))
    for index, cost in zip(long, count([f"{units[index].text}\n" for index in long]), strict=True):
        costs[index] = cost
    return units, costs


def _fitted(units: Units, taken: list[tuple[Unit, int]], budget: int, count: Count, longest: int | None) -> Compressed:
    """Tokens of a whole are not always the sum over its lines: count the body, drop the last choices until
    it fits."""
    while True:
        body = assembled(units, [unit for unit, _ in taken])
        excess = count([body.text])[0] - budget
        too_long = longest is not None and len(body.text) > longest
        if excess <= 0 and not too_long:
            return body
        if not taken:
            return Compressed("")
        freed = 0
        while taken and freed < max(excess, 1):
            freed += taken.pop()[1]


def assembled(units: Units, taken: Sequence[Unit]) -> Compressed:
    """The body of a stub that holds ``taken``, in document order, with what is omitted counted."""
    lines: list[str] = []
    counts: set[str] = set()
    at = shown = 0

    def omit(number: int) -> None:
        lines.append(omission(number, units.noun))
        counts.add(counted(number))

    ordered = sorted(taken, key=lambda unit: (unit.order, unit.first))
    last = max((index for index, unit in enumerate(ordered) if unit.lines), default=-1)
    for index, unit in enumerate(ordered):
        if unit.lines and units.gaps != "once":
            if unit.first > at and units.gaps == "each":
                omit(unit.first - at)
            elif unit.first > at and lines:
                lines.append(MARK)
            at = max(at, unit.first + unit.lines)
        shown += unit.lines
        lines.append(unit.text)
        counts.update(unit.counts)
        if index == last and units.gaps == "each" and at < units.total:
            omit(units.total - at)
            at = units.total
    if units.gaps != "each" and shown < units.total:
        omit(units.total - shown)
    elif last < 0 and units.gaps == "each" and units.total:
        omit(units.total)
    labels = Counter(unit.label for unit in sorted(taken, key=lambda unit: _TIER_RANK[unit.tier]))
    kept = tuple(label if number == 1 else f"{label} ({number})" for label, number in labels.items())
    return Compressed("\n".join(lines), kept, frozenset(counts))
