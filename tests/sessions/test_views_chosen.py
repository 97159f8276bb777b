"""Deleting and moving chosen sessions, and keeping filters: without any script."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions.models import Membership, Project, SavedFilter, Session

pytestmark = pytest.mark.django_db
DELETE = "/projects/apollo/sessions/delete/"
MOVE = "/projects/apollo/sessions/move/"
FILTERS = "/projects/apollo/filters/"


def add(project: Project, key: str) -> Session:
    return Session.objects.create(project=project, key=key, title=f"Title {key}", format="codex", content_sha256="")


@pytest.fixture
def member(project: Project, client: Client) -> Client:
    """A client of a member who does not own the project."""
    user = User.objects.create_user("bob")
    Membership.objects.create(project=project, user=user)
    client.force_login(user)
    return client


def test_deleting_asks_first(signed_in: Client, project: Project) -> None:
    first, second = add(project, "a"), add(project, "b")

    response = signed_in.get(DELETE, {"session": [first.pk, second.pk]})

    assert "Delete 2 sessions?" in response.text
    assert "Title a" in response.text
    assert Session.objects.count() == 2


def test_the_confirmed_sessions_are_deleted(signed_in: Client, project: Project) -> None:
    first, _, third = add(project, "a"), add(project, "b"), add(project, "c")

    response = signed_in.post(DELETE, {"session": [first.pk, third.pk]}, follow=True)

    assert list(Session.objects.values_list("key", flat=True)) == ["b"]
    assert "2 sessions were deleted." in response.text


@pytest.mark.parametrize("address", [DELETE, MOVE])
@pytest.mark.parametrize("named", ["999999", "x", "-1", "9" * 30])
def test_a_session_that_is_not_there_is_not_found(
    signed_in: Client, project: Project, address: str, named: str
) -> None:
    assert signed_in.get(address, {"session": named}).status_code == 404


@pytest.mark.parametrize("address", [DELETE, MOVE])
def test_a_session_of_another_project_is_not_found(
    signed_in: Client, project: Project, other_project: Project, address: str
) -> None:
    other = add(other_project, "a")

    assert signed_in.post(address, {"session": other.pk, "target": "apollo"}).status_code == 404
    assert Session.objects.get().project == other_project


@pytest.mark.parametrize("address", [DELETE, MOVE])
def test_members_who_do_not_own_the_project_may_not(member: Client, project: Project, address: str) -> None:
    session = add(project, "a")

    assert member.post(address, {"session": session.pk}).status_code == 403
    page = member.get("/projects/apollo/").text
    assert "Owners of the project can move and delete sessions." in page
    assert address not in page


@pytest.mark.parametrize("address", [DELETE, MOVE])
def test_choosing_nothing_says_so(signed_in: Client, project: Project, address: str) -> None:
    assert "No session was chosen" in signed_in.get(address).text


def test_sessions_move_to_a_project_that_the_user_is_a_member_of(
    signed_in: Client, user: User, project: Project, other_project: Project
) -> None:
    Membership.objects.create(project=other_project, user=user)
    session = add(project, "a")

    response = signed_in.post(MOVE, {"session": session.pk, "target": "zeus"}, follow=True)

    assert Session.objects.get().project == other_project
    assert "1 session moved to Zeus." in response.text


def test_a_project_of_others_is_no_target(signed_in: Client, project: Project, other_project: Project) -> None:
    session = add(project, "a")

    response = signed_in.post(MOVE, {"session": session.pk, "target": "zeus"})

    assert response.status_code == 422
    assert Session.objects.get().project == project


def test_keys_that_collide_are_named(signed_in: Client, user: User, project: Project, other_project: Project) -> None:
    Membership.objects.create(project=other_project, user=user)
    session = add(project, "a")
    add(other_project, "a")

    response = signed_in.post(MOVE, {"session": [session.pk, add(project, "b").pk], "target": "zeus"})

    assert response.status_code == 409
    assert "Nothing was moved: that project holds these already." in response.text
    assert Session.objects.filter(project=project).count() == 2


def test_a_filter_is_kept_as_a_chip_for_its_user(signed_in: Client, user: User, project: Project) -> None:
    add(project, "a")

    response = signed_in.post(FILTERS, {"name": "Mine", "query": "after=x&q=a&format=&failures=1&rubbish=2"})

    assert response["Location"] == "/projects/apollo/?q=a&failures=1"
    page = signed_in.get("/projects/apollo/").text
    assert '<a href="/projects/apollo/?q=a&amp;failures=1"' in page
    saved = SavedFilter.objects.get()
    assert (saved.user, saved.name, saved.query) == (user, "Mine", "q=a&failures=1")


def test_a_name_that_is_taken_gets_the_new_filter(signed_in: Client, project: Project) -> None:
    for query in ("q=a", "q=b"):
        signed_in.post(FILTERS, {"name": "Mine", "query": query})

    assert SavedFilter.objects.get().query == "q=b"


@pytest.mark.parametrize(("name", "query"), [("", "q=a"), ("Mine", ""), ("Mine", "after=x"), ("x" * 61, "q=a")])
def test_a_filter_without_a_name_or_anything_to_filter_is_not_kept(
    signed_in: Client, project: Project, name: str, query: str
) -> None:
    response = signed_in.post(FILTERS, {"name": name, "query": query}, follow=True)

    assert "The filter was not saved" in response.text
    assert SavedFilter.objects.count() == 0


def test_a_filter_of_another_user_is_neither_shown_nor_deleted(
    signed_in: Client, stranger: User, project: Project
) -> None:
    theirs = SavedFilter.objects.create(user=stranger, project=project, name="Theirs", query="q=a")

    assert signed_in.post(f"{FILTERS}{theirs.pk}/delete/").status_code == 404
    assert "Theirs" not in signed_in.get("/projects/apollo/").text


def test_a_filter_can_be_forgotten(signed_in: Client, project: Project) -> None:
    signed_in.post(FILTERS, {"name": "Mine", "query": "q=a"})

    signed_in.post(f"{FILTERS}{SavedFilter.objects.get().pk}/delete/")

    assert SavedFilter.objects.count() == 0


def test_filters_are_read_from_the_address_and_nonsense_is_ignored(signed_in: Client, project: Project) -> None:
    add(project, "a")

    state = signed_in.get("/projects/apollo/?since=2026-01-02&until=never&failures=1").context["state"]

    assert (str(state["since"]), state["until"], state["failures"], state["boundaries"]) == (
        "2026-01-02",
        None,
        True,
        False,
    )


def test_an_assumed_window_is_marked_as_an_estimate(signed_in: Client, project: Project) -> None:
    session = add(project, "a")
    Session.objects.filter(pk=session.pk).update(peak_context_tokens=50_000, window_tokens=200_000)
    assert ">~25\u202f%<" in signed_in.get("/projects/apollo/").text

    Session.objects.filter(pk=session.pk).update(context_window=200_000)
    assert ">25\u202f%<" in signed_in.get("/projects/apollo/").text
