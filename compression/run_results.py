"""The table of a run's results: which rows, in which order, one keyset page after another.

Knows no request. Rows are asked for in a constant number of queries, whatever the number of sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Case, F, FloatField, Q, QuerySet, Value, When
from django.db.models.functions import Abs, Cast, Coalesce, Lower, NullIf
from django.utils.translation import gettext_lazy as _

from compression.keyset import read_cursor, write_cursor
from compression.models import Run, RunResult
from sessions.importers.storable_text import storable_text

PAGE_SIZE = 50
EXPORT_BATCH = 500
NEVER = 2_000_000_000
UNKNOWN = -1_000.0

_done = Q(state=RunResult.State.DONE)
# The place of a session in "worst first": failed, broken, overflowing, then the least saved; those in which
# nothing was to be done come last.
_worst = Case(
    When(state=RunResult.State.FAILED, then=Value(-3_000.0)),
    When(_done, violations__gt=0, then=Value(-2_000.0)),
    When(_done, overflow_turn__isnull=False, then=Coalesce(F("session_saved"), 0.0) - Value(1_000.0)),
    When(_done, events__gt=0, then=Coalesce(F("session_saved"), 0.0)),
    When(_done, then=Value(1_000.0)),
    default=Value(2_000.0),
    output_field=FloatField(),
)


# A session that was moved to another project is counted, but what it is called is no longer this project's to see.
_here = Q(session__project=F("run__project"))


def _share(name: str) -> Any:
    return Coalesce(F(name), Value(UNKNOWN))


SORTS: dict[str, Any] = {
    "worst": _worst,
    "title": Case(When(_here, then=Lower("session__title")), default=Value("")),
    "session": _share("session_saved"),
    "request": _share("request_saved"),
    "tool": _share("tool_saved"),
    "retained": _share("rlr_view"),
    "overflow": Coalesce(F("overflow_turn"), Value(NEVER)),
    "events": F("events"),
    "violations": F("violations"),
    "counter": Coalesce(Abs(F("counter_error")), Value(-1.0)),
    "turns": F("turns"),
    "sent": Cast("sent_before", FloatField()),
    "cost": Coalesce(Cast("cost_usd", FloatField()), Value(UNKNOWN)),
    # Where a policy costs the most more than none comes first; sessions without dollars come last.
    "dollars": Coalesce(
        Cast("cost_usd_none", FloatField()) - Cast("cost_usd", FloatField()),
        Value(float(NEVER)),
        output_field=FloatField(),
    ),
    "hit": Coalesce(
        Cast("cache_read", FloatField())
        / NullIf(Cast(F("cache_read") + F("cache_write") + F("cache_uncached"), FloatField()), Value(0.0)),
        Value(UNKNOWN),
        output_field=FloatField(),
    ),
    "rewrites": Coalesce(F("rewrites"), Value(-1)),
    "even": Coalesce(F("break_even"), Value(-1.0)),
    "state": F("state"),
}
WORDS = frozenset({"title", "state"})
DEFAULT_SORT = "worst"

FILTERS: dict[str, tuple[Any, Q]] = {
    "problems": (
        _("with problems"),
        Q(state=RunResult.State.FAILED) | _done & (Q(violations__gt=0) | Q(overflow_turn__isnull=False)),
    ),
    "changed": (_("that it compressed"), _done & Q(events__gt=0)),
    "untouched": (_("that it left alone"), _done & Q(events=0)),
    "rescued": (_("that overflow without it only"), _done & Q(overflow_turn=None, overflow_turn_none__isnull=False)),
    "dearer": (_("that it makes dearer"), _done & Q(cost_usd__gt=F("cost_usd_none"))),
    "failed": (_("that failed"), Q(state=RunResult.State.FAILED)),
    "open": (_("still to do"), Q(state__in=[RunResult.State.WAITING, RunResult.State.CLAIMED])),
}
SESSION_COLUMNS = tuple(f"session__{name}" for name in ("key", "title", "agent", "model", "revision", "project"))


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of one page; ``after`` is the cursor of the next one, empty on the last."""

    rows: Sequence[RunResult]
    after: str
    sort: str


def found(run: Run, *, text: str = "", only: str = "") -> QuerySet[RunResult]:
    """The results of a run that a filter lets through; an unknown filter lets all through."""
    rows = RunResult.objects.filter(run=run)
    for word in storable_text(text).split():
        rows = rows.filter(
            _here,
            Q(session__title__icontains=word) | Q(session__agent__icontains=word) | Q(session__key__icontains=word),
        )
    return rows.filter(FILTERS[only][1]) if only in FILTERS else rows


def page_of(run: Run, *, text: str = "", only: str = "", sort: str = "", after: str = "") -> Page:
    """One query. An unknown sort or a cursor of another sort gives the first page of the worst."""
    sort = sort if sort.removeprefix("-") in SORTS else DEFAULT_SORT
    name, direction = sort.removeprefix("-"), "-" if sort.startswith("-") else ""
    rows = found(run, text=text, only=only).annotate(sort_value=SORTS[name])
    if (start := read_cursor(after, sort, is_word=name in WORDS)) is not None:
        value, key = start
        side = "lt" if direction else "gt"
        rows = rows.filter(Q(**{f"sort_value__{side}": value}) | Q(sort_value=value, **{f"pk__{side}": key}))
    ordered = _with_session(rows).order_by(f"{direction}sort_value", f"{direction}pk")
    listed = list(ordered[: PAGE_SIZE + 1])
    kept = listed[:PAGE_SIZE]
    return Page(kept, write_cursor(kept[-1], sort) if len(listed) > PAGE_SIZE else "", sort)


def every(run: Run, *, text: str = "", only: str = "") -> Iterator[list[RunResult]]:
    """All rows that a filter lets through, in batches by their key: no cursor stays open between two."""
    last = 0
    rows = _with_session(found(run, text=text, only=only)).order_by("pk")
    while batch := list(rows.filter(pk__gt=last)[:EXPORT_BATCH]):
        yield batch
        last = batch[-1].pk


def _with_session(rows: QuerySet[RunResult]) -> QuerySet[RunResult]:
    own = [field.attname for field in RunResult._meta.concrete_fields]
    names = (name.removesuffix("_id") for name in own)
    return rows.select_related("session", "run").only(*names, "run__project", *SESSION_COLUMNS)


def is_moved(result: RunResult) -> bool:
    """Whether the session belongs to another project than the run."""
    return result.session.project_id != result.run.project_id


def turn_to_look_at(result: RunResult) -> int:
    """Where a session is worth opening: at its overflow, else at its largest request."""
    if result.overflow_turn is not None:
        return result.overflow_turn
    at = (result.summary.get("composition") or {}).get("turn")
    return cast("int", at) if at is not None else 0
