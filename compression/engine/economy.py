"""What an event costs, asked of somebody who knows prices: the engine itself knows none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prospect:
    """An event that may happen. Calibrated tokens; ``unchanged`` of ``before`` lie before the first change."""

    turn: int
    before: int
    after: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class Economy:
    """``break_even`` = further calls after which an event pays, None when that is not known; ``is_cold`` = whether the
    cache has expired before the call of a turn."""

    break_even: Callable[[Prospect], float | None]
    is_cold: Callable[[int], bool]
