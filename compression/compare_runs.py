"""Two to six policies on a whole project: the newest run of each, session by session, and their sums.

Only sessions that every run finished count, so that all sums are over the same; dollars are over those of them whose
price is known. Constant queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Case, Count, F, FilteredRelation, FloatField, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, Coalesce, Least, Lower, NullIf
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from compression.compare import Cell, Compared, Figure, held_against
from compression.compare_forms import LETTERS
from compression.engine import ENGINE_VERSION
from compression.keyset import read_cursor, write_cursor
from compression.models import Run, RunResult
from compression.policy_keys import Choice
from compression.project_prices import digest_of
from compression.run_results import NEVER
from compression.run_totals import SAVED, part_and_whole, share
from compression.saved_names import SAVED_NAMES
from sessions.models import Project, Session

PAGE_SIZE = 50
SUMMED = (
    "turns", "events", "violations", "sent_before", "sent_after", "request_tokens", "request_freed", "tool_before",
    "tool_after", "rlr_n", "rlr_kept", "rlr_reached", "ladder", "cache_read", "cache_write", "cache_uncached",
    "rewrites", "expiries", "unforced_breaks",
)  # fmt: skip
DEFAULT_SORT = "difference"

BY = (
    Figure("session_saved", SAVED_NAMES["session_saved"], "share", "more", _("1 - sent under it / sent without")),
    Figure("cost_usd", _("cost"), "usd", "less", _("dollars of all calls: input read, written and plain, and output")),
    Figure("hit_rate", _("read from the cache"), "share", "more", _("of all input: read, written and plain")),
    Figure("rewrites", _("rewrites"), "count", "less", _("calls that sent a living cached prefix anew")),
    Figure("break_even", _("break-even"), "calls", "less", _("further calls until an event has paid, median")),
    Figure("rlr_view", _("names kept"), "share", "more", _("of the names of changed results that were used later")),
    Figure("overflow_turn", _("overflow"), "turn", "later", _("first turn that does not fit")),
    Figure("events", _("events"), "count", "less", _("each one breaks the provider's cached prefix")),
    Figure("ladder", _("fallback steps"), "count", "less", _("of the ladder, from every block to its floor on")),
    Figure("violations", _("violations"), "count", "less", _("broken invariants; must be 0")),
)  # fmt: skip
"""What the table of sessions can show of every policy."""


def by_of(name: str) -> Figure:
    """The figure of a name; the first of all for one that is none."""
    return next((figure for figure in BY if figure.name == name), BY[0])


def newest_run(project: Project, choice: Choice) -> Run | None:
    """The newest run of a policy by this engine and at the project's present prices, a finished one if there is any."""
    mine = Run.objects.filter(
        project=project,
        policy_digest=choice.policy.digest,
        engine_version=ENGINE_VERSION,
        prices_digest=digest_of(project),
    )
    ordered = mine.exclude(state=Run.State.CANCELLED).order_by(
        Case(When(state=Run.State.DONE, then=Value(0)), default=Value(1)), "-pk"
    )
    return ordered.select_related("project").first()


def letters(runs: Sequence[Run]) -> str:
    return LETTERS[: len(runs)].lower()


def finished_by_all(runs: Sequence[Run]) -> QuerySet[Session]:
    """The sessions that every run finished; the result of each is the relation ``ra``, ``rb``, ..."""
    sessions = Session.objects.filter(project=runs[0].project_id).annotate(
        **{
            f"r{letter}": FilteredRelation("run_results", condition=Q(run_results__run=run))
            for letter, run in zip(letters(runs), runs, strict=True)
        }
    )
    return sessions.filter(**{f"r{letter}__state": RunResult.State.DONE for letter in letters(runs)})


def _value(letter: str, figure: Figure) -> Any:
    """A figure of one run as the database compares it; null where it does not exist."""
    if figure.name == "hit_rate":
        read, write, uncached = (
            Cast(f"r{letter}__cache_{name}", FloatField()) for name in ("read", "write", "uncached")
        )
        return read / NullIf(read + write + uncached, Value(0.0), output_field=FloatField())
    if figure.direction == "later":
        return Cast(Coalesce(F(f"r{letter}__{figure.name}"), Value(NEVER)), FloatField())
    return Cast(f"r{letter}__{figure.name}", FloatField())


def _gain(letter: str, figure: Figure) -> Any:
    """How much better a run is than the first; 0 where one of the two has no figure."""
    gained = F(f"{letter}_value") - F("a_value")
    lost = F("a_value") - F(f"{letter}_value")
    chosen = lost if figure.direction == "less" else gained
    return Coalesce(chosen, Value(0.0), output_field=FloatField())


