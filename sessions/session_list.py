"""The sessions table of a project: which rows, in which order, one page after another.

Pages are keyset pages: the next one starts after the last row's sort value and key, so page
1,000 costs what page 1 costs and rows that arrive meanwhile shift nothing. No counting of
pages, no page numbers.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import orjson
from django.db.models import BigIntegerField, DateTimeField, ExpressionWrapper, F, FloatField, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Coalesce, Lower, NullIf
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from sessions.models import Session

PAGE_SIZE = 50

# Sort name -> the value it compares. Rows without a figure count as the smallest.
_EPOCH = parse_datetime("1970-01-01T00:00:00+00:00")
PEAK_SHARE = ExpressionWrapper(
    Cast(F("peak_context_tokens"), FloatField())
    / Cast(NullIf(Coalesce("window_tokens", "context_window"), Value(0)), FloatField()),
    output_field=FloatField(),
)
SORTS: dict[str, Any] = {
    "title": Lower("title"),
    "agent": Lower("agent"),
    "model": Lower("model"),
    "turns": F("turn_count"),
    "messages": F("message_count"),
    "tokens": F("counted_tokens"),
    "recorded": Coalesce(F("peak_context_tokens"), Value(-1), output_field=BigIntegerField()),
    "peak": Coalesce(F("peak_share"), Value(-1.0)),
    "started": Coalesce(F("started_at"), Value(_EPOCH, output_field=DateTimeField())),
}
FIRST_ASCENDING = {"title", "agent", "model"}  # words start at A, figures and dates at the largest
DEFAULT_SORT = "-started"
EARLIEST_DAY, LATEST_DAY = date(1900, 1, 1), date(9999, 1, 1)


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of one page; ``after`` is the cursor of the next one, empty on the last."""

    rows: Sequence[Session]
    after: str


def page_of(
    sessions: QuerySet[Session],
    *,
    text: str = "",
    format_name: str = "",
    model: str = "",
    since: date | None = None,
    until: date | None = None,
    failures: bool = False,
    boundaries: bool = False,
    sort: str = "",
    after: str = "",
    more_sorts: Mapping[str, Any] | None = None,
) -> Page:
    """One query, whatever the number of sessions. An unknown sort or a cursor of another sort gives the first page.

    ``since`` and ``until`` are days in the current time zone, both included. ``more_sorts`` compare floats.
    """
    sorts = {**SORTS, **(more_sorts or {})}
    sort = sort if sort.removeprefix("-") in sorts else DEFAULT_SORT
    descending, name = sort.startswith("-"), sort.removeprefix("-")
    rows = sessions.annotate(peak_share=PEAK_SHARE).annotate(sort_value=sorts[name])
    for word in text.split():
        rows = rows.filter(
            Q(title__icontains=word) | Q(agent__icontains=word) | Q(file_name__icontains=word) | Q(key__icontains=word)
        )
    if format_name:
        rows = rows.filter(format=format_name)
    if model:
        rows = rows.filter(model=model)
    if since:
        rows = rows.filter(started_at__gte=midnight(since))
    if until:
        rows = rows.filter(started_at__lt=midnight(until) + timedelta(days=1))
    if failures:
        rows = rows.filter(tool_error_count__gt=0)
    if boundaries:
        rows = rows.filter(boundary_count__gt=0)
    if (start := _read_cursor(after, sort)) is not None:
        value, key = start
        side = "lt" if descending else "gt"
        rows = rows.filter(Q(**{f"sort_value__{side}": value}) | Q(sort_value=value, **{f"pk__{side}": key}))
    direction = "-" if descending else ""
    rows = rows.order_by(f"{direction}sort_value", f"{direction}pk").defer(*WIDE)
    found = list(rows[: PAGE_SIZE + 1])
    kept = found[:PAGE_SIZE]
    return Page(kept, _write_cursor(kept[-1], sort) if len(found) > PAGE_SIZE else "")


def midnight(day: date) -> datetime:
    """The first moment of a day, within the years that every time zone and database can tell."""
    return timezone.make_aware(datetime.combine(min(max(day, EARLIEST_DAY), LATEST_DAY), time.min))


# What a row of the table never shows; some of these run to megabytes.
WIDE = ("tools_json", "recorded", "calibration", "boundaries", "metadata_counts", "warnings", "detection_why")


def _write_cursor(row: Model, sort: str) -> str:
    value = row.sort_value  # type: ignore[attr-defined]  # annotated by page_of
    return base64.urlsafe_b64encode(orjson.dumps([sort, value, row.pk])).decode().rstrip("=")


def _read_cursor(cursor: str, sort: str) -> tuple[Any, int] | None:
    try:
        of_sort, value, key = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        return None
    if of_sort != sort or type(key) is not int or not -(2**63) <= key < 2**63:
        return None
    name = sort.removeprefix("-")
    if name == "started":
        value = parse_datetime(value) if isinstance(value, str) else None
        return None if value is None or value.tzinfo is None else (value, key)
    if name in FIRST_ASCENDING:
        return (value, key) if isinstance(value, str) else None
    return (value, key) if isinstance(value, int | float) and abs(value) < 2**62 else None


def choices_of(sessions: QuerySet[Session]) -> tuple[list[str], list[str]]:
    """The formats and the models that occur, for the filters."""
    formats = sessions.order_by("format").values_list("format", flat=True).distinct()
    models = sessions.exclude(model="").order_by("model").values_list("model", flat=True).distinct()
    return list(formats), list(models[:200])
