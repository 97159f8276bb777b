"""Users, projects and clients that many tests start from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from sessions.models import Membership, Project
from sessions.signin import create_link


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("mallory")


@pytest.fixture
def project(user: User) -> Project:
    """A project that ``user`` is a member of and ``stranger`` is not."""
    project = Project.objects.create(name="Apollo", slug="apollo")
    Membership.objects.create(project=project, user=user, role=Membership.Role.OWNER)
    return project


@pytest.fixture
def other_project(stranger: User) -> Project:
    project = Project.objects.create(name="Zeus", slug="zeus")
    Membership.objects.create(project=project, user=stranger, role=Membership.Role.OWNER)
    return project


@pytest.fixture
def signed_in(user: User, client: Client) -> Client:
    client.force_login(user)
    return client


CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, from CHROMIUM or the path; without one the test fails, because a skipped browser test tells nothing.

    One a module and not one a run: while Playwright is there, no test in the same thread can run an event loop.
    """
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not executable:
        pytest.fail("No Chromium: `make test` installs it, or CHROMIUM= says where it is.", pytrace=False)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A page of the running site; the test fails if the page broke its own policy or threw an error."""
    context = browser.new_context(base_url=live_server.url)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def signed_in_page(page: Page, user: User) -> Page:
    """The page after ``user`` opened a sign-in link and pressed its button."""
    page.goto(urlsplit(create_link(user)).path)
    page.get_by_role("button", name="Sign in").click()
    return page
