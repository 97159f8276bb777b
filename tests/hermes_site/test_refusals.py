"""Requests that nothing takes: a page for people, one shape for programs, never a failure of the server."""

from __future__ import annotations

from typing import Any

import pytest
from channels.testing import ApplicationCommunicator
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from hermes_site.asgi import application
from sessions.models import Project
from sessions.tokens import create_token

pytestmark = pytest.mark.django_db


def bearer(project: Project) -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(project=project, scope='write')[1]}"}


@pytest.mark.parametrize("token", ["é", "%FF", "a b", "x" * 201, "a%0a"])
def test_a_sign_in_link_that_cannot_be_one_is_not_found(client: Client, token: str) -> None:
    assert client.get(f"/signin/{token}/").status_code == 404


async def static(path: str, method: str = "GET") -> int:
    headers = [(b"host", b"127.0.0.1")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b""}
    asking = ApplicationCommunicator(application, scope)
    await asking.send_input({"type": "http.request", "body": b""})
    answer: dict[str, Any] = await asking.receive_output(10)
    await asking.wait()
    return int(answer["status"])


@pytest.mark.asyncio
@pytest.mark.parametrize("path", ["/static/../manage.py", "/static/css/../../../etc/passwd", "/static//etc/passwd"])
async def test_a_path_that_leaves_the_static_files_is_not_found(path: str) -> None:
    assert await static(path) == 404


@pytest.mark.asyncio
@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("HEAD", 200), ("POST", 405), ("DELETE", 405)])
async def test_static_files_are_only_read(method: str, status: int) -> None:
    assert await static("/static/css/base.css", method) == status


def test_a_method_that_a_page_does_not_take_gets_a_page(signed_in: Client, project: Project) -> None:
    response = signed_in.post("/projects/apollo/")

    assert (response.status_code, response["Allow"]) == (405, "GET")
    assert "This address does something else" in response.text


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/api/v1/nothing", 404, "not_found"),
        ("get", "/api/v1/sessions/99999999999999999999", 404, "not_found"),
        ("delete", "/api/v1/sessions/1", 405, "method_not_allowed"),
        ("get", "/api/v2/", 404, "not_found"),
    ],
)
def test_the_api_refuses_in_one_shape_whatever_was_asked(
    client: Client, project: Project, method: str, path: str, status: int, code: str
) -> None:
    response = getattr(client, method)(path, headers=bearer(project))

    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    assert set(response.json()["error"]) == {"code", "message", "hint"}


@pytest.mark.parametrize("boundary", ["", "; boundary=B", "; boundary=" + "x" * 300])
def test_a_form_that_cannot_be_read_is_refused_in_that_shape(client: Client, project: Project, boundary: str) -> None:
    response = client.post(
        "/api/v1/projects/apollo/sessions",
        b"garbage",
        content_type="multipart/form-data" + boundary,
        headers=bearer(project),
    )

    assert response.status_code in (400, 422)
    assert response.json()["error"]["code"] in ("bad_form", "no_file")


def post(client: Client, project: Project, body: bytes) -> Any:
    return client.post("/api/v1/projects/apollo/runs", body, content_type="application/json", headers=bearer(project))


def test_a_body_over_the_limit_is_too_large(client: Client, project: Project) -> None:
    response = post(client, project, b'{"policy": "' + b"x" * 2_500_000 + b'"}')

    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")


@pytest.mark.parametrize("body", [b"[]", b'"hermes"', b"1", b"null", b"[{}]"])
def test_a_body_that_is_no_object_is_invalid(client: Client, project: Project, body: bytes) -> None:
    response = post(client, project, body)

    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid")


def test_a_field_that_does_not_exist_is_named_and_cut(client: Client, project: Project) -> None:
    response = post(client, project, b'{"' + b"polcy" * 200 + b'": 1}')

    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid")
    assert "polcypolcy" in response.json()["error"]["message"]
    assert len(response.json()["error"]["message"]) < 500


def test_a_policy_that_does_not_exist_is_not_sent_back_at_length(client: Client, project: Project) -> None:
    response = post(client, project, b'{"policy": "' + b"x" * 100_000 + b'"}')

    assert (response.status_code, response.json()["error"]["code"]) == (422, "unknown_policy")
    assert len(response.content) < 1000


@pytest.mark.parametrize(
    "path", ["runs/{0}/", "runs/{0}/sessions/1/log/", "runs/1/sessions/{0}/log/", "runs/1/sessions/{0}/log.csv"]
)
def test_a_number_that_no_database_counts_to_is_not_found(signed_in: Client, project: Project, path: str) -> None:
    for number in (2**63 - 1, 2**63, 10**30):
        assert signed_in.get(f"/projects/apollo/{path.format(number)}").status_code == 404


def test_more_files_than_a_form_takes_are_told_by_their_count(signed_in: Client, project: Project) -> None:
    files = [SimpleUploadedFile(f"{number}.json", b"{}") for number in range(101)]

    response = signed_in.post("/projects/apollo/upload/", {"files": files})

    assert response.status_code == 413
    assert "<h1>More than 100 files came at once.</h1>" in response.text


def test_a_file_name_that_is_too_long_is_told_as_that(signed_in: Client, project: Project) -> None:
    head = f'--B\r\nContent-Disposition: form-data; name="files"; filename="{"n" * 2000}.json"\r\n\r\n'

    response = signed_in.post(
        "/projects/apollo/upload/", head.encode() + b"{}\r\n--B--\r\n", content_type="multipart/form-data; boundary=B"
    )

    assert response.status_code == 413
    assert "<h1>The name of a file is too long.</h1>" in response.text


def test_a_small_limit_is_not_told_as_zero_megabytes(signed_in: Client, project: Project, settings: Settings) -> None:
    settings.HERMES_MAX_UPLOAD_BYTES = 1000

    response = signed_in.post("/projects/apollo/upload/", {"files": SimpleUploadedFile("x.json", b" " * 2000)})

    assert response.status_code == 413
    assert "<h1>A file is larger than 1000\xa0bytes, the limit here.</h1>" in response.text
