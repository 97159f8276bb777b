"""The API of replays: the same figures as the engine, the same refusals as everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.transcripts import from_session
from sessions.importers import read_sessions
from sessions.ingest import FileFacts, ingest
from sessions.models import Project, Session
from sessions.tokens import create_token
from tests.compression.stored import FIXTURE

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return Project.objects.create(name="Apollo", slug="apollo")


@pytest.fixture
def session(project: Project) -> Session:
    [parsed] = read_sessions(FIXTURE)
    return ingest(parsed, project=project, file=FileFacts(name=FIXTURE.name, sha256="0" * 64, size=1)).session


def bearer(project: Project) -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(project=project, scope='read')[1]}"}


def ask(client: Client, project: Project, session: Session, body: dict[str, Any]) -> Any:
    return client.post(
        f"/api/v1/sessions/{session.pk}/replay", body, content_type="application/json", headers=bearer(project)
    )


def test_a_replay_says_what_the_engine_says(client: Client, project: Project, session: Session) -> None:
    response = ask(client, project, session, {"policy": "chapter"})

    subject = from_session(session)
    done = replay(subject.transcript, PRESETS["chapter"], subject.calibration)
    assert response.status_code == 200
    assert [turn["tokens"]["after"] for turn in response.json()["turns"]] == list(done.windows_after)


def test_a_policy_may_be_given_by_its_fields(client: Client, project: Project, session: Session) -> None:
    response = ask(client, project, session, {"policy": {"extends": "chapter", "context_window": 5_000}})

    assert response.json()["summary"]["context_window"] == 5_000


def test_an_impossible_policy_is_refused_by_the_name_of_its_field(
    client: Client, project: Project, session: Session
) -> None:
    response = ask(client, project, session, {"policy": {"trigger_ratio": 2, "colour": "red"}})

    assert response.status_code == 422
    assert response.json()["error"]["message"] == (
        "trigger_ratio: Input should be less than or equal to 1; unknown field colour"
    )


def test_the_blocks_of_a_window_add_up_to_its_tokens(client: Client, project: Project, session: Session) -> None:
    response = client.get(f"/api/v1/sessions/{session.pk}/window?turn=1&policy=none", headers=bearer(project))

    subject = from_session(session)
    blocks = response.json()["before"]
    counted = sum(block["tokens"] for block in blocks if block["message"] is not None)
    assert subject.calibration.tokens(counted) == response.json()["tokens"]["before"]


def test_a_turn_that_does_not_exist_is_404_with_the_range(client: Client, project: Project, session: Session) -> None:
    response = client.get(f"/api/v1/sessions/{session.pk}/window?turn=900", headers=bearer(project))

    assert response.status_code == 404
    assert response.json()["error"]["hint"] == f"It has turns 0-{session.turn_count - 1}."


def test_a_session_of_another_project_does_not_exist(client: Client, session: Session) -> None:
    other = Project.objects.create(name="Gemini", slug="gemini")

    response = ask(client, other, session, {"policy": "none"})

    assert response.status_code == 404
