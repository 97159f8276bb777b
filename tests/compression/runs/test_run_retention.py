"""What a run retained: names needed later, summed over sessions, their spread, and the worst session."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.test import Client

from compression.engine.policy import build
from compression.models import RunResult
from compression.replays import stored_replay
from compression.run_exports import row_of
from compression.run_results import page_of
from compression.run_totals import totals_of
from sessions.importers.parsed import Part
from sessions.models import Project
from tests.compression.runs.starting import SMALL_WINDOW, finished, queued, results, three_sessions
from tests.compression.sessions import parsed, store

pytestmark = pytest.mark.django_db

FIGURES = ((4, 1, 3, 0.25), (0, 0, 0, None), (6, 6, 6, 1.0))
"""Names needed, in view, in view or reachable, and the share in view, of three sessions."""


def filled(project: Project) -> list[RunResult]:
    three_sessions(project)
    run = queued(project)
    for result, (needed, kept, reached, share) in zip(results(run), FIGURES, strict=True):
        RunResult.objects.filter(pk=result.pk).update(
            state="done", rlr_n=needed, rlr_kept=kept, rlr_reached=reached, rlr_view=share
        )
    return results(run)


def test_what_was_retained_is_a_sum_over_sums_with_its_spread_and_worst(project: Project) -> None:
    first, *_ = filled(project)

    totals = totals_of(RunResult.objects.all())

    # The two shares average to 62.5 %; of the ten names needed, seven are in view.
    retained = totals.retained
    assert (retained.part, retained.whole, retained.share, totals.reached) == (7, 10, 0.7, 9)
    assert (retained.spread.count, retained.spread.p10, retained.spread.median) == (2, 0.325, 0.625)
    assert retained.worst is not None
    assert (retained.worst.result, retained.worst.value) == (first, 0.25)


def test_the_api_says_retention_with_its_denominator(project: Project) -> None:
    filled(project)

    said = totals_of(RunResult.objects.all()).as_dict()

    assert (said["rlr_view"]["share"], said["rlr_view"]["part"], said["rlr_view"]["whole"]) == (0.7, 7, 10)
    assert said["rlr_reach"] == 0.9


def test_results_sort_by_what_is_still_in_view(project: Project) -> None:
    first, second, third = filled(project)

    # One in which nothing was needed has no share: it comes before the smallest.
    assert list(page_of(first.run, sort="retained").rows) == [second, first, third]


def test_a_result_has_the_figures_of_its_replay(project: Project) -> None:
    found = parsed(14, lines=60)
    found.messages[-2].parts[0] = Part("text", "rows 10030 and 20030")
    session = store(found, project)
    (result,) = results(finished(project))
    summary = stored_replay(session, build(SMALL_WINDOW, "test")).summary

    assert summary["rlr_n"] > 0
    assert (result.rlr_n, result.rlr_view) == (summary["rlr_n"], summary["rlr_view"])
    assert result.rlr_kept == round(summary["rlr_view"] * summary["rlr_n"])
    assert [row_of(result)[name] for name in ("rlr_n", "rlr_reached")] == [result.rlr_n, result.rlr_reached]


def test_the_page_of_a_run_shows_retention_beside_the_savings(signed_in: Client, project: Project) -> None:
    first, *_ = filled(project)

    html = signed_in.get(first.run.get_absolute_url()).content.decode()

    assert "7 of 10 names" in html
    assert "names in view or reachable by recall" in html


def test_a_run_that_needed_nothing_says_no_evidence(signed_in: Client, project: Project) -> None:
    three_sessions(project)

    html = signed_in.get(finished(project).get_absolute_url()).content.decode()

    assert "no name was needed later: no evidence" in html


def test_results_of_earlier_runs_get_their_columns_from_their_summaries(project: Project) -> None:
    result, *_ = filled(project)
    RunResult.objects.update(summary={"rlr_n": 8, "rlr_view": 0.5, "rlr_reach": 0.75})

    import_module("compression.migrations.0006_retention").fill(apps, None)

    result.refresh_from_db()
    assert (result.rlr_n, result.rlr_kept, result.rlr_reached, result.rlr_view) == (8, 4, 6, 0.5)
