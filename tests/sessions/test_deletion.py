"""Deleting sessions: what goes with them, and what stays."""

from __future__ import annotations

import pytest

from sessions.deletion import delete_sessions
from sessions.ingest import ingest
from sessions.models import Message, Original, Project, Session, Turn
from tests.sessions import recorded
from tests.sessions.recorded import FILE

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens")]


def add(project: Project, key: str, *, result: str = "two words", parent: str = "") -> Session:
    parsed = recorded.session(key=key, result=result)
    parsed.parent = parent
    return ingest(parsed, project=project, file=FILE).session


def test_a_session_goes_with_its_rows_and_its_originals(project: Project) -> None:
    gone, kept = add(project, "gone", result="its own"), add(project, "kept", result="kept")

    assert delete_sessions(project=project, sessions=[gone.pk]) == 1

    assert list(Session.objects.all()) == [kept]
    assert (Message.objects.count(), Turn.objects.count()) == (3, 1)
    assert list(Original.objects.values_list("text", flat=True)) == ["kept"]


def test_an_original_that_another_project_needs_stays(project: Project, other_project: Project) -> None:
    gone = add(project, "gone")
    add(other_project, "kept")

    delete_sessions(project=project, sessions=[gone.pk])

    assert Original.objects.get().text == "two words"


def test_a_session_of_another_project_is_left_alone(project: Project, other_project: Project) -> None:
    other = add(other_project, "other")

    assert delete_sessions(project=project, sessions=[other.pk]) == 0

    assert list(Session.objects.all()) == [other]


def test_a_sub_agent_stays_and_finds_its_parent_when_that_comes_again(project: Project) -> None:
    parent, child = add(project, "parent"), add(project, "child", parent="parent")
    delete_sessions(project=project, sessions=[parent.pk])
    child.refresh_from_db()
    assert (child.parent, child.parent_key) == (None, "parent")

    again = add(project, "parent")

    child.refresh_from_db()
    assert child.parent == again
