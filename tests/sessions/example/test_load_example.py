"""``manage.py load_example``: one project, its owners, and nothing new the second time."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from sessions.models import Membership, Message, Project, Session

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens")]


def load(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("load_example", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_it_makes_the_project_with_all_sessions() -> None:
    load()

    project = Project.objects.get(slug="example")
    assert project.name == "Example"
    assert sorted(project.sessions.values_list("format", flat=True)) == [
        "claude-code", "claude-code", "codex", "hermes-agent", "openai-chat",
    ]  # fmt: skip


def test_the_two_hour_session_is_stored_with_its_calls() -> None:
    load()

    session = Session.objects.get(file_name="two-hour-coding-session.jsonl")
    assert (session.turn_count, session.tool_call_count, session.tool_result_count) == (84, 83, 83)
    assert session.title == "Two hours on a failing order import"


def test_loading_again_changes_nothing() -> None:
    load()
    before = (Project.objects.count(), Session.objects.count(), Message.objects.count())

    assert {line.split()[0] for line in load()} == {"unchanged"}
    assert (Project.objects.count(), Session.objects.count(), Message.objects.count()) == before


def test_superusers_own_it_and_others_do_not_see_it() -> None:
    User.objects.create_user("ada")
    root = User.objects.create_superuser("root")

    load()

    assert list(Membership.objects.values_list("user_id", "role")) == [(root.pk, Membership.Role.OWNER)]


def test_without_superusers_the_first_user_owns_it() -> None:
    ada = User.objects.create_user("ada")
    User.objects.create_user("grace")

    load()

    assert list(Membership.objects.values_list("user_id", flat=True)) == [ada.pk]


def test_if_empty_leaves_an_installation_with_projects_alone(project: Project) -> None:
    assert load("--if-empty") == []
    assert list(Project.objects.all()) == [project]


def test_a_project_that_is_no_slug_is_refused_with_status_2() -> None:
    with pytest.raises(CommandError, match="is no slug") as refused:
        load("--project", "not a slug")

    assert refused.value.returncode == 2
    assert not Project.objects.exists()
