"""Members and API tokens of a project."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from sessions.models import ApiToken, Membership, Project
from sessions.tokens import create_token, find_token

SETTINGS = "/projects/apollo/settings/"


def join(project: Project, user: User) -> Membership:
    return Membership.objects.create(project=project, user=user)


def test_a_new_token_is_shown_once(signed_in: Client, project: Project) -> None:
    response = signed_in.post(f"{SETTINGS}tokens/", {"name": "ci", "scope": "ingest"})

    text = response.context["new_token"]
    found = find_token(text)
    assert response.status_code == 201
    assert text in response.text
    assert found is not None
    assert (found.project, found.scope, found.name) == (project, "ingest", "ci")
    assert text not in signed_in.get(SETTINGS).text
    assert "no-store" in response["Cache-Control"]


def test_an_unknown_scope_is_refused(signed_in: Client, project: Project) -> None:
    response = signed_in.post(f"{SETTINGS}tokens/", {"name": "ci", "scope": "everything"})

    assert response.status_code == 422
    assert ApiToken.objects.count() == 0


def test_a_revoked_token_is_gone(signed_in: Client, project: Project) -> None:
    token, text = create_token(project=project, scope="read")

    response = signed_in.post(f"{SETTINGS}tokens/{token.pk}/revoke/")

    assert response["Location"] == SETTINGS
    assert find_token(text) is None


def test_a_token_of_another_project_cannot_be_revoked(
    signed_in: Client, project: Project, other_project: Project
) -> None:
    token, _text = create_token(project=other_project, scope="read")

    response = signed_in.post(f"{SETTINGS}tokens/{token.pk}/revoke/")

    assert response.status_code == 404
    assert ApiToken.objects.get() == token


def test_an_owner_adds_and_removes_a_member(signed_in: Client, project: Project, stranger: User) -> None:
    signed_in.post(f"{SETTINGS}members/", {"username": "mallory"})
    membership = Membership.objects.get(project=project, user=stranger)
    assert membership.role == "member"

    signed_in.post(f"{SETTINGS}members/{membership.pk}/remove/")
    assert not Membership.objects.filter(project=project, user=stranger).exists()


def test_an_unknown_user_cannot_be_added(signed_in: Client, project: Project) -> None:
    response = signed_in.post(f"{SETTINGS}members/", {"username": "nobody"})

    assert response.status_code == 422
    assert "Nobody of this name may sign in here." in response.text


def test_an_owner_cannot_be_removed(signed_in: Client, project: Project) -> None:
    own = Membership.objects.get()

    response = signed_in.post(f"{SETTINGS}members/{own.pk}/remove/")

    assert response.status_code == 404
    assert Membership.objects.get() == own


def test_a_member_sees_the_settings_and_cannot_change_them(client: Client, project: Project, stranger: User) -> None:
    join(project, stranger)
    client.force_login(stranger)

    page = client.get(SETTINGS)
    refused = client.post(f"{SETTINGS}tokens/", {"name": "x", "scope": "write"})

    assert "Create token" not in page.text
    assert refused.status_code == 403
    assert "You may not do this" in refused.text
    assert ApiToken.objects.count() == 0
