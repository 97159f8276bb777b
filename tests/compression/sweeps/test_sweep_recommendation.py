"""The recommendation: every figure from the stored results, the reason in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from compression.models import Sweep, SweepSession, Trial, TrialResult
from compression.sweep_recommendation import recommendation_of
from compression.sweep_results import findings_of
from compression.sweep_totals import figures_of
from sessions.models import Project, Session
from tests.compression.sweeps.starting import queued

FIGURES = {"turns": 10, "sent_before": 1_000, "sent_after": 1_000, "cost_usd": Decimal("2.5")}


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    names = ("Alpha", "Beta", "Gamma")
    return [Session.objects.create(project=project, key=name, title=name, format="made-up") for name in names]


@pytest.fixture
def sweep(project: Project, sessions: list[Session]) -> Sweep:
    """Alpha and Beta are tuned on, Gamma is held out."""
    sweep = queued(project)
    SweepSession.objects.filter(sweep=sweep).update(is_held_out=False)
    SweepSession.objects.filter(sweep=sweep, session=sessions[2]).update(is_held_out=True)
    return sweep


def put(sweep: Sweep, number: int, sessions: list[Session], *figures: dict[str, Any]) -> None:
    """A trial that is done, with a result for each session."""
    trial = Trial.objects.get(sweep=sweep, number=number)
    rows = [
        TrialResult(trial=trial, session=session, session_revision=1, **{**FIGURES, **own})
        for session, own in zip(sessions, figures, strict=True)
    ]
    TrialResult.objects.bulk_create(rows)
    own = figures_of(rows, {sessions[2].pk})
    Trial.objects.filter(pk=trial.pk).update(state=Trial.State.DONE, **own)


def test_nothing_is_recommended_while_nothing_is_done(sweep: Sweep) -> None:
    assert recommendation_of(findings_of(sweep)) is None


def test_the_reason_names_what_is_saved_lost_and_paid_back_and_the_worst_session(
    sweep: Sweep, sessions: list[Session]
) -> None:
    put(sweep, 0, sessions, {}, {}, {})
    put(
        sweep,
        2,
        sessions,
        {"sent_after": 800, "cost_usd": Decimal("1.25"), "rlr_n": 200, "rlr_kept": 199, "rlr_reached": 200,
         "events": 1, "break_even": 4.0},
        {"sent_after": 700, "cost_usd": Decimal("1.75"), "rlr_n": 12, "rlr_kept": 9, "rlr_reached": 12,
         "events": 1, "break_even": 8.0},
        {"sent_after": 900, "cost_usd": Decimal("2"), "rlr_n": 4, "rlr_kept": 4, "rlr_reached": 4},
    )  # fmt: skip

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert (found.trial.number, found.saved, found.saved_held_out) == (2, 0.4, 0.2)
    assert found.reason == (
        "saves 40\u202f% of dollars ($\u202f3.00 left); loses 4 of 212 names used later, all reachable; "
        "pays back after 6 calls (median of 2 sessions); worst session: “Beta” (loses 3 of 12, saves 30\u202f% of its "
        "tokens)"
    )
    assert found.lines == [
        "Of the 2 policies that no other beats it is nearest to costing nothing and losing nothing.",
        "On 1 held-out session it saves 20\u202f% of dollars ($\u202f2.00 left); loses 0 of 4 names used later.",
    ]


def test_without_a_price_tokens_are_judged_and_it_says_so(sweep: Sweep, sessions: list[Session]) -> None:
    put(sweep, 0, sessions, {}, {"cost_usd": None}, {})
    put(sweep, 2, sessions, {"sent_after": 500}, {"sent_after": 700, "cost_usd": None}, {})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert (found.in_dollars, found.saved) == (False, 0.4)
    assert found.reason.startswith(
        "saves 40\u202f% of the 2\u202f000 tokens sent; nothing that it changed was used later"
    )
    assert found.lines[-1] == "Judged by tokens: 1 session has no price."


def test_held_out_sessions_that_it_makes_dearer_are_told_as_such(sweep: Sweep, sessions: list[Session]) -> None:
    put(sweep, 0, sessions, {}, {}, {"cost_usd": Decimal(2)})
    put(sweep, 2, sessions, {"cost_usd": Decimal(1)}, {}, {"cost_usd": Decimal("2.5")})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert found.lines[1].startswith("On 1 held-out session it costs 25\u202f% more dollars ($\u202f2.50); ")


def test_held_out_sessions_without_a_price_are_told_in_tokens(sweep: Sweep, sessions: list[Session]) -> None:
    put(sweep, 0, sessions, {}, {}, {"cost_usd": None})
    put(sweep, 2, sessions, {"cost_usd": Decimal(1)}, {}, {"sent_after": 900, "cost_usd": None})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert (found.in_dollars, found.saved_held_out) == (True, None)
    assert found.lines[1] == (
        "On 1 held-out session it saves 10\u202f% of the 1\u202f000 tokens sent; "
        "nothing that it changed was used later."
    )


def test_the_worst_session_is_one_that_was_tuned_on(sweep: Sweep, sessions: list[Session]) -> None:
    put(sweep, 2, sessions, {"rlr_n": 9, "rlr_kept": 8}, {}, {"rlr_n": 90, "rlr_kept": 5})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert found.worst is not None
    assert found.worst.session == sessions[0]


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        ({"cost_usd": Decimal(3)}, True),
        ({"rlr_n": 10, "rlr_kept": 5}, True),
        ({"rlr_n": 10, "rlr_kept": 10}, False),
        ({"cost_usd": Decimal(2)}, False),
    ],
)
def test_a_policy_that_does_worse_on_sessions_held_out_says_so(
    sweep: Sweep, sessions: list[Session], apart: dict[str, Any], expected: bool
) -> None:
    put(sweep, 0, sessions, {}, {}, {})
    put(sweep, 2, sessions, {"cost_usd": Decimal(1), "rlr_n": 10, "rlr_kept": 9}, {"cost_usd": Decimal(1)}, apart)

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert found.is_worse_apart is expected


def test_what_is_not_reachable_is_counted(sweep: Sweep, sessions: list[Session]) -> None:
    put(sweep, 2, sessions, {"rlr_n": 9, "rlr_kept": 5, "rlr_reached": 8}, {}, {})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert "loses 4 of 9 names used later, 3 of them reachable" in found.reason


def test_a_policy_that_breaks_a_promise_is_recommended_only_where_all_do_and_says_so(
    sweep: Sweep, sessions: list[Session]
) -> None:
    put(sweep, 0, sessions, {"overflow_turn": 3}, {"overflow_turn": 4}, {})
    put(sweep, 2, sessions, {"sent_after": 100, "thrash": 2.0}, {}, {})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert (found.trial.number, found.is_sound) == (2, False)
    assert "1 session thrashes" in found.reason
    assert found.lines[0].startswith(
        "No policy keeps every promise; of those that break one in the fewest sessions (1)"
    )


def test_no_compression_is_recommended_where_every_policy_costs_more(sweep: Sweep, sessions: list[Session]) -> None:
    put(sweep, 0, sessions, {}, {}, {})
    put(sweep, 2, sessions, {"cost_usd": Decimal(9), "rlr_n": 2}, {"cost_usd": Decimal(9)}, {})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert (found.trial.kind, found.saved) == ("none", 0.0)


def test_the_policy_in_force_stands_beside_it(sweep: Sweep, sessions: list[Session]) -> None:
    put(sweep, 0, sessions, {}, {}, {})
    put(sweep, 1, sessions, {"cost_usd": Decimal(2)}, {"cost_usd": Decimal(2)}, {})
    put(sweep, 2, sessions, {"cost_usd": Decimal(1)}, {"cost_usd": Decimal(1)}, {})

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert found.lines[2] == (
        "The policy in force saves 20\u202f% of dollars ($\u202f4.00 left); nothing that it changed was used later."
    )


def test_a_session_that_was_moved_to_another_project_is_not_named(
    sweep: Sweep, sessions: list[Session], other_project: Project
) -> None:
    put(sweep, 2, sessions, {"rlr_n": 9}, {"rlr_n": 1}, {})
    Session.objects.filter(pk=sessions[0].pk).update(project=other_project)

    found = recommendation_of(findings_of(sweep))

    assert found is not None
    assert found.worst is not None
    assert found.worst.session == sessions[1]
