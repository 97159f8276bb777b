"""The list of projects, one project, and who may see them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from sessions.models import Membership, Project, Session

HTMX = {"HX-Request": "true"}


def add_sessions(project: Project, number: int, **fields: Any) -> list[Session]:
    start = project.sessions.count()
    return Session.objects.bulk_create(
        Session(project=project, key=f"k{start + n}", content_sha256="", format="codex", **{"title": f"T{n}", **fields})
        for n in range(number)
    )


PAGES = ["/", "/projects/new/", "/projects/apollo/", "/projects/apollo/settings/"]


@pytest.mark.parametrize("page", PAGES)
def test_anonymous_visitors_are_sent_to_the_sign_in_page(client: Client, project: Project, page: str) -> None:
    response = client.get(page)

    assert (response.status_code, response["Location"]) == (302, f"/signin/?next={page}")


@pytest.mark.parametrize("page", ["/projects/apollo/", "/projects/apollo/settings/"])
def test_a_project_of_others_is_not_found(client: Client, project: Project, stranger: User, page: str) -> None:
    client.force_login(stranger)

    assert client.get(page).status_code == 404


@pytest.mark.parametrize(
    "action",
    ["upload/", "settings/members/", "settings/members/1/remove/", "settings/tokens/", "settings/tokens/1/revoke/"],
)
def test_nothing_can_be_sent_to_a_project_of_others(
    client: Client, project: Project, stranger: User, action: str
) -> None:
    client.force_login(stranger)

    assert client.post(f"/projects/apollo/{action}").status_code == 404


def test_the_list_shows_only_what_one_is_a_member_of(
    signed_in: Client, project: Project, other_project: Project
) -> None:
    response = signed_in.get("/")

    assert list(response.context["projects"]) == [project]
    assert "Apollo" in response.text
    assert "Zeus" not in response.text


def test_a_card_sums_up_the_sessions(signed_in: Client, project: Project) -> None:
    add_sessions(project, 2, counted_tokens=7_500, turn_count=4, peak_context_tokens=50_000, context_window=200_000)

    listed = signed_in.get("/").context["projects"].get()

    assert (listed.session_count, listed.total_tokens, listed.total_turns, listed.peak_share) == (2, 15_000, 8, 0.25)


def test_the_list_without_projects_offers_a_drop_zone_and_the_example(signed_in: Client) -> None:
    page = signed_in.get("/").text

    assert 'action="/projects/upload/"' in page
    assert "manage.py load_example" in page


def test_a_new_project_belongs_to_its_maker(signed_in: Client, user: User) -> None:
    response = signed_in.post("/projects/new/", {"name": "Deploy bot"})

    assert response["Location"] == "/projects/deploy-bot/"
    membership = Membership.objects.get()
    assert (membership.user, membership.role, membership.project.name) == (user, "owner", "Deploy bot")


@pytest.mark.parametrize(("name", "slug"), [("Apollo", "apollo-2"), ("网关", "project"), ("New", "new-2")])
def test_a_slug_avoids_those_that_are_taken(signed_in: Client, project: Project, name: str, slug: str) -> None:
    response = signed_in.post("/projects/new/", {"name": name})

    assert response["Location"] == f"/projects/{slug}/"


def test_a_project_without_a_name_is_refused_with_words(signed_in: Client) -> None:
    response = signed_in.post("/projects/new/", {"name": " "})

    assert response.status_code == 422
    assert "This field is required." in response.text
    assert Project.objects.count() == 0


def test_queries_of_the_list_do_not_grow_with_sessions(
    signed_in: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    add_sessions(project, 40)

    with django_assert_num_queries(6):
        signed_in.get("/")


@pytest.mark.parametrize("number", [1, 120])
def test_queries_of_a_project_do_not_grow_with_sessions(
    signed_in: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries, number: int
) -> None:
    add_sessions(project, number, model="m")

    with django_assert_num_queries(12):
        signed_in.get("/projects/apollo/")


def test_a_project_page_holds_one_page_of_rows_and_a_link_to_the_next(signed_in: Client, project: Project) -> None:
    add_sessions(project, 51)

    response = signed_in.get("/projects/apollo/?sort=title")

    assert response.text.count('<td class="wide">') == 50
    following = signed_in.get("/projects/apollo/", {"sort": "title", "after": response.context["page"].after})
    assert following.text.count('<td class="wide">') == 1


def test_htmx_gets_the_table_alone(signed_in: Client, project: Project) -> None:
    response = signed_in.get("/projects/apollo/?q=none", headers=HTMX)

    assert response.text.strip().startswith('<section id="sessions"')
    assert "No session fits" not in signed_in.get("/projects/apollo/").text
    assert "No session fits" in response.text
    assert response["Vary"].startswith("HX-Request")


def test_a_restored_history_entry_is_a_whole_page(signed_in: Client, project: Project) -> None:
    response = signed_in.get("/projects/apollo/", headers={**HTMX, "HX-History-Restore-Request": "true"})

    assert response.text.startswith("<!doctype html>")
    assert response.text.count('id="totals"') == 1


def test_the_address_holds_the_state_of_the_table(signed_in: Client, project: Project) -> None:
    add_sessions(project, 1, title="Parser", model="m1", turn_count=1)
    add_sessions(project, 1, title="Parser", model="m1", turn_count=2)
    add_sessions(project, 1, title="Lexer", model="m2")

    response = signed_in.get("/projects/apollo/?q=parser&model=m1&sort=-turns")

    assert [row.turn_count for row in response.context["page"].rows] == [2, 1]
    assert 'aria-sort="descending"' in response.text
    assert '<option value="m1" selected>' in response.text


def test_hostile_titles_are_shown_as_text(signed_in: Client, project: Project) -> None:
    add_sessions(project, 1, title="<script>alert(1)</script> \u202e\x1b[31m", agent="<img src=x onerror=alert(1)>")

    page = signed_in.get("/projects/apollo/").text

    assert "&lt;script&gt;alert(1)&lt;/script&gt; ‹U+202E›‹ESC›[31m" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_hostile_searches_are_shown_as_text(signed_in: Client, project: Project) -> None:
    page = signed_in.get("/projects/apollo/", {"q": '"><script>alert(1)</script>'}).text

    assert "<script>alert" not in page


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_chosen_theme_comes_back_with_the_page(signed_in: Client, theme: str) -> None:
    signed_in.cookies["theme"] = theme

    assert f'data-theme="{theme}"' in signed_in.get("/").text


def test_an_invented_theme_is_ignored(signed_in: Client) -> None:
    signed_in.cookies["theme"] = "onload"

    assert "data-theme=" not in signed_in.get("/").text


def test_pages_allow_no_inline_script(signed_in: Client, project: Project) -> None:
    response = signed_in.get("/projects/apollo/")

    policy = response["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "'unsafe-inline'" not in policy.replace("style-src-attr 'unsafe-inline'", "")


def test_an_unknown_address_has_a_readable_page(signed_in: Client) -> None:
    response = signed_in.get("/nothing/")

    assert response.status_code == 404
    assert "There is nothing at this address" in response.text


@pytest.mark.parametrize("page", ["400.html", "403.html", "403_csrf.html", "404.html", "413.html", "500.html"])
def test_error_pages_need_no_request(page: str) -> None:
    assert "<h1>" in render_to_string(page)


def test_a_user_with_a_password_can_sign_in(client: Client, user: User) -> None:
    user.set_password("correct horse")
    user.save()

    response = client.post("/login/", {"username": "ada", "password": "correct horse", "next": "/projects/new/"})

    assert response["Location"] == "/projects/new/"


def test_a_wrong_password_is_refused_with_words(client: Client, user: User) -> None:
    response = client.post("/login/", {"username": "ada", "password": "guess"})

    assert "do not go together" in response.text
    assert "_auth_user_id" not in client.session
