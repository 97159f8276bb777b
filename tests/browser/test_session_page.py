"""The session page with scripts running: scrub, compare the sides, recall an original."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Dialog, Page, expect
from pytest_django.live_server_helper import LiveServer

from compression.engine.presets import PRESETS
from compression.replays import stored_replay
from sessions.importers.parsed import ParsedBoundary, Part
from sessions.models import Project, Session
from tests.compression.sessions import log_text, parsed, store, with_event

pytestmark = pytest.mark.browser

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) \x1b[31mred \u202egnp.exe"


@pytest.fixture
def session(project: Project) -> Session:
    return with_event(project)


def open_page(page: Page, session: Session, query: str = "") -> None:
    page.goto(session.get_absolute_url() + query)
    expect(page.locator("#timeline[data-drawn]")).to_be_visible()


def test_arrow_keys_scrub_and_the_address_follows(page: Page, session: Session) -> None:
    open_page(page, session, "?turn=40")

    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")

    expect(page.locator("#window-title")).to_have_text("Window at turn 38")
    expect(page.locator("#scrubber output")).to_have_text("turn 38 of 59")
    expect(page).to_have_url(re.compile(r"[?&]turn=38&"))


def test_brackets_jump_to_the_event(page: Page, session: Session) -> None:
    event = stored_replay(session, PRESETS["chapter"]).events[0]
    open_page(page, session, "?policy=chapter&turn=10")

    page.keyboard.press("]")

    expect(page.locator("#window-title")).to_have_text(f"Window at turn {event.turn}")
    expect(page.locator("#composition small")).to_contain_text(f"turn {event.turn}")


def test_letters_change_the_side(page: Page, session: Session) -> None:
    open_page(page, session, "?policy=chapter")

    for key, side in (("b", "before"), ("a", "after"), ("d", "diff"), ("s", "both")):
        page.keyboard.press(key)
        expect(page.locator(f"#window[data-side={side}]")).to_be_visible()

    expect(page.locator("#scrubber [name=side]")).to_have_value("both")


def test_the_original_of_a_stub_is_recalled_and_folds_again(page: Page, session: Session) -> None:
    edit = stored_replay(session, PRESETS["chapter"]).events[0].edits[0]
    open_page(page, session, f"?policy=chapter&side=after&open={edit.message}")
    block = page.locator(f".block[data-message='{edit.message}']")
    recalled = page.locator(f".block[data-message='{edit.message}'] + .recalled")

    block.get_by_role("link", name="show original").click()

    expect(recalled.locator("pre")).to_have_text(log_text((edit.message - 2) // 2, 76))
    recalled.get_by_role("button", name="fold again").click()
    expect(recalled.locator("pre")).to_have_count(0)


def test_an_original_opens_across_both_sides(page: Page, project: Project) -> None:
    session = with_event(project)
    edit = stored_replay(session, PRESETS["chapter"]).events[0].edits[0]
    open_page(page, session, f"?policy=chapter&side=both&open={edit.message}")
    pair = page.locator(".pair", has=page.locator(f".block.compressed[data-message='{edit.message}']"))

    pair.get_by_role("link", name="show original").click()

    expect(pair.locator(".recalled pre")).to_be_visible()
    assert pair.evaluate("pair => pair.querySelector('.recalled').offsetWidth === pair.clientWidth")


def test_a_fold_opens_in_place(page: Page, session: Session) -> None:
    open_page(page, session, "?turn=40&side=before")
    blocks = page.locator("#window .block")
    before = blocks.count()

    page.locator("#window .fold").first.click()

    expect(page.locator("#window .opened")).to_be_visible()
    assert blocks.count() > before


def test_a_click_on_the_timeline_chooses_the_turn(page: Page, session: Session) -> None:
    open_page(page, session, "?turn=59")
    box = page.locator("#timeline .nsewdrag").first.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#timeline .hoverlayer .legend")).to_be_visible()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    expect(page.locator("#window-title")).to_have_text(re.compile(r"Window at turn (29|30)"))


def test_choosing_a_policy_keeps_the_turn(page: Page, session: Session) -> None:
    open_page(page, session, "?turn=30")

    page.get_by_label("policy").select_option("chapter")

    expect(page).to_have_url(re.compile(r"turn=30.*policy=chapter"))
    expect(page.locator("#events tbody tr")).not_to_have_count(0)


def test_the_page_stays_under_1500_nodes_with_its_chart(page: Page, project: Project) -> None:
    recorded = parsed(400, lines=60, with_usage=True)
    recorded.boundaries = [ParsedBoundary(turn.request_end - 1, "compact") for turn in recorded.turns[50::50]]
    session = store(recorded, project)

    page.set_default_timeout(60_000)
    open_page(page, session, "?policy=sliding-window&turn=399&open=500&q=batch")
    page.get_by_role("link", name="what left").first.click()
    expect(page.locator("#compactions li")).to_have_count(8)
    for _ in range(page.locator(".whatif a").count()):
        page.locator(".whatif a").first.click()
        expect(page.locator(".whatif .htmx-request")).to_have_count(0)

    assert page.evaluate("document.querySelectorAll('*').length") <= 1_500


def test_hostile_text_runs_nothing(page: Page, project: Project) -> None:
    hostile = parsed(3)
    hostile.title = HOSTILE
    for message in hostile.messages:
        message.parts = [replace(part, text=HOSTILE, name=HOSTILE) for part in message.parts]
    hostile.messages[0].parts = [Part("text", HOSTILE)]
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    session = store(hostile, project)

    open_page(page, session)
    page.locator("details.twin summary").click()
    expect(page.locator("#turns")).to_be_visible()

    assert dialogs == []
    assert page.locator("#window img").count() == 0


def test_the_slider_is_a_form_where_no_script_runs(page: Page, session: Session, live_server: LiveServer) -> None:
    browser = page.context.browser
    assert browser is not None
    with browser.new_context(
        java_script_enabled=False, storage_state=page.context.storage_state(), base_url=live_server.url
    ) as context:
        plain = context.new_page()
        plain.goto(session.get_absolute_url() + "?turn=40&side=after")

        plain.locator("#turn").press("ArrowLeft")
        plain.get_by_role("button", name="Show").click()

        expect(plain.locator("#window-title")).to_have_text("Window at turn 39")
        expect(plain.locator("#window[data-side=after]")).to_be_visible()


def test_a_search_marks_the_timeline_and_leads_to_the_block(page: Page, session: Session) -> None:
    open_page(page, session, "?policy=chapter")

    page.keyboard.press("/")
    page.keyboard.insert_text("worker-7 ")

    expect(page.locator("#hits li")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"[?&]q=worker-7"))
    page.wait_for_function("document.getElementById('timeline').layout.shapes.some((shape) => shape.name === 'found')")
    page.locator("#hits li a").press("Enter")
    expect(page.locator("#window-title")).to_have_text("Window at turn 8")
    expect(page.locator("#window .block.selected").first).to_have_attribute("data-message", "16")
    expect(page).to_have_url(re.compile(r"open=16.*q=worker-7"))


def test_the_page_works_with_the_keyboard_alone(page: Page, session: Session) -> None:
    open_page(page, session, "?policy=chapter&turn=50")

    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    for key in ("/", "j", "[", "b", "←"):
        expect(keys.locator("kbd", has_text=re.compile(f"^{re.escape(key)}$")).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).not_to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    focused = page.locator("#window .block:focus")
    expect(focused).to_have_count(1)
    page.keyboard.press("k")
    expect(page.locator("#window .block:focus")).to_have_attribute(
        "data-message", page.locator("#window .block").first.get_attribute("data-message") or "none"
    )
    page.keyboard.press("a")
    expect(page.locator("#window[data-side=after]")).to_be_visible()
    page.locator(".whatif a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".whatif .answer")).to_have_count(1)
    page.get_by_role("link", name="Table").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#composition table")).to_be_visible()


def test_what_an_own_compaction_took_opens_in_the_list(page: Page, project: Project) -> None:
    recorded = parsed(20, lines=20)
    recorded.boundaries = [ParsedBoundary(recorded.turns[15].request_end - 1, "compact")]
    open_page(page, store(recorded, project))

    page.get_by_role("link", name="what left").click()

    expect(page.locator("#compactions li")).to_have_count(8)
    page.get_by_role("link", name="all compactions").click()
    expect(page.locator("#compactions tbody tr")).to_have_count(1)
