"""Dollars and the prompt cache of a run: sums over its sessions, and which sessions have the figures.

A result that is older than these columns has none; one whose model has no known price has no dollars. Neither counts as
0: sums say over how many sessions they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from compression.engine.money import dollars

COLUMNS = (
    "cost_usd", "cost_usd_none", "cache_read", "cache_write", "cache_uncached", "rewrites", "expiries",
    "unforced_breaks", "break_even",
)  # fmt: skip
_SUMMED = ("cache_read", "cache_write", "cache_uncached", "rewrites", "expiries", "unforced_breaks")


def money_saved(cost: Decimal | None, without: Decimal | None) -> float | None:
    """Share of the dollars without a policy; negative where the policy is the dearer of the two."""
    return round(float(1 - cost / without), 6) if cost is not None and without else None


def hit_rate(read: int | None, write: int | None, uncached: int | None) -> float | None:
    """Share of all input that was read from the cache."""
    whole = (read or 0) + (write or 0) + (uncached or 0)
    return round((read or 0) / whole, 6) if whole else None


@dataclass(frozen=True, slots=True)
class CostTotals:
    """Sums over sessions. Dollars are those of the ``priced`` ones, None when there is none; ``unpriced`` ones have no
    known price, ``unknown`` ones were worked out before there were such figures."""

    cost_usd: Decimal | None
    cost_usd_none: Decimal | None
    priced: int
    unpriced: int
    unknown: int
    cache_read: int
    cache_write: int
    cache_uncached: int
    rewrites: int
    expiries: int
    unforced_breaks: int

    @property
    def computed(self) -> int:
        """Sessions with figures of the cache."""
        return self.priced + self.unpriced

    @property
    def input_tokens(self) -> int:
        return self.cache_read + self.cache_write + self.cache_uncached

    @property
    def saved_usd(self) -> Decimal | None:
        """Negative where the policy costs more than none."""
        if self.cost_usd is None or self.cost_usd_none is None:
            return None
        return self.cost_usd_none - self.cost_usd

    def as_dict(self) -> dict[str, Any]:
        """For the API and exports; names as in a replay's summary."""
        return {
            "cost_usd": None if self.cost_usd is None else dollars(self.cost_usd),
            "cost_usd_none": None if self.cost_usd_none is None else dollars(self.cost_usd_none),
            "saved_usd": None if self.saved_usd is None else dollars(self.saved_usd),
            "sessions_priced": self.priced,
            "sessions_without_price": self.unpriced,
            "sessions_not_computed": self.unknown,
            **{name: getattr(self, name) for name in _SUMMED},
        }


def cost_totals(rows: Iterable[Mapping[str, Any]]) -> CostTotals:
    """Added up here and not in the database, where SQLite would add floating point numbers."""
    listed = list(rows)
    computed = [row for row in listed if row["cache_read"] is not None]
    priced = [row for row in computed if row["cost_usd"] is not None and row["cost_usd_none"] is not None]
    return CostTotals(
        cost_usd=sum((row["cost_usd"] for row in priced), Decimal(0)) if priced else None,
        cost_usd_none=sum((row["cost_usd_none"] for row in priced), Decimal(0)) if priced else None,
        priced=len(priced),
        unpriced=len(computed) - len(priced),
        unknown=len(listed) - len(computed),
        **{name: sum(row[name] or 0 for row in computed) for name in _SUMMED},
    )
