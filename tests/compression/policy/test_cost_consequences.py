"""What the form says about the prompt cache: pay-back at today's prices, events refused and events for nothing."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest

from compression.consequences import Consequences, consequences
from compression.engine.costs import ledger_of
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.pricing import prices_for
from compression.project_peaks import project_peaks
from compression.replays import stored_replay
from compression.warm_sessions import warm_session
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store, with_event

pytestmark = pytest.mark.django_db
HERMES = PRESETS["hermes"]


JUNE = 1_780_300_000.0


@pytest.fixture
def session(project: Project) -> Session:
    """Of a model with a price, on a day in June of 2026."""
    made = parsed(60, lines=76)
    made.models = ["claude-sonnet-4-5"]
    made.turns = [replace(turn, time=JUNE + (turn.time or 0)) for turn in made.turns]
    return store(made, project)


def tried(session: Session, **changes: object) -> Consequences:
    return consequences(
        warm_session(session),
        Policy.model_validate({**HERMES.model_dump(), "context_window": 100_000, **changes}),
        in_force=HERMES,
        before=stored_replay(session, HERMES),
        none=stored_replay(session, PRESETS["none"]),
        peaks=project_peaks(session.project),
    )


def said(found: Consequences, name: str) -> list[str]:
    return [line.text for line in found.fields[name]]


def test_the_pay_back_is_that_of_the_ledger_at_todays_prices(session: Session) -> None:
    found = tried(session)

    trial = found.trial
    [model] = set(trial.terms.models)
    assert model == "claude-sonnet-4-5"
    today = prices_for(model, trial.today)
    ledger = ledger_of(replace(trial.replay, prices=today))
    known = [calls for calls in ledger.break_evens if calls is not None]
    line = f"at today's prices an event pays back after {median(known):.1f} calls (median of {len(known)})"
    assert said(found, "break_even_horizon")[0] == line


def test_events_that_pay_back_later_are_counted(session: Session) -> None:
    found = tried(session, break_even_horizon=0)

    known = found.trial.break_evens_today
    assert known
    late = sum(calls > 0 for calls in known)
    assert f"{late} of 1 event later than that" in said(found, "break_even_horizon")


def test_a_gate_that_refuses_says_how_often(session: Session) -> None:
    found = tried(session, dollar_gate=True, break_even_horizon=0)

    refused = sum(1 + e.repeats for e in found.trial.events("skip") if "would pay back" in e.reason)
    assert refused > 0
    assert f"skips {refused} event" in said(found, "dollar_gate")[1]


def test_a_model_without_a_price_is_named(project: Project) -> None:
    found = tried(with_event(project), dollar_gate=True)

    assert said(found, "dollar_gate")[-1] == "no price is known for the model (m-1): set one in the project's prices"


def test_how_long_the_cache_lives_is_said(session: Session) -> None:
    found = tried(session)

    assert said(found, "prefer_idle")[0].startswith("off; the cache lives 5")