def by_session(runs: Sequence[Run], figure: Figure) -> QuerySet[Session]:
    """The sessions with a figure of every run as ``a_value``, ``b_value``, ...; ``difference`` = the least that another
    run gains on the first, negative where it is worse."""
    sides = letters(runs)
    rows = finished_by_all(runs).annotate(**{f"{letter}_value": _value(letter, figure) for letter in sides})
    gains = [_gain(letter, figure) for letter in sides[1:]]
    return rows.annotate(difference=Least(*gains) if len(gains) > 1 else gains[0])


@dataclass(frozen=True, slots=True)
class Row:
    """One session: ``cells`` of all policies, the first without a mark. ``has_grown`` between two of the runs."""

    session: Session
    cells: tuple[Cell, ...]
    has_grown: bool


@dataclass(frozen=True, slots=True)
class Page:
    """Sessions of one page; ``after`` is the cursor of the next one, empty on the last."""

    rows: Sequence[Row]
    after: str
    sort: str


def page_of(runs: Sequence[Run], figure: Figure, *, text: str = "", sort: str = "", after: str = "") -> Page:
    """The sessions first where another policy loses most against the first. Two queries."""
    sides = letters(runs)
    sorts: dict[str, Any] = {
        "title": Lower("title"),
        "difference": F("difference"),
        **{letter: Coalesce(F(f"{letter}_value"), Value(-1_000.0), output_field=FloatField()) for letter in sides},
    }
    sort = sort if sort.removeprefix("-") in sorts else DEFAULT_SORT
    name, direction = sort.removeprefix("-"), "-" if sort.startswith("-") else ""
    rows = by_session(runs, figure).annotate(sort_value=sorts[name])
    for word in text.split():
        rows = rows.filter(Q(title__icontains=word) | Q(agent__icontains=word) | Q(key__icontains=word))
    if (start := read_cursor(after, sort, is_word=name == "title")) is not None:
        value, key = start
        side = "lt" if direction else "gt"
        rows = rows.filter(Q(**{f"sort_value__{side}": value}) | Q(sort_value=value, **{f"pk__{side}": key}))
    rows = rows.order_by(f"{direction}sort_value", f"{direction}pk").only("title", "key", "turn_count")
    listed = list(rows[: PAGE_SIZE + 1])
    kept = listed[:PAGE_SIZE]
    cursor = write_cursor(kept[-1], sort) if len(listed) > PAGE_SIZE else ""
    return Page(_rows(runs, figure, kept), cursor, sort)


def _rows(runs: Sequence[Run], figure: Figure, sessions: Sequence[Session]) -> list[Row]:
    """The results of the sessions of a page, exact as they are stored. One query."""
    found: dict[tuple[int, int], RunResult] = {}
    results = RunResult.objects.filter(run__in=runs, session__in=sessions, state=RunResult.State.DONE)
    for result in results.defer("summary", "error"):
        found[result.session_id, result.run_id] = result
    rows = []
    for session in sessions:
        mine = [found[session.pk, run.pk] for run in runs]
        cells = held_against(figure, [getattr(result, figure.name) for result in mine]).cells
        rows.append(Row(session, cells, len({result.session_revision for result in mine}) > 1))
    return rows


@dataclass(frozen=True, slots=True)
class ProjectComparison:
    """Sums over ``sessions`` sessions, dollars over the ``priced`` ones. ``against``: for every policy but the first,
    in how many sessions the chosen figure is (better, worse)."""

    sessions: int
    priced: int
    computed: int
    figures: Sequence[Compared]
    against: Sequence[tuple[str, int, int]]

    @property
    def unpriced(self) -> int:
        return self.computed - self.priced


