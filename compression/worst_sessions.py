"""The worst sessions of a project by cause, under the policy in force: overflow, thrash, one huge result, miscounting.

Read off the results of runs and the replays that are stored, never worked out here: a session that has neither under
this policy is named as not yet worked out. A constant number of queries, each bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, F, FloatField, IntegerField, Max, OuterRef, Q, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Abs, Cast
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from compression.engine import ENGINE_VERSION
from compression.engine.policy import Policy
from compression.models import RunResult
from compression.project_prices import digest_of
from compression.stored_summaries import results_of_replays
from sessions.models import Project, Session

LISTED, NAMED = 30, 20
_LARGEST = Cast(KT("summary__largest_result__tokens"), IntegerField())


@dataclass(frozen=True, slots=True)
class Cause:
    """One way to be bad."""

    name: str
    label: str | Promise
    about: str | Promise


CAUSES = (
    Cause(
        "overflow", _("Overflow"),
        _("the earliest first request that does not fit; first without any policy, then under the one in force"),
    ),
    Cause("thrash", _("Thrash"), _("events close to the one before, or that freed little, per 100 turns")),
    Cause(
        "dollars", _("Dearer than none"),
        _("dollars that the policy costs above none with the same cache, the most first; sessions with a price only"),
    ),
    Cause(
        "result", _("Largest single result"),
        _("tokens of the largest tool result, as counted, and its share of the window"),
    ),
    Cause(
        "counter", _("Counter error"),
        _("median of (estimate - recorded) / recorded; a large one makes every other figure doubtful"),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A session with its figures; ``turn`` is where to look."""

    session: Session
    result: RunResult
    largest: dict[str, Any]
    turn: int

    @property
    def largest_share(self) -> float | None:
        window = self.result.summary.get("context_window")
        return self.largest["tokens"] / window if self.largest and window else None


@dataclass(frozen=True, slots=True)
class Worst:
    """``rows`` of one cause, the worst first; ``total`` sessions have it. ``counts`` by cause."""

    cause: Cause
    rows: Sequence[WorstRow]
    counts: dict[str, int]
    worked_out: int
    waiting: Sequence[Session]
    waiting_total: int

    @property
    def total(self) -> int:
        return self.counts[self.cause.name]


def current_results(project: Project, policy: Policy) -> QuerySet[RunResult]:
    """The newest result of each session's present revision under a policy, from whatever run."""
    fitting = _fitting(policy).filter(session__project=project, session_revision=F("session__revision"))
    newest = fitting.order_by().values("session").annotate(newest=Max("pk")).values("newest")
    return RunResult.objects.filter(pk__in=newest)


def _fitting(policy: Policy) -> QuerySet[RunResult]:
    return RunResult.objects.filter(
        run__policy_digest=policy.digest, run__engine_version=ENGINE_VERSION, state=RunResult.State.DONE
    )


def not_worked_out(project: Project, policy: Policy, looked_at: Sequence[RunResult]) -> QuerySet[Session]:
    """Sessions without a current result, be it of a run of the policy or ``looked_at``, the newest first."""
    known = _fitting(policy).filter(session=OuterRef("pk"), session_revision=OuterRef("revision"))
    mine = Session.objects.filter(project=project).exclude(pk__in=[result.session_id for result in looked_at])
    return mine.filter(~Exists(known)).order_by("-pk")


def looked_at(project: Project, policy: Policy) -> list[RunResult]:
    """Unsaved results of sessions that were replayed under the policy on a page and in no run."""
    return results_of_replays(project, policy, _fitting(policy))


def worst_sessions(project: Project, policy: Policy, cause: Cause) -> Worst:
    """The page of one cause. Five queries, six when a stored replay is read for the first time."""
    results = current_results(project, policy)
    filters = {
        "overflow": Q(overflow_turn_none__isnull=False) | Q(overflow_turn__isnull=False),
        "thrash": Q(thrash__gt=0),
        "dollars": Q(cost_usd__gt=F("cost_usd_none"), run__prices_digest=digest_of(project)),
        "result": Q(summary__largest_result__tokens__gt=0),
        "counter": Q(counter_error__isnull=False) & ~Q(counter_error=0),
    }
    orders: dict[str, list[Any]] = {
        "overflow": [F("overflow_turn").asc(nulls_last=True), F("overflow_turn_none").asc(nulls_last=True)],
        "thrash": [F("thrash").desc()],
        "dollars": [(Cast("cost_usd", FloatField()) - Cast("cost_usd_none", FloatField())).desc()],
        "result": [_LARGEST.desc()],
        "counter": [Abs(Cast("counter_error", FloatField())).desc()],
    }
    counts = results.aggregate(
        worked_out=Count("pk"), **{name: Count("pk", filter=fits) for name, fits in filters.items()}
    )
    rows = results.filter(filters[cause.name]).select_related("session")
    rows = rows.only(
        "summary", "overflow_turn", "overflow_turn_none", "events", "thrash", "counter_error", "turns", "cost_usd",
        "cost_usd_none",
        "session__title", "session__key", "session__model", "session__turn_count", "session__project_id",
    )  # fmt: skip
    extra = looked_at(project, policy)
    chosen = [*rows.order_by(*orders[cause.name], "pk")[:LISTED], *(one for one in extra if _has(cause.name, one))]
    waiting = not_worked_out(project, policy, extra)
    return Worst(
        cause=cause,
        rows=[_row(result) for result in sorted(chosen, key=lambda one: _place(cause.name, one))[:LISTED]],
        counts={name: counts[name] + sum(_has(name, one) for one in extra) for name in filters},
        worked_out=counts["worked_out"] + len(extra),
        waiting=list(waiting.only("title", "key", "turn_count", "project_id")[:NAMED]),
        waiting_total=waiting.count(),
    )


def _has(cause: str, result: RunResult) -> bool:
    """What the filters of the query say, of one result."""
    match cause:
        case "overflow":
            return result.overflow_turn is not None or result.overflow_turn_none is not None
        case "thrash":
            return bool(result.thrash)
        case "dollars":
            return _extra_usd(result) > 0
        case "result":
            return _largest(result) > 0
    return bool(result.counter_error)


def _place(cause: str, result: RunResult) -> tuple[float, ...]:
    """What the orders of the query say, of one result: the smaller, the worse. Equal ones keep their order."""
    match cause:
        case "overflow":
            turns = (result.overflow_turn, result.overflow_turn_none)
            return tuple(float("inf") if turn is None else turn for turn in turns)
        case "thrash":
            return (-(result.thrash or 0),)
        case "dollars":
            return (-float(_extra_usd(result)),)
        case "result":
            return (-_largest(result),)
    return (-abs(result.counter_error or 0),)


def _extra_usd(result: RunResult) -> Decimal:
    """Dollars above those of no policy; 0 where a price is not known."""
    return -(result.saved_usd or Decimal(0))


def _largest(result: RunResult) -> int:
    return int((result.summary.get("largest_result") or {}).get("tokens", 0))


def _row(result: RunResult) -> WorstRow:
    largest = result.summary.get("largest_result") or {}
    turns = (result.overflow_turn, result.overflow_turn_none, largest.get("turn"))
    return WorstRow(result.session, result, largest, next((turn for turn in turns if turn is not None), 0))
