"""Recall by address from the database: only what the project itself holds is found."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from compression.engine.snapshots import UnknownAddress
from compression.recall import stored_original
from sessions.ingest import ingest
from sessions.models import Message, Original, Project, Session
from tests.sessions import recorded
from tests.sessions.recorded import FILE

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens")]


@pytest.fixture
def words_are_tokens(settings: Settings) -> None:
    settings.AGENT_SESSIONS_MEASURE = "tests.sessions.recorded.words"


BODY = "line one\nzwei – 2"
SHA = sha256(BODY.encode()).hexdigest()


def test_an_address_gives_the_bytes_of_the_original(project: Project) -> None:
    ingest(recorded.session(2, result=BODY), project=project, file=FILE)

    assert stored_original("apollo", f"hermes:{SHA[:12]}") == (SHA, BODY.encode())
    assert stored_original("apollo", SHA) == (SHA, BODY.encode())


def test_the_original_of_another_project_is_unknown(project: Project, other_project: Project) -> None:
    ingest(recorded.session(result=BODY), project=other_project, file=FILE)

    with pytest.raises(UnknownAddress) as refusal:
        stored_original("apollo", f"hermes:{SHA[:12]}")

    assert str(refusal.value) == f"nothing is stored under hermes:{SHA[:12]} in project 'apollo'"


def test_digits_that_two_originals_share_are_ambiguous(project: Project) -> None:
    session = ingest(recorded.session(result=BODY), project=project, file=FILE).session
    twin = Original.objects.create(sha256=SHA[:20] + "0" * 44, text="x", size_bytes=1, lines=1)
    Message.objects.create(session=session, index=99, role="tool", original=twin)

    with pytest.raises(UnknownAddress) as refusal:
        stored_original("apollo", f"hermes:{SHA[:12]}")

    assert str(refusal.value) == f"more than one original begins with hermes:{SHA[:12]} in project 'apollo'"
    assert stored_original("apollo", f"hermes:{SHA[:24]}")[0] == SHA


def test_a_twin_in_another_project_makes_nothing_ambiguous(project: Project, other_project: Project) -> None:
    ingest(recorded.session(result=BODY), project=project, file=FILE)
    other = ingest(recorded.session(), project=other_project, file=FILE).session
    twin = Original.objects.create(sha256=SHA[:20] + "0" * 44, text="x", size_bytes=1, lines=1)
    Message.objects.create(session=other, index=99, role="tool", original=twin)

    assert stored_original("apollo", f"hermes:{SHA[:12]}")[0] == SHA


def test_what_a_deleted_session_held_is_gone(project: Project) -> None:
    ingest(recorded.session(result=BODY), project=project, file=FILE)
    Session.objects.all().delete()

    with pytest.raises(UnknownAddress):
        stored_original("apollo", SHA)


def test_the_command_finds_what_the_dashboard_shows_without_being_told_the_project(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    ingest(recorded.session(result=BODY), project=project, file=FILE)

    call_command("recall", f"hermes:{SHA[:12]}", "--lines", "2")

    assert capfd.readouterr().out == "zwei – 2\n"


def test_the_command_looks_nowhere_else_than_in_the_folder_that_it_is_told(project: Project, tmp_path: Path) -> None:
    ingest(recorded.session(result=BODY), project=project, file=FILE)

    with pytest.raises(CommandError, match="nothing is stored under"):
        call_command("recall", f"hermes:{SHA[:12]}", "--store", str(tmp_path))
