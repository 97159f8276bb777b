"""The sample and the dry run over HTTP: what they answer, and that neither saves a version."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion, Run
from compression.policy_form import form_data
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store

PAGE = "/projects/apollo/policy/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def stored(project: Project) -> list[Session]:
    return [store(parsed(exchanges, lines=20, key=f"k-{exchanges}"), project) for exchanges in (6, 4)]


def typed(**changes: str) -> dict[str, str]:
    return {**form_data(PRESETS["hermes"]), **changes}


def test_a_sample_fills_the_fields_and_the_sums(signed_in: Client, stored: list[Session]) -> None:
    answer = signed_in.post(f"{PAGE}sample/", typed(min_result_tokens="100"), headers=HTMX).content.decode()

    assert (
        '<p class="sampled" id="s-min_result_tokens" hx-swap-oob="true">sample: 10 of 10 results longer</p>' in answer
    )
    assert "2 of 2 sessions, picked from 2 at even steps" in answer


def test_a_draft_that_cannot_be_meant_leaves_the_sample_as_it_is(signed_in: Client, stored: list[Session]) -> None:
    answer = signed_in.post(f"{PAGE}sample/", typed(trigger_ratio="7"), headers=HTMX)

    assert (answer.status_code, answer["HX-Reswap"]) == (422, "none")


def test_without_a_script_the_sample_is_on_the_page(signed_in: Client, stored: list[Session]) -> None:
    page = signed_in.post(f"{PAGE}sample/", typed()).content.decode()

    assert "<!doctype html>" in page
    assert "2 of 2 sessions, picked from 2 at even steps" in page
    assert "sample: 10 of 10 results longer" in page


def test_a_dry_run_replays_the_draft_on_every_session_and_saves_no_version(
    signed_in: Client, stored: list[Session], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = signed_in.post(f"{PAGE}dry-run/", typed(trigger_ratio="0.7"))

    run = Run.objects.get()
    assert answer["Location"] == run.get_absolute_url()
    assert (run.label, run.version, run.results.filter(state="done").count()) == ("draft of hermes", None, 2)
    assert Policy.model_validate(run.fields).trigger_ratio == 0.7
    assert not PolicyVersion.objects.exists()


def test_a_draft_that_cannot_be_meant_is_not_run(signed_in: Client, stored: list[Session]) -> None:
    assert signed_in.post(f"{PAGE}dry-run/", typed(trigger_ratio="7")).status_code == 422
    assert not Run.objects.exists()


def test_a_project_without_sessions_says_why_there_is_no_dry_run(signed_in: Client, project: Project) -> None:
    answer = signed_in.post(f"{PAGE}dry-run/", typed())

    assert answer.status_code == 422
    assert "there is no session to run on" in answer.content.decode()
