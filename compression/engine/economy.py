"""What an event costs, for whoever decides about one: prices and idle times stay behind two questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compression.engine.break_even import break_even_of
from compression.engine.terms import Terms


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


def economy_of(terms: Terms) -> Economy:
    """Both answers from the prices and the idle times of a session."""

    def break_even(prospect: Prospect) -> float | None:
        ratios = terms.ratios(prospect.turn, prospect.before)
        if ratios is None:
            return None
        return break_even_of(prospect.before, prospect.after, prospect.unchanged, *ratios)

    return Economy(break_even, terms.is_cold)
