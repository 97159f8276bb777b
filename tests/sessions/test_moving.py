"""Moving sessions to another project."""

from __future__ import annotations

import pytest

from sessions.models import Message, Project, Session
from sessions.moving import KeysCollide, move_sessions
from tests.sessions.test_deletion import add

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens")]


def test_a_session_moves_with_its_messages_and_keeps_its_number(project: Project, other_project: Project) -> None:
    session, stays = add(project, "a"), add(project, "b")

    assert move_sessions(project=project, target=other_project, sessions=[session.pk]) == 1

    assert list(Session.objects.filter(project=other_project)) == [session]
    assert list(Session.objects.filter(project=project)) == [stays]
    assert Message.objects.filter(session=session).count() == 3


def test_keys_that_the_target_holds_are_named_and_nothing_moves(project: Project, other_project: Project) -> None:
    sessions = [add(project, key).pk for key in "abc"]
    there = [add(other_project, key) for key in "ca"]

    with pytest.raises(KeysCollide) as collision:
        move_sessions(project=project, target=other_project, sessions=sessions)

    assert list(collision.value.taken) == [there[1], there[0]]
    assert Session.objects.filter(project=project).count() == 3


def test_sub_agents_go_with_the_session_that_called_them(project: Project, other_project: Project) -> None:
    parent = add(project, "parent")
    child = add(project, "child", parent="parent")
    grandchild = add(project, "grandchild", parent="child")

    assert move_sessions(project=project, target=other_project, sessions=[parent.pk]) == 3

    links = dict(Session.objects.filter(project=other_project).values_list("pk", "parent"))
    assert links == {parent.pk: None, child.pk: parent.pk, grandchild.pk: child.pk}


def test_a_sub_agent_that_moves_alone_leaves_its_parent_and_finds_it_again_there(
    project: Project, other_project: Project
) -> None:
    parent = add(project, "parent")
    child = add(project, "child", parent="parent")

    move_sessions(project=project, target=other_project, sessions=[child.pk])
    child.refresh_from_db()
    assert (child.parent, child.parent_key) == (None, "parent")

    move_sessions(project=project, target=other_project, sessions=[parent.pk])
    child.refresh_from_db()
    assert child.parent == parent


def test_only_sessions_of_the_project_move(project: Project, other_project: Project) -> None:
    other = add(other_project, "other")

    assert move_sessions(project=project, target=other_project, sessions=[other.pk]) == 0
