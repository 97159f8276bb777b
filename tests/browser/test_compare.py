"""Comparisons in a real browser: policies are added, charts are drawn, the window follows the turn."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from compression.engine.policy import build
from compression.policies import save_version
from sessions.models import Project, Session
from tests.compression.runs.pricing import priced
from tests.compression.runs.starting import SMALL_WINDOW, finished, three_sessions

pytestmark = pytest.mark.browser


@pytest.fixture
def session(project: Project) -> Session:
    save_version(project=project, policy=build(SMALL_WINDOW, "test"), author=None)
    sessions = three_sessions(project)
    priced(project)
    return sessions[2]


def test_one_more_policy_is_compared_by_choosing_it(page: Page, session: Session) -> None:
    page.goto(f"/projects/apollo/compare/?a=none&b=v1&session={session.pk}")

    page.get_by_label("Compare one more policy").select_option("sliding-window")

    expect(page).to_have_url(re.compile(r"[?&]c=sliding-window"))
    expect(page.locator(".comparefigures thead th")).to_have_count(4)
    row = page.locator(".comparefigures tr", has=page.get_by_role("rowheader", name=re.compile("^Cost ")))
    expect(row.locator("td").nth(2)).to_have_text(re.compile(r"\$\d"))


def test_the_dollars_so_far_are_drawn_for_every_policy(page: Page, session: Session) -> None:
    page.goto(f"/projects/apollo/compare/?a=none&b=v1&c=hermes&session={session.pk}")

    expect(page.locator("#dollars[data-drawn]")).to_be_visible()
    expect(page.locator("#dollars .scatterlayer .trace")).to_have_count(3)


def test_the_window_of_the_chosen_policy_follows_the_turn(page: Page, session: Session) -> None:
    page.goto(f"/projects/apollo/compare/?a=none&b=hermes&c=v1&session={session.pk}")

    page.get_by_role("link", name="hold against A").click()
    expect(page.locator(".lane", has_text="v1 small")).to_contain_text("held against A below")
    page.locator("#turn").press("ArrowLeft")

    expect(page.locator("#window")).to_have_attribute("data-turn", "12")
    expect(page.locator(".lane", has_text="v1 small")).to_contain_text("held against A below")
    expect(page).to_have_url(re.compile(r"beside=c"))


def test_another_figure_of_the_sessions_is_shown_at_once(page: Page, project: Project, session: Session) -> None:
    fresh = Project.objects.get(pk=project.pk)
    finished(fresh)
    page.goto("/projects/apollo/compare/?a=v1&b=v1")

    page.get_by_role("navigation", name="Figure").get_by_role("link", name="cost").click()

    expect(page.locator("#pairs tbody tr").first.locator("td").nth(2)).to_have_text(re.compile(r"\$\d"))
    expect(page).to_have_url(re.compile(r"by=cost_usd"))
