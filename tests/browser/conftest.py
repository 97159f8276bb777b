"""A real Chromium on a live server. A page that logs an error or breaks the content policy fails its test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

# A busy machine takes its time; what is wrong stays wrong however long one waits.
expect.set_options(timeout=20_000)

LOOK: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}
FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, from CHROMIUM or the path; without one the test fails, because a skipped browser test tells nothing.

    One a module and not one a run: while Playwright is there, no test in the same thread can run an event loop.
    """
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not executable:
        pytest.fail("No Chromium: `make test` installs it, or CHROMIUM= says where it is.", pytrace=False)
    # Chromium refuses its sandbox to root.
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def anonymous_page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A page that nobody is signed in with."""
    with browser.new_context(base_url=live_server.url, **LOOK) as context:
        yield from watched(context)


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, user: User) -> Iterator[Page]:
    """A page of a browser that ``user`` is signed in with; addresses may be relative."""
    client = Client()
    client.force_login(user)
    with browser.new_context(base_url=live_server.url, **LOOK) as context:
        context.add_cookies(
            [{"name": name, "value": morsel.value, "url": live_server.url} for name, morsel in client.cookies.items()]
        )
        yield from watched(context)


def watched(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    page.set_default_timeout(30_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: note(message, complaints))
    yield page
    assert complaints == []


def note(message: ConsoleMessage, complaints: list[str]) -> None:
    """Chromium also logs every answer of 400 and above, which many tests provoke on purpose."""
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        complaints.append(message.text)