def project_comparison(runs: Sequence[Run], figure: Figure) -> ProjectComparison:
    """Micro-averages of all over the same sessions. Two queries."""
    sides = letters(runs)
    priced = Q(**{f"r{letter}__cost_usd__isnull": False for letter in sides})
    computed = Q(**{f"r{letter}__cache_read__isnull": False for letter in sides})
    rows = by_session(runs, figure)
    sums = rows.annotate(**{f"{letter}_gain": _gain(letter, figure) for letter in sides[1:]}).aggregate(
        sessions=Count("pk"),
        priced=Count("pk", filter=priced),
        computed=Count("pk", filter=computed),
        **{f"{letter}_better": Count("pk", filter=Q(**{f"{letter}_gain__gt": 0})) for letter in sides[1:]},
        **{f"{letter}_worse": Count("pk", filter=Q(**{f"{letter}_gain__lt": 0})) for letter in sides[1:]},
        **{
            f"{letter}_overflows": Count("pk", filter=Q(**{f"r{letter}__overflow_turn__isnull": False}))
            for letter in sides
        },
        **{f"{letter}_cost": Sum(f"r{letter}__cost_usd", filter=priced) for letter in sides},
        **{f"{letter}_sum_{name}": Sum(f"r{letter}__{name}", default=0) for letter in sides for name in SUMMED},
    )
    of = [{name: sums[f"{letter}_sum_{name}"] for name in SUMMED} for letter in sides]
    costs: list[Decimal | None] = [sums[f"{letter}_cost"] for letter in sides]
    return ProjectComparison(
        sessions=sums["sessions"],
        priced=sums["priced"],
        computed=sums["computed"],
        figures=[
            *_shares(of),
            *_money(costs, sums["priced"], sums["sessions"]),
            *_cache(of, sums["computed"]),
            _break_even(rows, sides),
            *_counts(of, [sums[f"{letter}_overflows"] for letter in sides]),
        ],
        against=[(letter.upper(), sums[f"{letter}_better"], sums[f"{letter}_worse"]) for letter in sides[1:]],
    )


def _shares(of: Sequence[dict[str, int]]) -> list[Compared]:
    rows = [
        held_against(Figure(name, label, "share", "more", about), [share(*part_and_whole(name, one)) for one in of])
        for name, label, about in SAVED
    ]
    needed = " · ".join(str(one["rlr_n"]) for one in of)
    about = gettext("of the names of changed results used later: %(needed)s") % {"needed": needed}
    kept = Figure("rlr_view", _("Used later, still in view"), "share", "more", about)
    return [*rows, held_against(kept, [share(*part_and_whole("rlr_view", one)) for one in of])]


def _money(costs: Sequence[Decimal | None], priced: int, sessions: int) -> list[Compared]:
    about = gettext("dollars of all calls, over the %(priced)s of %(all)s sessions whose price is known")
    figure = Figure("cost_usd", _("Cost"), "usd", "less", about % {"priced": priced, "all": sessions})
    return [held_against(figure, costs)]


def _cache(of: Sequence[dict[str, int]], computed: int) -> list[Compared]:
    hits = Figure("hit_rate", _("Read from the cache"), "share", "more", _("of all input: read, written and plain"))
    shares = [share(one["cache_read"], one["cache_read"] + one["cache_write"] + one["cache_uncached"]) for one in of]
    counted = (
        Figure("rewrites", _("Rewrites"), "count", "less", _("calls that sent a living cached prefix anew")),
        Figure("expiries", _("Expiries"), "count", "none", _("calls that found their cached prefix expired")),
        Figure("unforced_breaks", _("Unforced breaks"), "count", "less", _("moved in the prefix without an event")),
    )
    rows = [held_against(one, [sums[one.name] if computed else None for sums in of]) for one in counted]
    return [held_against(hits, shares), *rows]


def _break_even(rows: QuerySet[Session], sides: str) -> Compared:
    """The median over the sessions that have one; a ratio, so that there is no sum to take."""
    listed = list(rows.values_list(*(f"r{letter}__break_even" for letter in sides)))
    medians = []
    for column in range(len(sides)):
        known = [row[column] for row in listed if row[column] is not None]
        medians.append(round(median(known), 2) if known else None)
    about = _("further calls until an event has paid, median of the sessions' medians")
    return held_against(Figure("break_even", _("Break-even"), "calls", "less", about), medians)


def _counts(of: Sequence[dict[str, int]], overflows: Sequence[int]) -> list[Compared]:
    figures = (
        Figure("sent_after", _("Tokens sent"), "tokens", "less", _("over all requests, calibrated")),
        Figure("events", _("Events"), "count", "less", _("each one breaks the provider's cached prefix")),
        Figure("ladder", _("Fallback steps"), "count", "less", _("of the ladder, from every block to its floor on")),
        Figure("violations", _("Violations"), "count", "less", _("broken invariants; must be 0")),
    )
    rows = [held_against(figure, [one[figure.name] for one in of]) for figure in figures]
    overflow = Figure("overflows", _("Sessions that overflow"), "count", "less", _("under the policy"))
    return [rows[0], held_against(overflow, overflows), *rows[1:]]
