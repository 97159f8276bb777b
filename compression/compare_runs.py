"""Two policies on a whole project: the newest run of each, session by session, and their sums.

Only sessions that both runs finished count, so that both sums are over the same. Constant queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, FilteredRelation, FloatField, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce, Lower
from django.utils.translation import gettext_lazy

from compression.compare import Compared, Figure, Kind, held_against
from compression.engine import ENGINE_VERSION
from compression.keyset import read_cursor, write_cursor
from compression.models import Run, RunResult
from compression.policy_keys import Choice
from compression.run_totals import SAVED, part_and_whole, share
from sessions.models import Project, Session

PAGE_SIZE = 50
SUMMED = (
    "turns", "events", "violations", "sent_before", "sent_after", "request_tokens", "request_freed", "tool_before",
    "tool_after", "ladder",
)  # fmt: skip
FIGURES = (
    "session_saved", "request_saved", "tool_saved", "overflow_turn", "events", "ladder", "violations",
    "session_revision",
)  # fmt: skip
DEFAULT_SORT = "difference"
COUNTED: tuple[tuple[str, Any, Kind, Any], ...] = (
    ("sent_after", gettext_lazy("Tokens sent"), "tokens", gettext_lazy("over all requests, calibrated")),
    ("overflows", gettext_lazy("Sessions that overflow"), "count", gettext_lazy("under the policy")),
    ("events", gettext_lazy("Events"), "count", gettext_lazy("each one breaks the provider's cached prefix")),
    (
        "ladder",
        gettext_lazy("Fallback steps"),
        "count",
        gettext_lazy("of the ladder, from every block to its floor on"),
    ),
    ("violations", gettext_lazy("Violations"), "count", gettext_lazy("broken invariants; must be 0")),
)


def newest_run(project: Project, choice: Choice) -> Run | None:
    """The newest run of a policy by this engine, a finished one if there is any."""
    mine = Run.objects.filter(project=project, policy_digest=choice.policy.digest, engine_version=ENGINE_VERSION)
    ordered = mine.exclude(state=Run.State.CANCELLED).order_by(
        Case(When(state=Run.State.DONE, then=Value(0)), default=Value(1)), "-pk"
    )
    return ordered.select_related("project").first()


def paired(a: Run, b: Run) -> QuerySet[Session]:
    """The sessions that both runs finished, with the figures of each as ``a_NAME`` and ``b_NAME``."""
    done = RunResult.State.DONE
    sessions = Session.objects.filter(project=a.project_id).annotate(
        ra=FilteredRelation("run_results", condition=Q(run_results__run=a)),
        rb=FilteredRelation("run_results", condition=Q(run_results__run=b)),
    )
    sessions = sessions.filter(ra__state=done, rb__state=done)
    return sessions.annotate(
        **{f"{side}_{name}": F(f"r{side}__{name}") for side in ("a", "b") for name in FIGURES},
        difference=Coalesce(F("rb__session_saved"), 0.0) - Coalesce(F("ra__session_saved"), 0.0),
    )


SORTS: dict[str, Any] = {
    "title": Lower("title"),
    "difference": Coalesce(F("difference"), Value(0.0), output_field=FloatField()),
    "a": Coalesce(F("a_session_saved"), Value(-1_000.0)),
    "b": Coalesce(F("b_session_saved"), Value(-1_000.0)),
}


@dataclass(frozen=True, slots=True)
class Page:
    """Sessions of one page with the figures of both; ``after`` is the cursor of the next one, empty on the last."""

    rows: Sequence[Any]
    after: str
    sort: str


def page_of(a: Run, b: Run, *, text: str = "", sort: str = "", after: str = "") -> Page:
    """The sessions where B loses most against A first. One query."""
    sort = sort if sort.removeprefix("-") in SORTS else DEFAULT_SORT
    name, direction = sort.removeprefix("-"), "-" if sort.startswith("-") else ""
    rows = paired(a, b).annotate(sort_value=SORTS[name])
    for word in text.split():
        rows = rows.filter(Q(title__icontains=word) | Q(agent__icontains=word) | Q(key__icontains=word))
    if (start := read_cursor(after, sort, is_word=name == "title")) is not None:
        value, key = start
        side = "lt" if direction else "gt"
        rows = rows.filter(Q(**{f"sort_value__{side}": value}) | Q(sort_value=value, **{f"pk__{side}": key}))
    rows = rows.order_by(f"{direction}sort_value", f"{direction}pk").only("title", "key", "turn_count", "revision")
    listed = list(rows[: PAGE_SIZE + 1])
    kept = listed[:PAGE_SIZE]
    return Page(kept, write_cursor(kept[-1], sort) if len(listed) > PAGE_SIZE else "", sort)


@dataclass(frozen=True, slots=True)
class ProjectComparison:
    """Sums over ``sessions`` sessions; ``better`` and ``worse`` of them by what B saved of all tokens sent."""

    sessions: int
    better: int
    worse: int
    figures: Sequence[Compared]


def project_comparison(a: Run, b: Run) -> ProjectComparison:
    """Micro-averages of both over the same sessions. One query."""
    sums = paired(a, b).aggregate(
        sessions=Count("pk"),
        better=Count("pk", filter=Q(difference__gt=0)),
        worse=Count("pk", filter=Q(difference__lt=0)),
        a_overflows=Count("pk", filter=Q(ra__overflow_turn__isnull=False)),
        b_overflows=Count("pk", filter=Q(rb__overflow_turn__isnull=False)),
        **{f"{side}_sum_{name}": Sum(f"r{side}__{name}", default=0) for side in ("a", "b") for name in SUMMED},
    )
    of = {side: {name: sums[f"{side}_sum_{name}"] for name in SUMMED} for side in ("a", "b")}
    rows = []
    for name, label, denominator in SAVED:
        figure = Figure(name, label, "share", "more", denominator)
        rows.append(held_against(figure, share(*part_and_whole(name, of["a"])), share(*part_and_whole(name, of["b"]))))
    for name, label, kind, about in COUNTED:
        figure = Figure(name, label, kind, "less", about)
        values = [sums[f"{side}_overflows"] if name == "overflows" else of[side][name] for side in ("a", "b")]
        rows.append(held_against(figure, *values))
    return ProjectComparison(sums["sessions"], sums["better"], sums["worse"], rows)
