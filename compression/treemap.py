"""Squarified treemap (Bruls, Huizing, van Wijk 2000): rectangles whose areas are shares. Percent units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ASPECT = 1.9
"""Width of the drawing over its height; only the shape of the tiles depends on it."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Left, top, width and height in percent of the drawing."""

    left: float
    top: float
    width: float
    height: float


def tiles(values: Sequence[float]) -> list[Tile]:
    """A tile for each value, in order; the values must be positive and fall."""
    whole = sum(values)
    areas = [value / whole * ASPECT for value in values]
    x, y, w, h = 0.0, 0.0, ASPECT, 1.0
    placed: list[Tile] = []
    at = 0
    while at < len(areas):
        side = min(w, h)
        end = at + 1
        while end < len(areas) and _worst(areas[at : end + 1], side) <= _worst(areas[at:end], side):
            end += 1
        row, depth, offset = areas[at:end], sum(areas[at:end]) / side, 0.0
        for area in row:
            length = area / depth
            box = (x, y + offset, depth, length) if w >= h else (x + offset, y, length, depth)
            placed.append(Tile(box[0] / ASPECT * 100, box[1] * 100, box[2] / ASPECT * 100, box[3] * 100))
            offset += length
        x, y, w, h = (x + depth, y, w - depth, h) if w >= h else (x, y + depth, w, h - depth)
        at = end
    return placed


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    return max(max(side * side * area / total**2, total**2 / (side * side * area)) for area in row)
