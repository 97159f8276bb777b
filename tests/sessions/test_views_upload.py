"""Uploading files: what is stored, what is refused, and in which words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from sessions import uploads
from sessions.models import Project, Session

HTMX = {"HX-Request": "true"}
ADDRESS = "/projects/apollo/upload/"

pytestmark = pytest.mark.usefixtures("words_are_tokens")


def chat(question: str = "List the files", *, name: str = "chat.json", turns: int = 1) -> SimpleUploadedFile:
    messages = [
        {"role": role, "content": f"{question} {turn}"} for turn in range(turns) for role in ("user", "assistant")
    ]
    return SimpleUploadedFile(name, json.dumps(messages).encode())


def test_a_session_is_stored_and_linked(signed_in: Client, project: Project) -> None:
    response = signed_in.post(ADDRESS, {"files": chat()}, headers=HTMX)

    session = Session.objects.get()
    assert response.status_code == 200
    assert (session.project, session.file_name, session.message_count) == (project, "chat.json", 2)
    assert f'href="/projects/apollo/sessions/{session.pk}/"' in response.text


def test_a_title_is_escaped_once(signed_in: Client, project: Project) -> None:
    response = signed_in.post(ADDRESS, {"files": chat("Let's go & see")}, headers=HTMX)

    assert "<b>Let&#x27;s go &amp; see" in response.text


def test_the_page_without_script_gets_a_page_of_results(signed_in: Client, project: Project) -> None:
    response = signed_in.post(ADDRESS, {"files": [chat("one"), chat("two"), SimpleUploadedFile("x.json", b"{}")]})

    assert response.text.startswith("<!doctype html>")
    assert [outcome.status for outcome in response.context["outcomes"]] == [200, 200, 422]
    assert Session.objects.count() == 2


def test_the_same_file_twice_is_unchanged(signed_in: Client, project: Project) -> None:
    signed_in.post(ADDRESS, {"files": chat()}, headers=HTMX)

    response = signed_in.post(ADDRESS, {"files": chat()}, headers=HTMX)

    assert "already here, unchanged" in response.text
    assert Session.objects.count() == 1


def test_a_longer_version_updates_the_session_at_its_address(signed_in: Client, project: Project) -> None:
    signed_in.post(ADDRESS, {"files": chat()}, headers=HTMX)
    address = Session.objects.get().get_absolute_url()

    response = signed_in.post(ADDRESS, {"files": chat(turns=2)}, headers=HTMX)

    assert ">updated<" in response.text
    assert Session.objects.get().get_absolute_url() == address


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"a":1}', b"\x00\x01\x02binary", b"PK\x03\x04zip", b'{"type":"user"', b"plain words\n" * 3],
    ids=["empty", "empty list", "other JSON", "binary", "zip", "cut off", "prose"],
)
def test_what_is_no_session_is_refused_in_words(signed_in: Client, project: Project, body: bytes) -> None:
    response = signed_in.post(ADDRESS, {"files": SimpleUploadedFile("notes.txt", body)}, headers=HTMX)

    outcome = response.context["outcomes"][0]
    assert response.status_code == 422
    assert outcome.message
    assert outcome.hint
    assert "notes.txt" in response.text
    assert "Traceback" not in response.text
    assert Session.objects.count() == 0


def test_a_refusal_names_the_file_as_its_sender_knows_it(signed_in: Client, project: Project) -> None:
    response = signed_in.post(ADDRESS, {"files": SimpleUploadedFile("core.dump", b"\x00\x01\x02")}, headers=HTMX)

    message = response.context["outcomes"][0].message
    assert message.startswith("core.dump ")
    assert ".upload" not in response.text


def test_a_form_without_a_file_says_so(signed_in: Client, project: Project) -> None:
    response = signed_in.post(ADDRESS, {}, headers=HTMX)

    assert response.status_code == 422
    assert "No file was chosen." in response.text


def test_a_format_that_does_not_exist_is_refused(signed_in: Client, project: Project) -> None:
    response = signed_in.post(ADDRESS, {"files": chat(), "format": "word-perfect"}, headers=HTMX)

    assert response.status_code == 422
    assert "There is no format of that name." in response.text


def test_the_chosen_format_overrides_the_detection(signed_in: Client, project: Project) -> None:
    signed_in.post(ADDRESS, {"files": chat(), "format": "anthropic-messages"}, headers=HTMX)

    assert Session.objects.get().format == "anthropic-messages"


def test_a_file_over_the_limit_is_cut_off(signed_in: Client, project: Project, settings: Settings) -> None:
    settings.HERMES_MAX_UPLOAD_BYTES = 1000

    response = signed_in.post(ADDRESS, {"files": SimpleUploadedFile("big.json", b" " * 100_000)}, headers=HTMX)

    assert response.status_code == 413
    assert "larger than" in response.text
    assert Session.objects.count() == 0


def test_a_form_over_the_limit_gets_a_page(signed_in: Client, project: Project, settings: Settings) -> None:
    settings.HERMES_MAX_UPLOAD_BYTES = 1000

    response = signed_in.post(ADDRESS, {"files": SimpleUploadedFile("big.json", b" " * 100_000)})

    assert response.status_code == 413
    assert response.text.startswith("<!doctype html>")
    assert "Nothing was stored." in response.text


def test_a_declared_length_over_the_limit_is_refused_before_reading(
    signed_in: Client, project: Project, settings: Settings
) -> None:
    settings.HERMES_MAX_UPLOAD_BYTES = 1000

    response = signed_in.post(ADDRESS, {"files": SimpleUploadedFile("big.json", b" " * 2_000_000)}, headers=HTMX)

    assert response.status_code == 413
    assert "larger than" in response.text


def test_hostile_names_and_titles_are_shown_as_text(signed_in: Client, project: Project) -> None:
    hostile = "<script>alert(1)</script>"

    good = signed_in.post(ADDRESS, {"files": chat(hostile, name="<img onerror=x>.json")}, headers=HTMX)
    bad = signed_in.post(ADDRESS, {"files": SimpleUploadedFile("<svg onload=x>", hostile.encode())}, headers=HTMX)

    for response in (good, bad):
        assert "<script" not in response.text
        assert "<img" not in response.text
        assert "<svg onload" not in response.text


def test_a_defect_of_ours_is_admitted_without_a_traceback(
    signed_in: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, **options: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(uploads, "import_file", fail)

    response = signed_in.post(ADDRESS, {"files": chat()}, headers=HTMX)

    assert response.status_code == 422
    assert "nothing of it was stored" in response.text
    assert "secret detail" not in response.text


def test_the_first_dropped_file_makes_a_project(signed_in: Client) -> None:
    signed_in.post("/projects/upload/", {"files": chat("one")}, headers=HTMX)
    signed_in.post("/projects/upload/", {"files": chat("two")}, headers=HTMX)

    project = Project.objects.get()
    assert (project.name, project.sessions.count()) == ("My sessions", 2)


def test_uploads_need_the_forms_token(project: Project, signed_in: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = signed_in.cookies

    response = strict.post(ADDRESS, {"files": chat()})

    assert response.status_code == 403
    assert Session.objects.count() == 0


def test_a_request_that_announces_too_much_gets_a_page_at_once(signed_in: Client, project: Project) -> None:
    response = signed_in.post(ADDRESS, CONTENT_LENGTH=str(10**12))

    assert response.status_code == 413
    assert "<h1>The upload is larger than 209,715,200 bytes.</h1>" in response.text
    assert response["Content-Security-Policy"].startswith("default-src 'self'")
