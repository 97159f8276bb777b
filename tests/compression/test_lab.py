"""The lab's page: pasted and picked outputs, and what it refuses."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from compression.lab_page import runs
from sessions.models import Message, Project
from tests.compression.sessions import with_event

pytestmark = pytest.mark.django_db

TABLE = "name,age\n" + "\n".join(f"person_{n},{n}" for n in range(300))


def address(project: Project) -> str:
    return reverse("compression:lab", args=[project.slug])


def test_a_pasted_output_is_compressed_and_stored_nowhere(signed_in: Client, project: Project) -> None:
    response = signed_in.post(address(project), {"text": TABLE, "budget": "120"})

    page = response.content.decode()
    assert response.status_code == 200
    assert "[compressed table · 301 lines" in page
    assert "deepagents-eviction" in page
    assert not Message.objects.exists()


def test_hostile_text_is_shown_as_text(signed_in: Client, project: Project) -> None:
    response = signed_in.post(address(project), {"text": "<script>alert(1)</script>\n" * 200})

    assert b"<script>alert" not in response.content
    assert b"&lt;script&gt;alert(1)" in response.content


@pytest.mark.parametrize(
    ("given", "word"),
    [({"text": TABLE, "kind": "poem"}, "kind"), ({"text": TABLE, "budget": "5"}, "budget"),
     ({"text": TABLE, "policy": "nonsense"}, "policy"), ({"text": "x" * 1_000_001}, "text")],
)  # fmt: skip
def test_what_makes_no_sense_is_named(signed_in: Client, project: Project, given: dict[str, str], word: str) -> None:
    response = signed_in.post(address(project), given)

    assert response.status_code == 422
    assert f"<b>{word}</b>" in response.content.decode()


def test_without_an_output_it_says_what_to_do(signed_in: Client, project: Project) -> None:
    assert "Paste what a tool printed" in signed_in.get(address(project)).content.decode()


def test_a_message_of_another_projects_session_is_not_there(
    signed_in: Client, project: Project, other_project: Project
) -> None:
    theirs = with_event(other_project, exchanges=3)
    result = theirs.messages.filter(role="tool").values_list("index", flat=True)[0]

    response = signed_in.get(address(project), {"session": theirs.pk, "message": result})

    assert response.status_code == 404


def test_a_result_of_a_session_is_picked_with_its_tool(signed_in: Client, project: Project) -> None:
    session = with_event(project, exchanges=3)
    result = session.messages.filter(role="tool").values_list("index", flat=True)[0]

    response = signed_in.get(address(project), {"session": session.pk, "message": result, "budget": 100})

    assert response.context["output"].tool
    assert response.context["tried"].lines[0][0] in response.content.decode()


def test_a_message_that_is_no_result_is_not_there(signed_in: Client, project: Project) -> None:
    session = with_event(project, exchanges=3)

    assert signed_in.get(address(project), {"session": session.pk, "message": 0}).status_code == 404


def test_long_runs_are_folded() -> None:
    shown, more = runs([("kept", True), *[(f"line {n}", False) for n in range(100)], ("end", True)])

    assert [(run.is_kept, run.first, len(run.lines), run.more) for run in shown] == [
        (True, 1, 1, 0),
        (False, 2, 3, 97),
        (True, 102, 1, 0),
    ]
    assert more == 0
