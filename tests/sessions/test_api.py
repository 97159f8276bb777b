"""The HTTP API of sessions: what a token may do, and what every refusal looks like."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from sessions.importers.parsed import Detection, ImportFailure, ParsedSession
from sessions.ingest import ingest
from sessions.models import ApiToken, Project, Session
from sessions.tokens import create_token
from tests.sessions import recorded
from tests.sessions.recorded import FILE

pytestmark = pytest.mark.usefixtures("words_are_tokens", "made_up_format")

SEND = "/api/v1/projects/apollo/sessions"


def bearer(project: Project, scope: str = "write") -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(project=project, scope=scope)[1]}"}


def send(client: Client, project: Project, body: bytes = b"1", *, key: str = "") -> Any:
    return client.post(
        SEND,
        body,
        content_type="application/octet-stream",
        headers=bearer(project, "ingest") | ({"Idempotency-Key": key} if key else {}),
    )


def test_a_raw_body_becomes_a_session(client: Client, project: Project) -> None:
    response = send(client, project, b"2")

    session = Session.objects.get()
    [row] = response.json()["sessions"]
    assert response.status_code == 201
    assert (row["session_id"], row["status"], row["turns"]) == (session.pk, "created", 2)
    assert row["url"] == f"http://127.0.0.1:8000{session.get_absolute_url()}"
    assert row["calibration"] == {"k": 1.0, "hidden": 0, "points": 0}


def test_a_form_becomes_a_session_under_the_name_of_its_file(client: Client, project: Project) -> None:
    file = SimpleUploadedFile("mine.jsonl", b"1")

    response = client.post(SEND, {"file": file}, headers=bearer(project))

    assert response.json()["sessions"][0]["path"] == "mine.jsonl"
    assert Session.objects.get().file_name == "mine.jsonl"


def test_the_same_body_again_is_unchanged(client: Client, project: Project) -> None:
    send(client, project)

    response = send(client, project)

    assert (response.status_code, response.json()["sessions"][0]["status"]) == (200, "unchanged")


def test_the_same_idempotency_key_gives_the_first_answer_again(client: Client, project: Project) -> None:
    first = send(client, project, key="once")

    second = send(client, project, key="once")

    assert (second.status_code, second.json()) == (201, first.json())


def test_the_same_idempotency_key_with_another_body_is_refused(client: Client, project: Project) -> None:
    send(client, project, key="once")

    response = send(client, project, b"2", key="once")

    assert (response.status_code, response.json()["error"]["code"]) == (409, "key_reused")
    assert Session.objects.get().turn_count == 1


def test_a_body_that_is_no_session_is_answered_with_guesses(client: Client, project: Project) -> None:
    response = send(client, project, b"nonsense")

    assert response.status_code == 422
    assert response.json() == {
        "error": {
            "code": "unreadable",
            "message": "upload is no number.",
            "hint": "Send a number.",
            "guesses": [{"format": "made-up", "score": 0.2, "why": "it is bytes"}],
        }
    }


def test_a_refusal_calls_the_file_by_the_name_that_came_with_it(client: Client, project: Project) -> None:
    response = client.post(f"{SEND}?name=core.dump", b"x", content_type="application/json", headers=bearer(project))

    assert response.json()["error"]["message"] == "core.dump is no number."


def test_a_form_without_a_file_is_told_so(client: Client, project: Project) -> None:
    response = client.post(SEND, {"other": "1"}, headers=bearer(project))

    assert (response.status_code, response.json()["error"]["code"]) == (422, "no_file")


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_the_limit_is_too_large(
    client: Client, project: Project, settings: Settings, declared: bool
) -> None:
    settings.HERMES_MAX_UPLOAD_BYTES = 10
    body = b"1" * (11 + (2 * 1024 * 1024 if declared else 0))

    response = send(client, project, body)

    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")
    assert Session.objects.count() == 0


def test_a_file_over_the_limit_in_a_form_is_too_large(client: Client, project: Project, settings: Settings) -> None:
    settings.HERMES_MAX_UPLOAD_BYTES = 10

    response = client.post(SEND, {"file": SimpleUploadedFile("a", b"1" * 11)}, headers=bearer(project))

    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")


def test_a_defect_of_ours_is_admitted_in_the_same_shape(
    client: Client, project: Project, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.AGENT_SESSIONS_MEASURE = "tests.sessions.test_api.broken"

    response = send(client, project)

    assert (response.status_code, response.json()["error"]["code"]) == (422, "defect")
    assert "of our own" in caplog.text
    assert Session.objects.count() == 0


def broken(parsed: object) -> None:
    raise RuntimeError("of our own")


def test_a_session_can_be_read(client: Client, project: Project) -> None:
    session = ingest(recorded.session(2), project=project, file=FILE).session

    found = client.get(f"/api/v1/sessions/{session.pk}", headers=bearer(project, "read")).json()

    assert (found["session_id"], found["project"], found["turns"]) == (session.pk, "apollo", 2)
    assert found["file"] == {"name": FILE.name, "sha256": FILE.sha256, "size": FILE.size}
    assert found["started_at"] == "1970-01-01T00:00:00+00:00"


def test_turns_come_in_pages_and_one_query(
    client: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session = ingest(recorded.session(3), project=project, file=FILE).session
    headers = bearer(project, "read")

    # The token, the note that it was used, the session, its turns.
    with django_assert_num_queries(4):
        found = client.get(f"/api/v1/sessions/{session.pk}/turns?offset=1&limit=1", headers=headers).json()

    assert found["count"] == 3
    assert found["turns"] == [
        {
            "index": 1,
            "request_end": 3,
            "response_end": 4,
            "results_end": 5,
            "model": "m-1",
            "time": None,
            "recorded": {
                "context_tokens": 115,
                "cache_read": 10,
                "cache_write": 5,
                "cache_write_1h": 0,
                "output": 7,
                "reasoning": 0,
            },
        }
    ]


@pytest.mark.parametrize("tail", ["", "/turns"])
def test_what_another_project_holds_does_not_exist(
    client: Client, project: Project, other_project: Project, tail: str
) -> None:
    session = ingest(recorded.session(), project=other_project, file=FILE).session

    response = client.get(f"/api/v1/sessions/{session.pk}{tail}", headers=bearer(project))

    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_another_project_cannot_be_sent_to(client: Client, project: Project, other_project: Project) -> None:
    response = client.post(SEND, b"1", content_type="application/json", headers=bearer(other_project))

    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer hermes_wrong"}])
def test_without_a_known_token_nothing_is_answered(client: Client, project: Project, headers: dict[str, str]) -> None:
    response = client.get("/api/v1/sessions/1", headers=headers)

    assert (response.status_code, response.json()["error"]["code"]) == (401, "unknown_token")


def test_signing_in_is_no_token(signed_in: Client) -> None:
    assert signed_in.get("/api/v1/sessions/1").status_code == 401


def test_a_token_for_reading_cannot_send(client: Client, project: Project) -> None:
    response = client.post(SEND, b"1", content_type="application/json", headers=bearer(project, "read"))

    assert (response.status_code, response.json()["error"]["code"]) == (403, "wrong_scope")
    assert Session.objects.count() == 0


def test_a_token_for_sending_cannot_read(client: Client, project: Project) -> None:
    assert client.get("/api/v1/sessions/1", headers=bearer(project, "ingest")).status_code == 403


def test_unusable_parameters_are_named(client: Client, project: Project) -> None:
    response = client.get("/api/v1/sessions/1/turns?limit=0", headers=bearer(project))

    assert response.status_code == 422
    assert response.json()["error"]["message"] == "query.limit: Input should be greater than or equal to 1"


def test_a_token_notes_when_it_was_used(client: Client, project: Project) -> None:
    client.get("/api/v1/sessions/1", headers=bearer(project))

    assert ApiToken.objects.get().last_used_at is not None


@pytest.mark.parametrize("page", ["docs", "openapi.json"])
def test_the_documentation_is_for_people_who_are_signed_in(client: Client, db: None, page: str) -> None:
    assert client.get(f"/api/v1/{page}")["Location"] == f"/signin/?next=/api/v1/{page}"


def test_the_documentation_names_every_operation(signed_in: Client) -> None:
    paths = signed_in.get("/api/v1/openapi.json").json()["paths"]

    assert {
        "/api/v1/projects/{slug}/sessions",
        "/api/v1/sessions/{session_id}",
        "/api/v1/sessions/{session_id}/turns",
    } <= set(paths)


def test_the_documentation_needs_no_inline_script(signed_in: Client) -> None:
    page = signed_in.get("/api/v1/docs").content.decode()

    assert '<script src="/static/ninja/swagger-ui-bundle.js"></script>' in page
    assert "<script>" not in page


@pytest.fixture
def made_up_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format of one number: how many exchanges the session has. The edge that real files come in by."""

    def read(path: Any, *, format: str | None = None, name: str = "") -> list[ParsedSession]:
        if not path.read_bytes().isdigit():
            raise ImportFailure(f"{name} is no number.", "Send a number.", [Detection("made-up", 0.2, "it is bytes")])
        return [recorded.session(int(path.read_bytes()))]

    monkeypatch.setattr("sessions.import_file.read_sessions", read)
