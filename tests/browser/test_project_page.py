"""The table of sessions and what every page offers, with scripts running."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from sessions.models import Project, Session

pytestmark = pytest.mark.browser


@pytest.fixture
def sessions(project: Project) -> None:
    Session.objects.bulk_create(
        Session(
            project=project,
            key=f"k{number}",
            content_sha256="",
            format="codex",
            title=f"Session {number:02d}",
            turn_count=number,
        )
        for number in range(60)
    )


def test_typing_filters_and_the_address_follows(page: Page, sessions: None) -> None:
    page.goto("/projects/apollo/")

    page.keyboard.press("/")
    expect(page.locator("#session-search")).to_be_focused()
    page.keyboard.type("Session 07")

    expect(page.locator("#sessions tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"[?&]q=Session(\+|%20)07"))
    expect(page.locator("#session-search")).to_be_focused()
    page.reload()
    expect(page.locator("#sessions tbody tr")).to_have_count(1)


def test_a_heading_sorts_and_the_back_button_undoes_it(page: Page, sessions: None) -> None:
    page.goto("/projects/apollo/?sort=title")

    page.get_by_role("link", name="Turns").click()
    expect(page.locator("#sessions tbody a.title").first).to_have_text("Session 59")

    page.go_back()
    expect(page.locator("#sessions tbody a.title").first).to_have_text("Session 00")
    expect(page.locator("[data-choose]")).to_be_visible()


def test_the_next_page_goes_on_where_the_first_ended(page: Page, sessions: None) -> None:
    page.goto("/projects/apollo/?sort=title")

    page.get_by_role("link", name="Next 50").click()

    expect(page.locator("#sessions tbody tr")).to_have_count(10)
    expect(page.locator("#sessions tbody a.title").first).to_have_text("Session 50")


def test_the_chosen_theme_outlives_a_reload(page: Page, project: Project) -> None:
    page.goto("/")

    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_question_mark_lists_the_keys(page: Page, project: Project) -> None:
    page.goto("/")

    page.keyboard.press("?")

    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


@pytest.mark.parametrize("width", [400, 1024, 1440])
def test_no_page_is_wider_than_its_window(page: Page, sessions: None, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for address in ("/", "/projects/apollo/", "/projects/apollo/settings/", "/projects/new/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == width
