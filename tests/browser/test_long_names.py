"""A tool's name without a break does not push the session page out of a narrow screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from sessions.importers.parsed import Part
from sessions.models import Project
from tests.compression.sessions import parsed, store

pytestmark = pytest.mark.browser


def test_a_long_tool_name_wraps_at_375_pixels(page: Page, project: Project) -> None:
    recording = parsed(6)
    for message in recording.messages:
        message.parts = [
            Part(p.kind, p.text, call_id=p.call_id, name="N" * 300 if p.name else "") for p in message.parts
        ]
    session = store(recording, project)
    page.set_viewport_size({"width": 375, "height": 812})

    page.goto(session.get_absolute_url())
    expect(page.locator("#timeline[data-drawn]")).to_be_visible()

    wide = page.evaluate(
        "() => [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&"
        " !e.closest('.tablewrap, .js-plotly-plot, svg')).map(e => `${e.tagName} in ${e.parentElement.className}`)"
    )
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth") == 375
