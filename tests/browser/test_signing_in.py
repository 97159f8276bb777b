"""What only a real browser shows: that signing in and the API's documentation work under the site's policy."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from sessions.signin import create_link

pytestmark = pytest.mark.browser


def test_a_link_and_its_button_sign_in(anonymous_page: Page, user: User) -> None:
    anonymous_page.goto(urlsplit(create_link(user)).path)
    anonymous_page.get_by_role("button", name="Sign in").click()

    expect(anonymous_page).to_have_url(re.compile(r"/$"))
    assert {cookie["name"] for cookie in anonymous_page.context.cookies()} >= {"hermes_session"}


def test_the_documentation_of_the_api_draws_itself(page: Page) -> None:
    page.goto("/api/v1/docs")

    expect(page.get_by_text("Send a session file")).to_be_visible()
