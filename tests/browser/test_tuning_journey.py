"""The whole way of a person who tunes a policy, against the real server and its worker, as `make run` starts them."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sessions.example import write_example
from tests.browser.conftest import LOOK, watched

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parent.parent.parent
UPLOADED = ["two-hour-coding-session.jsonl", "compacted-by-the-agent.jsonl", "rollout-export-option.jsonl"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def sign_in_link(tmp_path: Path) -> Iterator[str]:
    """Server and worker on an empty installation; the link that they print."""
    environment = {
        **os.environ,
        "HERMES_DATA_DIR": str(tmp_path / "data"),
        "PORT": str(free_port()),
        "HOST": "127.0.0.1",
    }
    environment["DJANGO_SETTINGS_MODULE"] = "hermes_site.settings"
    environment.pop("DATABASE_URL", None)

    def manage(*arguments: str) -> list[str]:
        return [sys.executable, "manage.py", *arguments]

    subprocess.run(manage("migrate", "--verbosity", "0"), check=True, cwd=ROOT, env=environment)
    subprocess.run(manage("bootstrap"), check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    with subprocess.Popen(manage("serve"), cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        link = next((found.group() for line in server.stdout if (found := re.search(r"http\S+/signin/\S+", line))), "")
        yield link
        server.send_signal(signal.SIGINT)
        server.wait(20)


@pytest.fixture
def page(browser: Browser, sign_in_link: str) -> Iterator[Page]:
    with browser.new_context(base_url=sign_in_link.partition("/signin/")[0], accept_downloads=True, **LOOK) as context:
        for page in watched(context):
            page.set_default_timeout(30_000)
            page.goto(sign_in_link)
            page.get_by_role("main").get_by_role("button").click()
            yield page


def uploaded(page: Page, logs: Path) -> None:
    """A new project with the example's sessions, dropped on it."""
    write_example(logs)
    page.goto("/projects/new/")
    page.get_by_label("Name").fill("Journey")
    page.get_by_role("main").get_by_role("button").first.click()
    page.wait_for_url("**/projects/journey/")
    page.locator("input[name=files]").set_input_files([logs / name for name in UPLOADED])
    expect(page.locator("table.sessions tbody tr")).to_have_count(3, timeout=60_000)


def test_a_policy_is_tuned_from_upload_to_adoption_and_taken_elsewhere(page: Page, tmp_path: Path) -> None:
    uploaded(page, tmp_path / "logs")

    page.get_by_role("link", name="Tune policy").click()
    expect(page.locator("#policy-chart[data-drawn]")).to_be_visible(timeout=30_000)
    page.get_by_label("Context window").fill("100000")
    page.get_by_label("Trigger").fill("0.6")
    expect(page.locator("#c-trigger_ratio")).to_contain_text("was 0.75 · = 60 000 tokens", timeout=30_000)
    page.get_by_label("Target").fill("0.4")
    expect(page.locator("#c-target_ratio")).to_contain_text("was 0.5 · = 40 000 tokens", timeout=30_000)
    expect(page.locator("#draft-state")).to_have_text("draft · 3 changes")
    page.get_by_placeholder("note for this version").fill("earlier and deeper")
    page.get_by_role("button", name="Save as v1").click()
    expect(page.locator(".versions li")).to_contain_text("earlier and deeper")

    page.get_by_role("button", name="run v1 on all sessions").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("table.results tbody .badge.good")).to_have_count(3, timeout=60_000)
    row = page.locator("table.results tbody tr", has_text="Two hours on a failing order import")
    expect(row).to_contain_text("21 →")

    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**/compare/**")
    page.goto("/projects/journey/policy/")
    page.get_by_role("link", name="compare", exact=True).click()
    expect(page.get_by_role("heading", name="Compare policies")).to_be_visible()

    page.goto("/projects/journey/policy/")
    page.get_by_role("button", name="adopt v1").click()
    expect(page.locator(".policy .badge.info")).to_have_text("v1 in force")
    page.get_by_role("button", name="Undo, back to the preset").click()
    expect(page.locator(".policy .badge.info")).to_have_text("preset hermes in force")

    with page.expect_download() as download:
        page.locator(".versions").get_by_role("link", name="TOML").click()
    exported = tmp_path / "policy.toml"
    download.value.save_as(exported)
    assert tomllib.loads(exported.read_text())["trigger_ratio"] == 0.6
    page.locator("summary", has_text="Import").click()
    page.get_by_label("Policy file").set_input_files(exported)
    page.get_by_role("button", name="Open as draft").click()
    expect(page.get_by_label("Trigger")).to_have_value("0.6")
    page.get_by_role("button", name="Save as v2").click()
    expect(page.locator(".versions li")).to_have_count(2)
    page.get_by_role("button", name="run v2 on all sessions").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("table.results tbody .badge", has_text="reused")).to_have_count(3, timeout=60_000)


def test_a_sweep_tunes_a_project_from_upload_to_the_adopted_recommendation(page: Page, tmp_path: Path) -> None:
    uploaded(page, tmp_path / "logs")

    page.get_by_role("link", name="Sweeps").click()
    page.get_by_label("Held out, % of the sessions").fill("0")
    page.get_by_label("Policies to try").fill("12")
    page.get_by_role("button", name="Start the sweep").click()
    page.wait_for_url("**/sweeps/*/")
    expect(page.locator("#progress[data-state=done]")).to_be_visible(timeout=120_000)
    expect(page.locator("#scatter[data-drawn]")).to_be_visible(timeout=30_000)

    recommended = page.locator("section.recommended")
    expect(recommended.locator(".reason")).to_contain_text("saves")
    expect(recommended).to_contain_text("keeps every promise")
    recommended.get_by_role("button", name="Adopt").click()

    page.goto("/projects/journey/policy/")
    expect(page.locator(".policy .badge.info")).to_have_text("v1 in force")
    expect(page.locator(".versions li")).to_contain_text("sweep")
