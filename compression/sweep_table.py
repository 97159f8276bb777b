"""The table of a sweep's trials: the twin of its scatter, one keyset page after another.

Knows no request. Rows are asked for in a constant number of queries, whatever the number of trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, FloatField, Q, Value, When
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext_lazy as _

from compression.keyset import read_cursor, write_cursor
from compression.models import Trial
from compression.policy_fields import SETTINGS, label_of
from compression.sweep_results import Findings, saved_of

PAGE_SIZE = 25
UNKNOWN = -1_000.0
LONGEST_VALUE = 60

_done = Q(state=Trial.State.DONE)
_kept = Case(When(_done, then=Coalesce(F("rlr_view"), Value(1.0))), default=Value(UNKNOWN), output_field=FloatField())


def sorts(findings: Findings) -> dict[str, Any]:
    """What a table can be sorted by; cost is dollars where there are any."""
    cost = Cast("cost_usd" if findings.in_dollars else "sent_after", FloatField())
    return {
        "number": F("number"),
        "cost": Case(When(_done, then=cost), default=Value(1e15), output_field=FloatField()),
        "kept": _kept,
        "lost": F("rlr_lost"),
        "events": F("events"),
        "broken": F("broken"),
    }


DEFAULT_SORT = "cost"
FILTERS = {
    "front": _("on the front"),
    "sound": _("that keep every promise"),
    "broken": _("that break one"),
    "skipped": _("skipped"),
    "failed": _("failed"),
    "open": _("still to do"),
}


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial as the table and its own page show it."""

    trial: Trial
    said: str
    saved: float | None
    saved_held_out: float | None
    on_front: bool
    is_best: bool

    @property
    def tuned(self) -> Mapping[str, Any] | None:
        figures: Mapping[str, Any] | None = self.trial.figures.get("tuned")
        return figures

    @property
    def held_out(self) -> Mapping[str, Any] | None:
        figures: Mapping[str, Any] | None = self.trial.figures.get("held_out")
        return figures


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of one page; ``after`` is the cursor of the next one, empty on the last."""

    rows: Sequence[TrialRow]
    after: str
    sort: str


def page_of(findings: Findings, *, only: str = "", sort: str = "", after: str = "") -> Page:
    """Two queries. An unknown sort or a cursor of another sort gives the first page of the cheapest."""
    known = sorts(findings)
    sort = sort if sort.removeprefix("-") in known else DEFAULT_SORT
    name, direction = sort.removeprefix("-"), "-" if sort.startswith("-") else ""
    rows = Trial.objects.filter(_of(only, findings), sweep=findings.sweep).annotate(sort_value=known[name])
    if (start := read_cursor(after, sort, is_word=False)) is not None:
        value, key = start
        side = "lt" if direction else "gt"
        rows = rows.filter(Q(**{f"sort_value__{side}": value}) | Q(sort_value=value, **{f"pk__{side}": key}))
    listed = list(rows.order_by(f"{direction}sort_value", f"{direction}pk")[: PAGE_SIZE + 1])
    kept = listed[:PAGE_SIZE]
    more = write_cursor(kept[-1], sort) if len(listed) > PAGE_SIZE else ""
    return Page(rows_of(findings, kept), more, sort)


def rows_of(findings: Findings, trials: Sequence[Trial]) -> list[TrialRow]:
    """One query: the trial without compression, which money is held against."""
    front = {point.number for point in findings.front}
    none = Trial.objects.filter(sweep=findings.sweep, kind=Trial.Kind.NONE, state=Trial.State.DONE).first()
    without = none.figures if none else {"tuned": None, "held_out": None}

    def saved(trial: Trial, part: str) -> float | None:
        own = trial.figures.get(part)
        return saved_of(own, without[part], in_dollars=findings.in_dollars) if own else None

    return [
        TrialRow(
            trial,
            said(trial),
            saved(trial, "tuned"),
            saved(trial, "held_out"),
            trial.number in front,
            findings.best is not None and findings.best.number == trial.number,
        )
        for trial in trials
    ]


def _of(only: str, findings: Findings) -> Q:
    if only == "front":
        return Q(number__in=[point.number for point in findings.front])
    if only == "sound":
        return _done & Q(broken=0)
    if only == "broken":
        return _done & Q(broken__gt=0)
    if only == "open":
        return Q(state__in=[Trial.State.WAITING, Trial.State.CLAIMED])
    if only in FILTERS:
        return Q(state=only)
    return Q()


def said(trial: Trial) -> str:
    """What a trial says differently, in one line."""
    if trial.kind != Trial.Kind.CANDIDATE:
        return str(trial.get_kind_display())
    return " · ".join(f"{label_of(name)} {value_said(name, value)}" for name, value in trial.values.items())


def value_said(name: str, value: Any) -> str:
    text = SETTINGS[name].said(value) if name in SETTINGS else str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
