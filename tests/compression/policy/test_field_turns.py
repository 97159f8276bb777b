"""Beside a field stands the turn to look at."""

from __future__ import annotations

import pytest

from compression.consequences import Consequences, consequences
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.project_peaks import project_peaks
from compression.replays import stored_replay
from compression.warm_sessions import warm_session
from sessions.models import Project, Session
from tests.compression.sessions import with_event

pytestmark = pytest.mark.django_db
HERMES = PRESETS["hermes"]


@pytest.fixture
def session(project: Project) -> Session:
    return with_event(project)


def tried(session: Session, **changes: object) -> Consequences:
    return consequences(
        warm_session(session),
        Policy.model_validate({**HERMES.model_dump(), **changes}),
        in_force=HERMES,
        before=stored_replay(session, HERMES),
        none=stored_replay(session, PRESETS["none"]),
        peaks=project_peaks(session.project),
    )


def test_a_field_that_alone_was_changed_leads_to_the_turn_that_it_changes_most(session: Session) -> None:
    found = tried(session, trigger_ratio=0.6)

    there, here = found.trial.before.table.after, found.trial.table.after
    differences = [abs(a - b) for a, b in zip(here, there, strict=True)]
    assert found.turns["trigger_ratio"] == differences.index(max(differences))


def test_other_fields_lead_to_where_they_act(session: Session) -> None:
    found = tried(session)

    [event] = found.trial.events()
    assert found.turns["trigger_ratio"] == found.trial.first_over
    assert found.turns["target_ratio"] == found.turns["min_result_tokens"] == event.turn
    assert found.turns["recent_tokens"] == found.trial.fullest


def test_a_field_that_acts_nowhere_leads_nowhere(session: Session) -> None:
    found = tried(session)

    assert {"ladder", "clear_thinking", "max_argument_tokens", "arrival_limit_tokens", "code_output"}.isdisjoint(
        found.turns
    )


def test_without_an_event_only_sizes_lead_somewhere(session: Session) -> None:
    found = tried(session, strategy="none", trigger_ratio=0.9)

    assert "target_ratio" not in found.turns
    assert found.turns["context_window"] == found.trial.fullest
