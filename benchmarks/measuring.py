"""Medians of repeated runs, interleaved, so that a busy machine slows both sides alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``limit`` is what ``value`` should not pass (None: for information)."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    detail: str = ""

    @property
    def holds(self) -> bool:
        return self.limit is None or self.value <= self.limit

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def medians(*actions: Callable[[], object], rounds: int = 5) -> list[float]:
    """Median seconds of each action; every round runs all of them once."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, seconds in zip(actions, times, strict=True):
            started = perf_counter()
            action()
            seconds.append(perf_counter() - started)
    return [median(seconds) for seconds in times]
