"""What a trial says as a whole: sums over its sessions, those that are tuned on apart from those held out.

Shares are sums over sums. A session that violates a promise, overflows, thrashes or fails is broken; what is
recommended has none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from statistics import median
from typing import Any

from compression.models import TrialResult


@dataclass(frozen=True, slots=True)
class TrialTotals:
    """Sums over sessions. ``cost_usd`` is None when one of them has no price (``unpriced``). ``break_even`` = median
    over the ``break_even_sessions`` that have one; ``unfit`` sessions overflow under the policy."""

    sessions: int
    turns: int
    sent_before: int
    sent_after: int
    cost_usd: Decimal | None
    unpriced: int
    rlr_n: int
    rlr_kept: int
    rlr_reached: int
    events: int
    violations: int
    unfit: int
    thrashing: int
    failed: int
    broken: int
    break_even: float | None
    break_even_sessions: int
    cache_read: int
    cache_tokens: int

    @property
    def hit_rate(self) -> float | None:
        """Input tokens that were read from the cache, of all input tokens."""
        return share(self.cache_read, self.cache_tokens)

    @property
    def session_saved(self) -> float | None:
        return share(self.sent_before - self.sent_after, self.sent_before)

    @property
    def rlr_view(self) -> float | None:
        return share(self.rlr_kept, self.rlr_n)

    @property
    def rlr_lost(self) -> int:
        """Names used later that had left the view."""
        return self.rlr_n - self.rlr_kept

    def as_dict(self) -> dict[str, Any]:
        """For storing and for the API; money is a decimal string."""
        cost = None if self.cost_usd is None else str(self.cost_usd)
        derived = {"session_saved": self.session_saved, "rlr_view": self.rlr_view, "rlr_lost": self.rlr_lost}
        derived["hit_rate"] = self.hit_rate
        return {**asdict(self), "cost_usd": cost, **derived}


def share(part: float, whole: float) -> float | None:
    """Rounded as the summary of a replay rounds; None of nothing."""
    return round(part / whole, 6) if whole else None


def is_broken(result: TrialResult) -> bool:
    return bool(result.error or result.violations or result.overflow_turn is not None or result.thrash)


def totals_of(results: Iterable[TrialResult]) -> TrialTotals:
    rows: Sequence[TrialResult] = list(results)
    worked = [row for row in rows if not row.error]
    costs = [row.cost_usd for row in worked if row.turns]
    paid = [row.break_even for row in worked if row.break_even is not None]
    known = bool(costs) and None not in costs

    def total(name: str) -> int:
        return sum(getattr(row, name) for row in worked)

    return TrialTotals(
        sessions=len(rows),
        turns=total("turns"),
        sent_before=total("sent_before"),
        sent_after=total("sent_after"),
        cost_usd=sum((cost for cost in costs if cost is not None), Decimal(0)) if known else None,
        unpriced=costs.count(None),
        rlr_n=total("rlr_n"),
        rlr_kept=total("rlr_kept"),
        rlr_reached=total("rlr_reached"),
        events=total("events"),
        violations=total("violations"),
        unfit=sum(row.overflow_turn is not None for row in worked),
        thrashing=sum(row.thrash > 0 for row in worked),
        failed=len(rows) - len(worked),
        broken=sum(map(is_broken, rows)),
        break_even=round(median(paid), 6) if paid else None,
        break_even_sessions=len(paid),
        cache_read=total("cache_read"),
        cache_tokens=total("cache_read") + total("cache_write") + total("cache_uncached"),
    )


def figures_of(results: Sequence[TrialResult], held_out: Collection[int]) -> dict[str, Any]:
    """The columns of a finished trial. ``held_out``: keys of the sessions that nothing is tuned on."""
    tuned = totals_of(row for row in results if row.session_id not in held_out)
    rest = [row for row in results if row.session_id in held_out]
    return {
        "figures": {"tuned": tuned.as_dict(), "held_out": totals_of(rest).as_dict() if rest else None},
        "cost_usd": tuned.cost_usd,
        "sent_after": tuned.sent_after,
        "session_saved": tuned.session_saved,
        "rlr_view": tuned.rlr_view,
        "rlr_lost": tuned.rlr_lost,
        "events": tuned.events,
        "broken": tuned.broken,
    }
