"""The arithmetic of a run as a whole, by hand."""

from __future__ import annotations

import pytest

from compression.models import RunResult
from compression.run_totals import quantile, share, spread_of, totals_of
from sessions.models import Project
from tests.compression.runs.starting import queued, results, three_sessions

pytestmark = pytest.mark.django_db


def test_a_share_of_nothing_is_none() -> None:
    assert share(0, 0) is None


@pytest.mark.parametrize(("at", "value"), [(0.0, 1.0), (0.1, 1.2), (0.5, 2.0), (0.9, 3.6), (1.0, 4.0)])
def test_a_quantile_lies_between_the_two_values_around_it(at: float, value: float) -> None:
    assert quantile([1.0, 2.0, 4.0], at) == pytest.approx(value)


def test_no_values_have_no_spread() -> None:
    assert (spread_of([]).count, spread_of([]).median) == (0, None)


def test_shares_are_sums_over_sums_and_never_averages_of_shares(project: Project) -> None:
    three_sessions(project)
    run = queued(project)
    figures = [
        # sent without and under, windows at events and freed, results before and after, events
        (1_000, 1_000, 0, 0, 0, 0, 0),
        (10_000, 5_000, 4_000, 1_000, 3_000, 1_500, 2),
        (100_000, 90_000, 6_000, 3_000, 5_000, 4_500, 3),
    ]
    for result, (before, after, windows, freed, tools, left, events) in zip(results(run), figures, strict=True):
        RunResult.objects.filter(pk=result.pk).update(
            state="done", turns=10, events=events, sent_before=before, sent_after=after, request_tokens=windows,
            request_freed=freed, tool_before=tools, tool_after=left, session_saved=share(before - after, before),
            request_saved=share(freed, windows), tool_saved=share(tools - left, tools), counter_error=events / 100,
            overflow_turn_none=5 if events else None, overflow_turn=7 if events == 3 else None, violations=events // 3,
        )  # fmt: skip

    totals = totals_of(RunResult.objects.filter(run=run))

    session, request, tool = totals.saved
    # 0, 50 % and 10 % average to 20 %; of the 111,000 tokens sent, 15,000 were saved.
    assert (session.part, session.whole, session.share) == (15_000, 111_000, 0.135135)
    assert (session.spread.count, session.spread.p10, session.spread.median, session.spread.p90) == (3, 0.02, 0.1, 0.42)
    assert (request.part, request.whole, request.share, request.spread.count) == (4_000, 10_000, 0.4, 2)
    assert (tool.part, tool.whole, tool.share, tool.spread.median) == (2_000, 8_000, 0.25, 0.3)
    assert (totals.sessions, totals.turns, totals.events) == (3, 30, 5)
    assert (totals.violations, totals.broken, totals.overflow_none, totals.overflow) == (1, 1, 2, 1)
    assert (totals.counter_error.count, totals.counter_error.median) == (3, 0.02)


def test_the_worst_session_is_the_smallest_of_those_that_the_spread_is_over(project: Project) -> None:
    short, middle, _ = three_sessions(project)
    run = queued(project)
    values = {short.pk: 0.0, middle.pk: 0.5}
    for result in results(run):
        RunResult.objects.filter(pk=result.pk).update(
            state="done",
            events=2 if result.session_id == middle.pk else 0,
            session_saved=values.get(result.session_id),
            summary={"composition": {"turn": 3}},
        )

    saved = totals_of(RunResult.objects.filter(run=run)).saved[0]

    assert saved.worst is not None
    assert (saved.worst.result.session, saved.worst.value, saved.worst.turn, saved.spread.count) == (short, 0.0, 3, 2)


def test_a_run_without_results_has_no_shares(project: Project) -> None:
    three_sessions(project)

    totals = totals_of(RunResult.objects.filter(run=queued(project)))

    assert (totals.sessions, [one.share for one in totals.saved]) == (0, [None, None, None])
