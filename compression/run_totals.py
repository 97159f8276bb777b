"""What a run says as a whole: micro-averages, their spread over the sessions, and the worst of them.

A share of a run is the sum of the parts over the sum of the wholes; shares of sessions are never averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from compression import run_costs
from compression.engine.money import dollars
from compression.models import RunResult
from compression.run_costs import CostTotals, cost_totals, hit_rate, money_saved
from compression.run_results import SESSION_COLUMNS, is_moved, turn_to_look_at
from compression.saved_names import SAVED_NAMES

SAVED = (
    ("session_saved", SAVED_NAMES["session_saved"], _("tokens of all requests, calibrated, hidden included")),
    ("request_saved", SAVED_NAMES["request_saved"], _("tokens of each window that an event changed, hidden excluded")),
    ("tool_saved", SAVED_NAMES["tool_saved"], _("tokens of tool results in each window that an event changed")),
)
RETAINED = (
    "rlr_view",
    _("used later, still in view"),
    _("names that first stood in a changed result and were used after the event"),
)


MONEY = ("money_saved", _("saved of all dollars"), _("dollars of all calls had no policy acted, with the same cache"))
HITS = ("hit_rate", _("read from the cache"), _("tokens of all input: read, written and plain"))


@dataclass(frozen=True, slots=True)
class Spread:
    """p10, median and p90 over ``count`` sessions that have the figure; all None when none has."""

    count: int
    p10: float | None
    median: float | None
    p90: float | None


@dataclass(frozen=True, slots=True)
class Worst:
    """The session that fares worst by a figure, among the same sessions as the spread."""

    result: RunResult
    value: float
    turn: int

    @property
    def is_moved(self) -> bool:
        return is_moved(self.result)


@dataclass(frozen=True, slots=True)
class Saved:
    """A share of a run: ``part`` / ``whole``, both sums over sessions; in tokens, dollars or names."""

    name: str
    label: str
    denominator: str
    part: int | Decimal
    whole: int | Decimal
    share: float | None
    spread: Spread
    worst: Worst | None


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the finished sessions of a run. Sessions: ``overflow`` under the policy, ``overflow_none`` without.

    ``retained``: names used later that the view still says; ``reached`` of them are there or reachable by recall.
    ``money``, ``hits`` and ``break_even`` are over the sessions that have them; ``slowest`` pays back last.
    """

    sessions: int
    turns: int
    events: int
    violations: int
    broken: int
    overflow: int
    overflow_none: int
    saved: Sequence[Saved]
    retained: Saved
    reached: int
    counter_error: Spread
    costs: CostTotals
    money: Saved
    hits: Saved
    break_even: Spread
    slowest: Worst | None

    def as_dict(self) -> dict[str, Any]:
        """For the API and exports; names as in a replay's summary."""
        return {
            "sessions": self.sessions,
            "turns": self.turns,
            "events": self.events,
            "violations": self.violations,
            "sessions_with_violations": self.broken,
            "sessions_overflowing": self.overflow,
            "sessions_overflowing_without": self.overflow_none,
            **{
                one.name: {
                    "share": one.share,
                    "part": _plain(one.part),
                    "whole": _plain(one.whole),
                    "denominator": str(one.denominator),
                    **spread_dict(one.spread),
                    "worst_session": _session_of(one.worst),
                }
                for one in (*self.saved, self.retained, self.money, self.hits)
            },
            **self.costs.as_dict(),
            "break_even": {**spread_dict(self.break_even), "worst_session": _session_of(self.slowest)},
            "rlr_reach": share(self.reached, self.retained.whole),
            "counter_error": spread_dict(self.counter_error),
        }


def _plain(amount: int | Decimal) -> int | str:
    return dollars(amount) if isinstance(amount, Decimal) else amount


def _session_of(worst: Worst | None) -> int | None:
    return worst.result.session_id if worst and not worst.is_moved else None


def spread_dict(spread: Spread) -> dict[str, Any]:
    return {"sessions": spread.count, "p10": spread.p10, "median": spread.median, "p90": spread.p90}


def share(part: int | Decimal, whole: int | Decimal) -> float | None:
    """Rounded as the summary of a replay rounds. Both in the same unit."""
    return round(float(Decimal(part) / Decimal(whole)), 6) if whole else None


def quantile(ordered: Sequence[float], at: float) -> float:
    """Between two values as far as ``at`` (0..1) lies between their ranks."""
    position = at * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return round(ordered[low] + (ordered[high] - ordered[low]) * (position - low), 6)


