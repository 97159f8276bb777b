"""After how many further calls an event has paid for the cached prefix that it broke.

``n = (w rho - r) / (r (1 - rho))`` with w and r the prices of writing and reading over that of uncached input, and rho
what is left of the tokens behind the first change. Arithmetic only.
"""

from __future__ import annotations

from math import inf


def break_even_calls(rho: float, write: float, read: float) -> float:
    """Further calls on a warm cache; never below 0. Infinite where nothing shrinks or reads are free."""
    if rho >= 1 or read <= 0:
        return inf
    return max(0.0, (write * rho - read) / (read * (1 - rho)))


def break_even_of(before: int, after: int, unchanged: int, write: float, read: float) -> float:
    """The same from tokens: ``unchanged`` of ``before`` lie before the first change. 0 where nothing lies behind it."""
    old = before - unchanged
    return break_even_calls(max(0, after - unchanged) / old, write, read) if old > 0 else 0.0
