"""axe-core on every page, light and dark, wide and narrow: no finding that it calls serious or critical."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from compression import runs
from compression.engine.presets import PRESETS
from compression.execution import work
from compression.policies import adopt, save_version
from sessions.importers.parsed import ParsedBoundary
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store

pytestmark = pytest.mark.browser

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SERIOUS = {"serious", "critical"}


@pytest.fixture
def session(project: Project, user: User) -> Session:
    """A session with events, an error, recorded figures and a compaction of its own; a version and a run of it."""
    recorded = parsed(40, lines=76, with_usage=True)
    recorded.boundaries = [ParsedBoundary(recorded.turns[30].request_end - 1, "compact")]
    session = store(recorded, project)
    policy = PRESETS["chapter"].model_copy(update={"name": "tight", "context_window": 60_000})
    version = save_version(project=project, policy=policy, author=user, note="first")
    adopt(version=version, by=user)
    save_version(project=project, policy=PRESETS["chapter"], author=user)
    run = runs.start(project=project, policy=policy, label=str(version), version=version, by=user)
    work(run.pk)
    return session


Address = Callable[[Session], str]

PAGES: dict[str, Address] = {
    "projects": lambda session: "/",
    "new project": lambda session: "/projects/new/",
    "project": lambda session: "/projects/apollo/",
    "project settings": lambda session: "/projects/apollo/settings/",
    "session": lambda session: f"{session.get_absolute_url()}?turn=35&q=batch",
    "session, diff": lambda session: f"{session.get_absolute_url()}?turn=35&side=diff",
    "what left": lambda session: f"{session.get_absolute_url()}compactions/0/",
    "turns": lambda session: f"{session.get_absolute_url()}turns/",
    "a bad address": lambda session: f"{session.get_absolute_url()}?turn=999",
    "worst sessions": lambda session: "/projects/apollo/worst/",
    "policy": lambda session: f"/projects/apollo/policy/?session={session.pk}",
    "policy webhook": lambda session: "/projects/apollo/policy/webhook/",
    "runs": lambda session: "/projects/apollo/runs/",
    "a run": lambda session: f"/projects/apollo/runs/{session.run_results.get().run_id}/",
    "a run's log": lambda session: (
        f"/projects/apollo/runs/{session.run_results.get().run_id}/sessions/{session.pk}/log/"
    ),
    "comparison": lambda session: f"/projects/apollo/compare/?session={session.pk}&a=none&b=v1",
    "comparison of six": lambda session: (
        f"/projects/apollo/compare/?session={session.pk}&a=none&b=v1&c=hermes&d=chapter&e=sliding-window&f=cache-first"
    ),
    "prices": lambda session: "/projects/apollo/prices/",
    "comparison of a project": lambda session: "/projects/apollo/compare/?a=none&b=v1",
}


def findings(page: Page) -> list[str]:
    """What axe calls serious or critical, one line each with the element it means."""
    answer: dict[str, Any] = Axe().run(page, options={"resultTypes": ["violations"]}).response
    return [
        f"{finding['impact']} {finding['id']}: {node['html'][:160]} | {node['failureSummary'][:300]}"
        for finding in answer["violations"]
        if finding["impact"] in SERIOUS
        for node in finding["nodes"]
    ]


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(page: Page, session: Session, name: str) -> None:
    address = PAGES[name](session)

    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(address)
        if page.locator("#timeline").count():
            expect(page.locator("#timeline[data-drawn]")).to_be_visible()
        for width in (1440, 1024):
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"{scheme} {width}: {line}" for line in findings(page)]

    assert found == []


@pytest.mark.parametrize("address", ["/signin/", "/signin/nonsense/"])
def test_axe_finds_nothing_serious_before_one_is_signed_in(
    anonymous_page: Page, transactional_db: None, address: str
) -> None:
    anonymous_page.goto(address)

    assert findings(anonymous_page) == []
