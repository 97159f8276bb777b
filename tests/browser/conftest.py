"""A real Chromium on a live server. A page that logs an error or breaks the content policy fails its test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from sessions.models import Membership, Project

FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def chromium() -> str:
    found = os.environ.get("HERMES_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("Browser tests need Chromium: apt-get install chromium, or set HERMES_CHROMIUM to its path.")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Chromium refuses its sandbox to root.
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        yield browser
        browser.close()


@pytest.fixture
def user(transactional_db: None) -> User:
    """Committed, so that the server's threads see it."""
    return User.objects.create_user("ada")


@pytest.fixture
def project(user: User) -> Project:
    project = Project.objects.create(name="Apollo", slug="apollo")
    Membership.objects.create(project=project, user=user, role=Membership.Role.OWNER)
    return project


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, user: User) -> Iterator[Page]:
    """A page of a browser that ``user`` is signed in with; addresses may be relative."""
    client = Client()
    client.force_login(user)
    with browser.new_context(
        base_url=live_server.url, viewport={"width": 1440, "height": 900}, color_scheme="light"
    ) as context:
        context.add_cookies(
            [{"name": name, "value": morsel.value, "url": live_server.url} for name, morsel in client.cookies.items()]
        )
        page = context.new_page()
        page.set_default_timeout(10_000)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: note(message, complaints))
        yield page
        assert complaints == []


def note(message: ConsoleMessage, complaints: list[str]) -> None:
    """Chromium also logs every answer of 400 and above, which many tests provoke on purpose."""
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        complaints.append(message.text)
