"""The API of runs."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from compression.engine.presets import PRESETS
from compression.models import Run
from sessions.models import Project, Session
from sessions.tokens import create_token
from tests.compression.runs.starting import finished, three_sessions
from tests.compression.sessions import parsed, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


def bearer(project: Project, scope: str = "write") -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(project=project, scope=scope)[1]}"}


def start(client: Client, project: Project, body: dict[str, Any], scope: str = "write") -> Any:
    path, headers = "/api/v1/projects/apollo/runs", bearer(project, scope)
    return client.post(path, body, content_type="application/json", headers=headers)


def test_a_run_is_started(client: Client, project: Project, sessions: list[Session]) -> None:
    response = start(client, project, {"policy": "chapter", "sessions": [sessions[1].pk]})

    answer = response.json()
    assert response.status_code == 201
    assert (answer["policy"], answer["policy_digest"]) == ("preset chapter", PRESETS["chapter"].digest)
    assert (answer["progress"]["state"], answer["progress"]["total"]) == ("queued", 1)
    assert answer["url"].endswith(f"/projects/apollo/runs/{answer['id']}/")


def test_a_policy_may_be_given_by_its_fields(client: Client, project: Project, sessions: list[Session]) -> None:
    response = start(client, project, {"policy": {"extends": "chapter", "name": "mine", "context_window": 5_000}})

    assert response.status_code == 201
    assert Run.objects.get().fields["context_window"] == 5_000


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"policy": "nonsense"}, "unknown_policy"),
        ({"policy": {"trigger_ratio": 7}}, "invalid_policy"),
        ({"policy": "hermes", "sessions": [999_999]}, "no_sessions"),
    ],
)
def test_what_cannot_be_run_is_refused(
    client: Client, project: Project, sessions: list[Session], body: dict[str, Any], code: str
) -> None:
    response = start(client, project, body)

    assert (response.status_code, response.json()["error"]["code"]) == (422, code)


def test_a_token_that_may_only_read_starts_nothing(client: Client, project: Project, sessions: list[Session]) -> None:
    assert start(client, project, {"policy": "hermes"}, scope="read").status_code == 403


def test_a_run_says_where_it_stands_and_what_it_found(
    client: Client, project: Project, sessions: list[Session]
) -> None:
    run = finished(project)

    answer = client.get(f"/api/v1/runs/{run.pk}", headers=bearer(project, "read")).json()

    assert (answer["state"], answer["progress"]["done"], answer["totals"]["sessions"]) == ("done", 3, 3)
    assert answer["totals"]["session_saved"]["share"] == round(
        answer["totals"]["session_saved"]["part"] / answer["totals"]["session_saved"]["whole"], 6
    )


def test_results_come_a_page_at_a_time(
    client: Client, project: Project, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compression.run_results.PAGE_SIZE", 2)
    run = finished(project)
    path, headers = f"/api/v1/runs/{run.pk}/results", bearer(project, "read")

    first = client.get(path, headers=headers).json()
    second = client.get(path, {"after": first["after"]}, headers=headers).json()

    keys = [row["session_id"] for row in (*first["results"], *second["results"])]
    assert (len(first["results"]), len(second["results"]), second["after"]) == (2, 1, "")
    assert sorted(keys) == [session.pk for session in sessions]


def test_runs_and_projects_of_others_are_not_there(
    client: Client, project: Project, other_project: Project, sessions: list[Session]
) -> None:
    run = finished(project)
    store(parsed(2), other_project)
    headers = bearer(other_project)

    assert client.get(f"/api/v1/runs/{run.pk}", headers=headers).status_code == 404
    assert client.get(f"/api/v1/runs/{run.pk}/results", headers=headers).status_code == 404
    assert start(client, other_project, {"policy": "hermes"}).status_code == 404


def test_without_a_token_there_is_no_answer(client: Client, project: Project, sessions: list[Session]) -> None:
    assert client.get(f"/api/v1/runs/{finished(project).pk}").status_code == 401
