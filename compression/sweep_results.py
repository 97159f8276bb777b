"""What a sweep found: its points, the front, and the one policy to take, read off stored results.

Nothing is replayed here. The number of queries depends neither on the trials nor on the sessions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Case, F, FloatField, IntegerField, QuerySet, Value, When
from django.db.models.functions import Cast

from compression.models import Sweep, SweepSession, Trial, TrialResult
from compression.sweep_front import Point, best_of


@dataclass(frozen=True)
class Findings:
    """The trials of a sweep that are done. ``in_dollars``: every one has a price for each session with a call."""

    sweep: Sweep
    points: Sequence[Point]
    in_dollars: bool

    @cached_property
    def front(self) -> Sequence[Point]:
        """What nobody beats, of the sound ones; of those with the fewest broken sessions where none is sound."""
        return self._best[1]

    @property
    def best(self) -> Point | None:
        return self._best[0]

    @cached_property
    def _best(self) -> tuple[Point | None, list[Point]]:
        none = self.of_kind(Trial.Kind.NONE)
        return best_of(self.points, none.cost if none else max((point.cost for point in self.points), default=0.0))

    def of_kind(self, kind: str) -> Point | None:
        return next((point for point in self.points if point.kind == kind), None)

    @cached_property
    def by_number(self) -> Mapping[int, Point]:
        return {point.number: point for point in self.points}


def findings_of(sweep: Sweep) -> Findings:
    """One query of light rows."""
    done = Trial.objects.filter(sweep=sweep, state=Trial.State.DONE).order_by("number")
    rows = list(done.values_list("number", "kind", "cost_usd", "sent_after", "rlr_view", "rlr_lost", "broken"))
    in_dollars = bool(rows) and all(row[2] is not None for row in rows)
    points = [
        Point(
            number,
            kind,
            float(cost if in_dollars and cost is not None else sent),
            1.0 if kept is None else kept,
            lost,
            broken,
        )
        for number, kind, cost, sent, kept, lost, broken in rows
    ]
    return Findings(sweep, points, in_dollars)


_is_failed = Case(When(error="", then=Value(0)), default=Value(1), output_field=IntegerField())
_is_unfit = Case(When(overflow_turn=None, then=Value(0)), default=Value(1), output_field=IntegerField())
_grown = Cast(F("sent_after"), FloatField()) - Cast(F("sent_before"), FloatField())


def worst_first(trial: Trial) -> QuerySet[TrialResult]:
    """The sessions of a trial: failed, violating, overflowing, thrashing ones, then those that lost the most names,
    then those that saved the least."""
    rows = TrialResult.objects.filter(trial=trial).annotate(
        is_failed=_is_failed, is_unfit=_is_unfit, lost=F("rlr_n") - F("rlr_kept"), grown=_grown
    )
    return rows.select_related("session").order_by(
        "-is_failed", "-violations", "-is_unfit", "-thrash", "-lost", "-grown", "session_id"
    )


def worst_of(trial: Trial, project_id: int) -> TrialResult | None:
    """The session that fares worst, of those that are still in the project; none that was held out."""
    light = [f"session__{field}" for field in ("key", "title", "project")]
    own = [field.attname for field in TrialResult._meta.concrete_fields]
    names = [name.removesuffix("_id") for name in own]
    held_out = SweepSession.objects.filter(sweep=trial.sweep_id, is_held_out=True).values("session")
    rows = worst_first(trial).filter(session__project=project_id).exclude(session__in=held_out)
    return rows.only(*names, *light).first()


def session_counts(sweep: Sweep) -> dict[str, int]:
    """Sessions that are tuned on, held out, and that have grown since the first trial replayed them. Two queries."""
    members = list(SweepSession.objects.filter(sweep=sweep).values_list("is_held_out", flat=True))
    replayed = TrialResult.objects.filter(trial__sweep=sweep, trial__number=0)
    changed = replayed.exclude(session_revision=F("session__revision")).count()
    return {"tuned": members.count(False), "held_out": members.count(True), "changed": changed}


def trial_of(sweep: Sweep, number: int) -> Trial | None:
    return Trial.objects.select_related("sweep__project").filter(sweep=sweep, number=number).first()


def saved_of(figures: Mapping[str, Any], yardstick: Mapping[str, Any] | None, *, in_dollars: bool) -> float | None:
    """Share of dollars saved against no compression, or of the tokens of all requests."""
    if not in_dollars:
        value = figures["session_saved"]
        return None if value is None else float(value)
    if yardstick is None or yardstick["cost_usd"] is None or figures["cost_usd"] is None:
        return None
    without = float(yardstick["cost_usd"])
    return round(1 - float(figures["cost_usd"]) / without, 6) if without else None
