"""Which of many trials nobody beats, and which one of those to take.

A trial is on the front when no other one costs no more and keeps no less, and is better in one of the two. Among
these the one nearest to costing nothing and losing nothing is taken. Knows no database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A trial that is done: ``cost`` in dollars or tokens, ``kept`` = share of the names used later that stayed in view
    (1 where none was needed), ``lost`` = number of the others, ``broken`` sessions."""

    number: int
    kind: str
    cost: float
    kept: float
    lost: int
    broken: int


def front_of(points: Iterable[Point]) -> list[Point]:
    """The points that nobody beats, the cheapest first; of equals the one that was tried first. O(n log n)."""
    found: list[Point] = []
    for point in sorted(points, key=lambda p: (p.cost, -p.kept, p.number)):
        if not found or point.kept > found[-1].kept:
            found.append(point)
    return found


def nearest_to_best(front: Sequence[Point], without: float) -> Point | None:
    """The point nearest to (no cost, all kept), cost as a share of ``without``; None of nothing.

    Both are measured as they are and not between the ends of the front, so that a further point moves no other.
    """

    def away(point: Point) -> float:
        cost = point.cost / without if without else 0.0
        return float(cost**2 + (1 - point.kept) ** 2)

    return min(front, key=lambda p: (round(away(p), 9), p.cost, p.number), default=None)


def best_of(points: Sequence[Point], without: float) -> tuple[Point | None, list[Point]]:
    """The point to recommend and the front that it was taken from; ``without`` = what no compression costs.

    Only points without a broken session count, while there is one; else those with the fewest.
    """
    least = min((point.broken for point in points), default=0)
    front = front_of(point for point in points if point.broken == least)
    return nearest_to_best(front, without), front
