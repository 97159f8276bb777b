"""Costs on the session page with scripts running: the card, its picture, the timeline in dollars, the bar's hover."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from compression.engine.presets import PRESETS
from compression.replays import stored_replay
from sessions.models import Project, Session
from tests.browser.test_session_page import open_page
from tests.compression.sessions import store
from tests.compression.test_cost_page import priced

pytestmark = pytest.mark.browser


@pytest.fixture
def session(project: Project) -> Session:
    return store(priced(), project)


def test_the_card_comes_when_it_is_reached_and_shows_its_faces(page: Page, session: Session) -> None:
    event = stored_replay(session, PRESETS["chapter"]).events[0]
    open_page(page, session, "?policy=chapter")

    page.locator("#cost").scroll_into_view_if_needed()
    expect(page.locator("#cost .ways tbody tr")).to_have_count(5)
    page.locator("#cost").get_by_role("link", name="Picture").click()
    expect(page.locator("#cost-figure[data-drawn]")).to_be_visible()
    page.locator("#cost").get_by_role("link", name="Breaks").click()
    page.locator("#cost tbody").get_by_role("link", name=f"turn {event.turn}", exact=True).first.click()

    expect(page.locator("#window-title")).to_have_text(f"Window at turn {event.turn}")


def test_the_timeline_counts_dollars_and_the_address_says_so(page: Page, session: Session) -> None:
    open_page(page, session, "?policy=chapter&turn=30")

    page.get_by_role("link", name="Money").click()

    expect(page).to_have_url(re.compile(r"turn=30&policy=chapter&side=both&axis=money"))
    expect(page.get_by_role("heading", name="Dollars so far")).to_be_visible()
    expect(page.locator("#timeline[data-drawn]")).to_be_visible()
    names = page.evaluate("document.getElementById('timeline').data.map((trace) => trace.name)")
    assert {"no compression", "sliding window", "chapter"} <= set(names)
    page.locator("details.twin summary").press("Enter")
    expect(page.locator("#turns thead")).to_contain_text("sliding window")


def test_hovering_over_the_bar_tells_what_the_cache_did(page: Page, session: Session) -> None:
    turn = stored_replay(session, PRESETS["chapter"]).cost.breaks[-1].turn
    open_page(page, session, "?policy=chapter")
    box = page.locator("#timeline .nsewdrag").first.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] * turn / 59, box["y"] + box["height"] - 12)

    expect(page.locator("#timeline .hoverlayer")).to_contain_text("sent anew: an event changed it")


def test_the_card_alone_draws_its_picture(page: Page, session: Session) -> None:
    page.goto(f"{session.get_absolute_url()}cost/?policy=chapter")

    expect(page.locator("#cost-figure[data-drawn]")).to_be_visible()
    page.get_by_role("link", name=re.compile("Stability")).click()
    expect(page.locator("#cost")).to_contain_text("Unforced breaks: 0")
