"""Tuning a policy with scripts running: type, see, save, adopt, undo, export, import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from compression.engine.presets import PRESETS
from compression.models import PolicyVersion
from compression.policies import in_force
from sessions.models import Project, Session
from tests.compression.sessions import with_event

pytestmark = pytest.mark.browser
LAST_OF_DRAFT = "document.getElementById('policy-chart').data[2].y.at(-1)"


@pytest.fixture
def session(project: Project) -> Session:
    return with_event(project)


def open_page(page: Page) -> None:
    page.goto("/projects/apollo/policy/")
    expect(page.locator("#policy-chart[data-drawn]")).to_be_visible()


def test_two_thresholds_are_tuned_saved_adopted_undone_and_taken_elsewhere(
    page: Page, project: Project, session: Session, tmp_path: Path
) -> None:
    open_page(page)
    before = page.evaluate(LAST_OF_DRAFT)

    page.get_by_label("Trigger").fill("0.6")
    page.get_by_label("Target").fill("0.3")

    expect(page.locator("#c-trigger_ratio")).to_contain_text("was 0.75 · = 60 000 tokens")
    expect(page.locator("#c-target_ratio")).to_contain_text("was 0.5 · = 30 000 tokens")
    expect(page.locator("#draft-state")).to_have_text("draft · 2 changes")
    page.wait_for_function(f"{LAST_OF_DRAFT} !== {before}")
    expect(page.get_by_label("Target")).to_be_focused()

    page.get_by_placeholder("note for this version").fill("deeper cuts")
    page.get_by_role("button", name="Save as v1").click()
    expect(page.locator(".versions li")).to_contain_text("deeper cuts")
    expect(page.get_by_label("Trigger")).to_have_value("0.6")

    page.get_by_role("button", name="adopt v1").click()
    expect(page.locator(".policy .badge.info")).to_have_text("v1 in force")
    assert in_force(project).policy.trigger_ratio == 0.6

    page.get_by_role("button", name="Undo, back to the preset").click()
    expect(page.locator(".policy .badge.info")).to_have_text("preset hermes in force")
    assert in_force(project).policy == PRESETS["hermes"]

    with page.expect_download() as download:
        page.locator(".versions").get_by_role("link", name="JSON").click()
    file = tmp_path / "tuned.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["target_ratio"] == 0.3

    page.locator("summary", has_text="Import").click()
    page.get_by_label("Policy file").set_input_files(file)
    page.get_by_role("button", name="Open as draft").click()
    expect(page.get_by_label("Trigger")).to_have_value("0.6")
    page.get_by_role("button", name="Save as v2").click()
    expect(page.locator(".versions li")).to_have_count(2)
    assert len(set(PolicyVersion.objects.values_list("digest", flat=True))) == 1


def test_an_impossible_draft_is_named_and_the_figures_stay_marked_as_stale(page: Page, session: Session) -> None:
    open_page(page)
    sent = page.locator("#on-session tbody tr").first.inner_text()

    page.get_by_label("Trigger").fill("0.4")

    fault = "Target 0.5 must lie below Trigger 0.4: without a margin every call would be an event"
    expect(page.locator("#faults li")).to_have_text([fault])
    expect(page.locator("#e-trigger_ratio")).to_have_text(fault)
    expect(page.get_by_label("Trigger")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#stale")).to_have_text("Stale: the figures are those of the last draft that was valid.")
    assert page.locator("#on-session tbody tr").first.inner_text() == sent

    page.get_by_label("Trigger").fill("0.7")
    expect(page.locator("#faults li")).to_have_count(0)
    expect(page.locator("#stale")).to_be_hidden()
    expect(page.get_by_label("Trigger")).not_to_have_attribute("aria-invalid", "true")


def test_a_pin_rule_is_added_and_says_what_it_keeps(page: Page, session: Session) -> None:
    open_page(page)

    page.get_by_role("button", name="+ rule").click()
    page.keyboard.type("bash")
    row = page.locator("[data-pin]").last
    row.get_by_label("pattern").fill("worker-[3-6] ")

    expect(row.locator(".consequence")).to_contain_text("keeps 4 messages")
    row.get_by_label("remove").check()
    expect(page.locator("#draft-state")).to_have_text("no change")


def test_enter_in_a_field_previews_and_leaves_the_page_alone(page: Page, session: Session) -> None:
    open_page(page)

    page.get_by_label("Trigger").fill("0.6")
    page.keyboard.press("Enter")

    expect(page.locator("#c-trigger_ratio")).to_contain_text("was 0.75")
    expect(page).to_have_url("/projects/apollo/policy/")


@pytest.mark.parametrize("width", [400, 1024, 1440])
def test_the_page_is_no_wider_than_its_window(page: Page, session: Session, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    open_page(page)
    page.get_by_label("Trigger").fill("0.6")
    expect(page.locator("#c-trigger_ratio")).to_contain_text("was 0.75")

    assert page.evaluate("document.documentElement.scrollWidth") == width
