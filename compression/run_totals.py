"""What a run says as a whole: micro-averages, their spread over the sessions, and the worst of them.

A share of a run is the sum of the parts over the sum of the wholes; shares of sessions are never averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from compression.models import RunResult
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


@dataclass(frozen=True, slots=True)
class Spread:
    """p10, median and p90 over ``count`` sessions that have the figure; all None when none has."""

    count: int
    p10: float | None
    median: float | None
    p90: float | None


@dataclass(frozen=True, slots=True)
class Worst:
    """The session with the smallest figure, among the same sessions as the spread."""

    result: RunResult
    value: float
    turn: int

    @property
    def is_moved(self) -> bool:
        return is_moved(self.result)


@dataclass(frozen=True, slots=True)
class Saved:
    """A share of a run: ``part`` / ``whole``, both sums over sessions; in tokens, of names for what was retained."""

    name: str
    label: str
    denominator: str
    part: int
    whole: int
    share: float | None
    spread: Spread
    worst: Worst | None


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the finished sessions of a run. Sessions: ``overflow`` under the policy, ``overflow_none`` without.

    ``retained``: names used later that the view still says; ``reached`` of them are there or reachable by recall.
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
                    "part": one.part,
                    "whole": one.whole,
                    "denominator": str(one.denominator),
                    **spread_dict(one.spread),
                    "worst_session": one.worst.result.session_id if one.worst and not one.worst.is_moved else None,
                }
                for one in (*self.saved, self.retained)
            },
            "rlr_reach": share(self.reached, self.retained.whole),
            "counter_error": spread_dict(self.counter_error),
        }


def spread_dict(spread: Spread) -> dict[str, Any]:
    return {"sessions": spread.count, "p10": spread.p10, "median": spread.median, "p90": spread.p90}


def share(part: int, whole: int) -> float | None:
    """Rounded as the summary of a replay rounds."""
    return round(part / whole, 6) if whole else None


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
    shares = (*SAVED, RETAINED)
    names = [name for name, _, _ in shares]
    rows = list(done.values_list("pk", "counter_error", *names))
    lowest: dict[str, tuple[float, int]] = {}
    for at, name in enumerate(names, start=2):
        candidates = [(row[at], row[0]) for row in rows if row[at] is not None]
        if candidates:
            lowest[name] = min(candidates)
    worst = done.filter(pk__in={key for _, key in lowest.values()}).select_related("session", "run")
    known = {result.pk: result for result in worst.only("run__project", "overflow_turn", "summary", *SESSION_COLUMNS)}
    saved = []
    for at, (name, label, denominator) in enumerate(shares, start=2):
        part, whole = part_and_whole(name, sums)
        low = lowest.get(name)
        found = known.get(low[1]) if low else None
        one = Worst(found, low[0], turn_to_look_at(found)) if low and found else None
        spread = spread_of([row[at] for row in rows if row[at] is not None])
        saved.append(Saved(name, str(label), str(denominator), part, whole, share(part, whole), spread, one))
    return Totals(
        sessions=sums["sessions"],
        turns=sums["turns"],
        events=sums["events"],
        violations=sums["violations"],
        broken=sums["broken"],
        overflow=sums["overflow"],
        overflow_none=sums["overflow_none"],
        saved=saved[:-1],
        retained=saved[-1],
        reached=sums["rlr_reached"],
        counter_error=spread_of([row[1] for row in rows if row[1] is not None]),
    )


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
