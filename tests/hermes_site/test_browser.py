"""What only a real browser shows: that signing in and the API's documentation work under the site's policy."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_link_and_its_button_sign_in(signed_in_page: Page) -> None:
    expect(signed_in_page).to_have_url(re.compile(r"/$"))
    assert {cookie["name"] for cookie in signed_in_page.context.cookies()} >= {"hermes_session"}


def test_the_documentation_of_the_api_draws_itself(signed_in_page: Page) -> None:
    signed_in_page.goto("/api/v1/docs")

    expect(signed_in_page.get_by_text("Send a session file")).to_be_visible()
