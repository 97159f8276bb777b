"""Dollars and the prompt cache of a run: what its table, its totals and its exports say, and what nobody knows."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compression.csv_rows import cell
from compression.models import Run, RunResult
from compression.policies import in_force
from compression.run_costs import hit_rate, money_saved
from compression.run_exports import plain_row, row_of
from compression.run_results import found
from compression.run_totals import totals_of
from sessions.models import Project, Session
from tests.compression.runs.pricing import priced
from tests.compression.runs.starting import finished, queued, results, three_sessions

pytestmark = pytest.mark.django_db

# cost, cost without, read, write, uncached, rewrites, expiries, unforced breaks, break-even
ROWS: list[tuple[Any, ...]] = [
    (Decimal("0.10"), Decimal("0.10"), 80, 0, 20, 0, 0, 0, None),
    (Decimal("3.00"), Decimal("4.00"), 600, 300, 100, 2, 1, 0, 6.0),
    (Decimal("1.50"), Decimal("1.00"), 100, 300, 0, 3, 0, 1, 20.0),
]


def with_costs(run: Run, rows: list[tuple[Any, ...]]) -> list[RunResult]:
    names = ("cost_usd", "cost_usd_none", "cache_read", "cache_write", "cache_uncached", "rewrites", "expiries",
             "unforced_breaks", "break_even")  # fmt: skip
    for result, row in zip(results(run), rows, strict=True):
        RunResult.objects.filter(pk=result.pk).update(
            state="done", turns=10, session_revision=1, **dict(zip(names, row, strict=True))
        )
    return results(run)


@pytest.fixture
def run(project: Project) -> Run:
    three_sessions(project)
    return queued(project)


def test_dollars_of_a_run_are_sums_over_sums(run: Run) -> None:
    _, middle, dear = with_costs(run, ROWS)

    totals = totals_of(found(run))

    assert (totals.costs.cost_usd, totals.costs.cost_usd_none) == (Decimal("4.6"), Decimal("5.1"))
    # 0, 25 % and -50 % average to -8 %; of $5.10, $0.50 were saved.
    assert (totals.money.part, totals.money.whole, totals.money.share) == (Decimal("0.5"), Decimal("5.1"), 0.098039)
    assert (totals.money.spread.count, totals.money.spread.median) == (3, 0.0)
    assert totals.money.worst is not None
    assert (totals.money.worst.result, totals.money.worst.value) == (dear, -0.5)
    assert (totals.hits.part, totals.hits.whole, totals.hits.share) == (780, 1_500, 0.52)
    assert totals.hits.worst is not None
    assert (totals.hits.worst.result, totals.hits.worst.value) == (dear, 0.25)
    assert (totals.costs.rewrites, totals.costs.expiries, totals.costs.unforced_breaks) == (5, 1, 1)
    assert (totals.break_even.count, totals.break_even.median) == (2, 13.0)
    assert totals.slowest is not None
    assert (totals.slowest.result, totals.slowest.value) == (dear, 20.0)
    assert middle.saved_usd == 1


def test_a_session_without_a_price_counts_in_no_sum_of_dollars_and_in_the_hit_rate(run: Run) -> None:
    with_costs(run, [ROWS[0], ROWS[1], (None, None, *ROWS[2][2:])])

    totals = totals_of(found(run))

    assert (totals.costs.cost_usd, totals.costs.priced, totals.costs.unpriced) == (Decimal("3.1"), 2, 1)
    assert totals.hits.whole == 1_500


def test_results_older_than_these_figures_say_so_and_count_nowhere(signed_in: Client, run: Run) -> None:
    with_costs(run, [ROWS[0], ROWS[1], (None,) * 9])

    response = signed_in.get(f"/projects/apollo/runs/{run.pk}/")

    costs = response.context["totals"].costs
    assert (costs.priced, costs.unpriced, costs.unknown, costs.input_tokens) == (2, 0, 1, 1_100)
    assert response.text.count("not computed: run again") == 1


def test_nothing_is_known_of_a_run_without_prices(run: Run) -> None:
    with_costs(run, [(None, None, *row[2:]) for row in ROWS])

    totals = totals_of(found(run))

    assert (totals.costs.cost_usd, totals.costs.saved_usd, totals.money.share) == (None, None, None)
    assert totals.as_dict()["cost_usd"] is None


def test_the_page_leads_from_an_unknown_price_to_where_it_is_given(signed_in: Client, project: Project) -> None:
    three_sessions(project)
    run = finished(project)

    page = signed_in.get(f"/projects/apollo/runs/{run.pk}/").text

    assert page.count('<a class="muted" href="/projects/apollo/prices/">no price</a>') == 3


@pytest.mark.parametrize(
    ("sort", "order"),
    [("dollars", [2, 0, 1]), ("-cost", [1, 2, 0]), ("hit", [2, 1, 0]), ("-rewrites", [2, 1, 0]), ("-even", [2, 1, 0])],
)
def test_the_table_sorts_by_what_it_costs(signed_in: Client, run: Run, sort: str, order: list[int]) -> None:
    rows = with_costs(run, ROWS)

    shown = signed_in.get(f"/projects/apollo/runs/{run.pk}/", {"sort": sort}).context["rows"]

    assert [row["result"].pk for row in shown] == [rows[at].pk for at in order]


def test_what_a_policy_makes_dearer_can_be_listed_alone(signed_in: Client, run: Run) -> None:
    rows = with_costs(run, ROWS)

    shown = signed_in.get(f"/projects/apollo/runs/{run.pk}/", {"only": "dearer"}).context["rows"]

    assert [row["result"].pk for row in shown] == [rows[2].pk]


def test_the_columns_of_a_result_are_those_of_its_replay(project: Project) -> None:
    three_sessions(project)
    run = finished(priced(project))

    for result in results(run):
        assert result.cost_usd == Decimal(result.summary["cost_usd"]).quantize(Decimal("1e-12"))
        assert result.cost_usd_none == Decimal(result.summary["cost_usd_none"]).quantize(Decimal("1e-12"))
        assert result.hit_rate == result.summary["hit_rate"]
        assert result.break_even == result.summary["break_even"]
        assert result.ladder == sum(result.summary["ladder"].values())


def test_money_is_text_in_json_and_a_number_in_csv(run: Run) -> None:
    result = with_costs(run, ROWS)[2]

    plain = plain_row(result)
    assert (plain["cost_usd"], plain["saved_usd"], plain["hit_rate"], plain["rewrites"]) == ("1.5", "-0.5", 0.25, 3)
    assert [cell(row_of(result)[name]) for name in ("cost_usd", "saved_usd")] == ["1.5", "-0.5"]


def test_shares_of_nothing_are_none() -> None:
    assert (money_saved(Decimal(0), Decimal(0)), money_saved(None, Decimal(1)), hit_rate(0, 0, 0)) == (None, None, None)


def test_a_run_at_earlier_prices_says_so(signed_in: Client, project: Project) -> None:
    three_sessions(project)
    run = finished(project)
    assert signed_in.get(f"/projects/apollo/runs/{run.pk}/").context["has_other_prices"] is False

    priced(project)

    assert signed_in.get(f"/projects/apollo/runs/{run.pk}/").context["has_other_prices"] is True


@pytest.fixture
def dearer(project: Project) -> list[Session]:
    """Three sessions of which the policy in force (the preset) makes the last one dearer."""
    sessions = three_sessions(project)
    with_costs(queued(project, extends="hermes"), ROWS)
    Run.objects.update(policy_digest=in_force(project).policy.digest, prices_digest="")
    return sessions


def test_the_sessions_that_a_policy_makes_dearer_are_a_cause_of_their_own(
    signed_in: Client, dearer: list[Session]
) -> None:
    worst = signed_in.get("/projects/apollo/worst/", {"cause": "dollars"}).context["worst"]

    assert ([row.session.pk for row in worst.rows], worst.counts["dollars"]) == ([dearer[2].pk], 1)


def test_a_projects_table_says_what_the_policy_in_force_costs(signed_in: Client, dearer: list[Session]) -> None:
    rows = signed_in.get("/projects/apollo/", {"sort": "dollars"}).context["rows"]

    assert [session.pk for session, _ in rows] == [dearer[2].pk, dearer[0].pk, dearer[1].pk]
    assert [outcome.saved_usd for _, outcome in rows] == [Decimal("-0.5"), 0, 1]


def test_a_projects_card_says_what_the_policy_in_force_saves(signed_in: Client, dearer: list[Session]) -> None:
    ((_, outcome),) = signed_in.get("/").context["cards"]

    assert (outcome.policy, outcome.sessions, outcome.priced) == ("preset hermes", 3, 3)
    assert (outcome.total.cost_usd, outcome.total.saved_usd) == (Decimal("4.6"), Decimal("0.5"))


def test_what_was_replayed_before_a_session_grew_does_not_count(signed_in: Client, dearer: list[Session]) -> None:
    Session.objects.filter(pk=dearer[2].pk).update(revision=2)

    rows = dict(signed_in.get("/projects/apollo/").context["rows"])

    assert rows[dearer[2]] is None


@pytest.mark.parametrize("address", ["/", "/projects/apollo/", "/projects/apollo/?sort=dollars"])
def test_queries_do_not_grow_with_sessions_and_projects(
    signed_in: Client, project: Project, dearer: list[Session], address: str
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            signed_in.get(address)
        return len(captured)

    before = queries()
    run = Run.objects.get()
    more = Session.objects.bulk_create([Session(project=project, key=f"m{n}", format="x") for n in range(60)])
    RunResult.objects.bulk_create(
        RunResult(run=run, session=one, state="done", session_revision=1, cache_read=1, cost_usd=1) for one in more
    )
    for number in range(5):
        other = Project.objects.create(name=f"P{number}", slug=f"p{number}")
        other.memberships.create(user=project.memberships.get().user)

    assert queries() == before