def spread_of(values: Sequence[float]) -> Spread:
    ordered = sorted(values)
    if not ordered:
        return Spread(0, None, None, None)
    return Spread(len(ordered), quantile(ordered, 0.1), quantile(ordered, 0.5), quantile(ordered, 0.9))


def totals_of(results: QuerySet[RunResult]) -> Totals:
    """Three queries: the sums, the figures of each session, the worst ones."""
    done = results.filter(state=RunResult.State.DONE)
    sums = done.aggregate(
        sessions=Count("pk"),
        broken=Count("pk", filter=Q(violations__gt=0)),
        overflow=Count("pk", filter=Q(overflow_turn__isnull=False)),
        overflow_none=Count("pk", filter=Q(overflow_turn_none__isnull=False)),
        **{name: Sum(name, default=0) for name in SUMMED},
    )
    rows: list[dict[str, Any]] = [with_shares(row) for row in done.values("pk", *OF_SESSIONS)]
    costs = cost_totals(rows)
    spreads = {name: spread_of([row[name] for row in rows if row[name] is not None]) for name in SPREAD}
    worst = worst_of(done, rows)

    def saved(shown: tuple[str, Any, Any], part: int | Decimal, whole: int | Decimal) -> Saved:
        name, label, denominator = shown
        return Saved(
            name, str(label), str(denominator), part, whole, share(part, whole), spreads[name], worst.get(name)
        )

    return Totals(
        sessions=sums["sessions"],
        turns=sums["turns"],
        events=sums["events"],
        violations=sums["violations"],
        broken=sums["broken"],
        overflow=sums["overflow"],
        overflow_none=sums["overflow_none"],
        saved=[saved(one, *part_and_whole(one[0], sums)) for one in SAVED],
        retained=saved(RETAINED, *part_and_whole(RETAINED[0], sums)),
        reached=sums["rlr_reached"],
        counter_error=spreads["counter_error"],
        costs=costs,
        money=saved(MONEY, costs.saved_usd or Decimal(0), costs.cost_usd_none or Decimal(0)),
        hits=saved(HITS, costs.cache_read, costs.input_tokens),
        break_even=spreads["break_even"],
        slowest=worst.get("break_even"),
    )


OF_SESSIONS = ("counter_error", *(name for name, _, _ in SAVED), "rlr_view", *run_costs.COLUMNS)
SMALLEST_WORST = (*(name for name, _, _ in SAVED), "rlr_view", "money_saved", "hit_rate")
SPREAD = (*SMALLEST_WORST, "counter_error", "break_even")


def with_shares(row: dict[str, Any]) -> dict[str, Any]:
    """A session's row and the shares that its columns make."""
    tokens = (row[name] for name in ("cache_read", "cache_write", "cache_uncached"))
    return {
        **row,
        "money_saved": money_saved(row["cost_usd"], row["cost_usd_none"]),
        "hit_rate": hit_rate(*tokens),
    }


def worst_of(done: QuerySet[RunResult], rows: Sequence[Mapping[str, Any]]) -> dict[str, Worst]:
    """The worst session by each figure that any has: the smallest share, the latest break-even. One query."""
    found: dict[str, tuple[float, int]] = {}
    for name in (*SMALLEST_WORST, "break_even"):
        known = [(row[name], row["pk"]) for row in rows if row[name] is not None]
        if known:
            found[name] = min(known) if name != "break_even" else max(known, key=lambda one: (one[0], -one[1]))
    results = done.filter(pk__in={key for _, key in found.values()}).select_related("session", "run")
    known_by = {
        result.pk: result for result in results.only("run__project", "overflow_turn", "summary", *SESSION_COLUMNS)
    }
    return {
        name: Worst(known_by[key], value, turn_to_look_at(known_by[key]))
        for name, (value, key) in found.items()
        if key in known_by
    }


SUMMED = (
    "turns", "events", "violations", "sent_before", "sent_after", "request_tokens", "request_freed", "tool_before",
    "tool_after", "rlr_n", "rlr_kept", "rlr_reached",
)  # fmt: skip


def part_and_whole(name: str, sums: Mapping[str, int]) -> tuple[int, int]:
    """What a share is of: tokens saved and the tokens that they are a share of, or names kept and names needed."""
    if name == "rlr_view":
        return sums["rlr_kept"], sums["rlr_n"]
    if name == "session_saved":
        return sums["sent_before"] - sums["sent_after"], sums["sent_before"]
    if name == "request_saved":
        return sums["request_freed"], sums["request_tokens"]
    return sums["tool_before"] - sums["tool_after"], sums["tool_before"]
