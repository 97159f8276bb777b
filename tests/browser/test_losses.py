"""The card of losses with scripts running: it comes when it is scrolled to, turns its faces, and keeps the name."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from compression.engine.presets import PRESETS
from compression.replays import stored_replay
from sessions.importers.parsed import ParsedBoundary, Part
from sessions.models import Project, Session
from tests.browser.test_accessibility import SCHEMES, findings
from tests.compression.losing import losing
from tests.compression.sessions import parsed, store

pytestmark = pytest.mark.browser


@pytest.fixture
def session(project: Project) -> Session:
    return losing(project, own=True)


def open_card(page: Page, session: Session, query: str = "?policy=chapter") -> None:
    page.goto(session.get_absolute_url() + query)
    page.locator("#retention").scroll_into_view_if_needed()
    expect(page.locator("#retention nav.seg").first).to_be_visible(timeout=30_000)


def test_the_card_comes_when_it_is_scrolled_to(page: Page, session: Session) -> None:
    open_card(page, session)

    expect(page.locator(".lostnames tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?policy=chapter$"))


def test_a_name_leads_to_its_lifeline_and_the_address_keeps_it(page: Page, session: Session) -> None:
    open_card(page, session)

    page.locator(".lostnames").get_by_role("link", name="10042").click()

    expect(page.locator(".lanebox")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"&name=10042$"))
    page.reload()
    page.locator("#retention").scroll_into_view_if_needed()
    expect(page.locator("#lifeline-name")).to_have_value("10042")


def test_scrubbing_keeps_the_name_in_the_address(page: Page, session: Session) -> None:
    open_card(page, session, "?policy=chapter&turn=40&name=10042")
    expect(page.locator(".lanebox")).to_have_count(2)

    page.keyboard.press("ArrowLeft")

    expect(page).to_have_url(re.compile(r"turn=39.*&name=10042"))


def test_back_to_the_names_the_address_forgets_the_name(page: Page, session: Session) -> None:
    open_card(page, session, "?policy=chapter&name=10042")

    page.locator("#retention").get_by_role("link", name="Names").click()

    expect(page.locator(".lostnames")).to_be_visible()
    expect(page).not_to_have_url(re.compile("name="))


def test_a_lost_name_opens_its_turn_and_recalls_its_original(page: Page, session: Session) -> None:
    lost = stored_replay(session, PRESETS["chapter"]).lost[0]
    open_card(page, session)

    page.locator("#retention").get_by_role("link", name=re.compile("^recall")).click()
    expect(page.locator("#retention .recalled pre")).to_contain_text("row 10042 of batch")
    page.locator(".lostnames").get_by_role("link", name=f"turn {lost.left_at}").click()

    expect(page.locator("#window-title")).to_have_text(f"Window at turn {lost.left_at}")


def test_the_chip_of_a_block_says_why_in_place(page: Page, session: Session) -> None:
    page.goto(session.get_absolute_url() + "?policy=none&turn=3")

    page.locator("#window a.ctype").first.click()

    expect(page.locator("#window .ctype.why").first).to_contain_text("sure:")


@pytest.mark.parametrize("query", ["&name=it_is_said", ""])
def test_the_page_stays_under_1500_nodes_with_the_card(page: Page, project: Project, query: str) -> None:
    recorded = parsed(400, lines=60, with_usage=True)
    recorded.boundaries = [ParsedBoundary(turn.request_end - 1, "compact") for turn in recorded.turns[50::50]]
    recorded.messages[-2].parts[0] = Part("text", " ".join(f"it_is_said {n * 10_000 + 42}" for n in range(1, 200)))
    session = store(recorded, project)

    page.set_default_timeout(60_000)
    page.goto(f"{session.get_absolute_url()}?policy=sliding-window&turn=399&open=500&q=batch{query}")
    expect(page.locator("#timeline[data-drawn]")).to_be_visible(timeout=60_000)
    page.locator("#retention").scroll_into_view_if_needed()
    # The lifeline of a long session is worked out on its first visit.
    expect(page.locator("#retention nav.seg").first).to_be_visible(timeout=60_000)

    assert page.evaluate("document.querySelectorAll('*').length") <= 1_500


@pytest.mark.parametrize("address", ["losses/?policy=chapter", "losses/?of=own&by=figures", "lifeline/?name=10042"])
def test_axe_finds_nothing_serious_in_the_card(page: Page, session: Session, address: str) -> None:
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(session.get_absolute_url() + address)
        found += findings(page)

    assert found == []
