from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compression import runs
from compression.engine.presets import PRESETS
from compression.execution import work
from compression.models import Run
from compression.policies import adopt, save_version
from compression.replays import stored_replay
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store, with_event

TIGHT = PRESETS["chapter"].model_copy(update={"name": "tight", "context_window": 20_000, "ladder": False})


@pytest.fixture
def tight(project: Project, user: User) -> None:
    """A window of 20,000 tokens is in force."""
    adopt(version=save_version(project=project, policy=TIGHT, author=user), by=user)


def run(project: Project) -> None:
    work(runs.start(project=project, policy=TIGHT, label="tight").pk, limit=100)


def asked(client: Client, project: Project, cause: str = "") -> Any:
    response = client.get(f"/projects/{project.slug}/worst/?cause={cause}")
    assert response.status_code == 200
    return response.context["worst"]


@pytest.mark.usefixtures("tight")
def test_the_earliest_overflow_comes_first(signed_in: Client, project: Project) -> None:
    long_results = store(parsed(20, lines=120, key="long"), project)
    short_results = store(parsed(40, lines=40, key="short"), project)
    store(parsed(2, lines=2, key="fits"), project)
    run(project)

    worst = asked(signed_in, project)

    assert [row.session for row in worst.rows] == [long_results, short_results]
    firsts = [row.result.overflow_turn_none for row in worst.rows]
    assert firsts == sorted(firsts)
    assert (worst.worked_out, worst.waiting_total) == (3, 0)


@pytest.mark.usefixtures("tight")
def test_the_largest_result_is_named_with_its_message(signed_in: Client, project: Project) -> None:
    session = store(parsed(3, lines=40, key="long"), project)
    store(parsed(3, lines=4, key="short"), project)
    run(project)

    row = asked(signed_in, project, "result").rows[0]

    tokens = [tool.parts[0]["tokens"] for tool in session.messages.filter(role="tool")]
    assert row.session == session
    assert (row.largest["tokens"], row.largest["tool"]) == (max(tokens), "Bash")
    assert row.largest_share == max(tokens) / 20_000


@pytest.mark.usefixtures("tight")
def test_thrash_and_counter_error_have_lists_of_their_own(signed_in: Client, project: Project) -> None:
    for key, lines in (("many", 60), ("few", 2)):
        store(parsed(60, lines=lines, key=key, with_usage=True), project)
    run(project)

    thrash, counter = asked(signed_in, project, "thrash"), asked(signed_in, project, "counter")

    assert [(row.session.key, row.result.thrash > 0) for row in thrash.rows] == [("many", True)]
    errors = [abs(row.result.counter_error) for row in counter.rows]
    assert errors == sorted(errors, reverse=True)
    assert len(errors) == counter.total == 1


@pytest.mark.usefixtures("tight")
def test_sessions_without_a_current_result_are_named_and_a_run_works_them_out(
    signed_in: Client, project: Project, django_capture_on_commit_callbacks: Any
) -> None:
    store(parsed(3, key="old"), project)
    run(project)
    new = store(parsed(4, key="new"), project)
    grown = store(parsed(5, key="old"), project)

    assert {session.pk for session in asked(signed_in, project).waiting} == {new.pk, grown.pk}

    with django_capture_on_commit_callbacks(execute=True):
        response = signed_in.post(f"/projects/{project.slug}/worst/run/")

    latest = Run.objects.latest("pk")
    assert response["Location"] == latest.get_absolute_url()
    assert {result.session_id for result in latest.results.all()} == {new.pk, grown.pk}
    assert latest.version is not None
    work(latest.pk)
    assert asked(signed_in, project).waiting_total == 0


@pytest.mark.usefixtures("tight")
def test_a_session_that_was_looked_at_counts_without_a_run(signed_in: Client, project: Project) -> None:
    seen, _ = store(parsed(20, lines=120, key="seen"), project), store(parsed(20, lines=120, key="unseen"), project)
    summary = stored_replay(seen, TIGHT).summary

    worst = asked(signed_in, project)

    assert [(row.session, row.result.overflow_turn_none) for row in worst.rows] == [
        (seen, summary["overflow_turn_none"])
    ]
    assert (worst.worked_out, worst.total, [session.key for session in worst.waiting]) == (1, 1, ["unseen"])


@pytest.mark.usefixtures("tight")
def test_one_session_is_told_as_one(signed_in: Client, project: Project) -> None:
    stored_replay(store(parsed(20, lines=120), project), TIGHT)

    page = signed_in.get(f"/projects/{project.slug}/worst/").content.decode()

    assert "1 session worked out, by its runs or when somebody looked at it." in page


@pytest.mark.parametrize("cause", ["overflow", "thrash", "result", "counter"])
@pytest.mark.usefixtures("tight")
def test_runs_and_looks_put_the_sessions_in_the_same_order(signed_in: Client, project: Project, cause: str) -> None:
    for key, lines in (("many", 60), ("some", 30), ("few", 2)):
        stored_replay(store(parsed(60, lines=lines, key=key, with_usage=True), project), TIGHT)
    looks = [row.session.key for row in asked(signed_in, project, cause).rows]
    run(project)

    assert [row.session.key for row in asked(signed_in, project, cause).rows] == looks


def test_results_of_another_policy_do_not_count(signed_in: Client, project: Project) -> None:
    store(parsed(3), project)
    run(project)

    worst = asked(signed_in, project)

    assert (worst.worked_out, worst.waiting_total) == (0, 1)


@pytest.mark.usefixtures("tight")
def test_two_runs_count_a_session_once(signed_in: Client, project: Project) -> None:
    with_event(project)
    run(project)
    run(project)

    worst = asked(signed_in, project)

    assert (worst.worked_out, len(worst.rows)) == (1, 1)


@pytest.mark.usefixtures("tight")
def test_queries_do_not_grow_with_the_project(signed_in: Client, project: Project) -> None:
    counts = []
    for size in (2, 30):
        for number in range(size):
            store(parsed(2, lines=2, key=f"{size}-{number}"), project)
        run(project)
        store(parsed(2, lines=3, key=f"{size}-waits"), project)
        with CaptureQueriesContext(connection) as queries:
            asked(signed_in, project, "result")
        counts.append(len(queries))

    assert counts == [9, 9]


def test_a_stranger_sees_and_starts_nothing(client: Client, stranger: User, project: Project) -> None:
    store(parsed(2), project)
    client.force_login(stranger)

    assert client.get(f"/projects/{project.slug}/worst/").status_code == 404
    assert client.post(f"/projects/{project.slug}/worst/run/").status_code == 404
    assert Run.objects.count() == 0


def test_titles_are_escaped(signed_in: Client, project: Project) -> None:
    store(parsed(2), project)
    Session.objects.update(title="<script>alert(1)</script>")

    html = signed_in.get(f"/projects/{project.slug}/worst/").content.decode()

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert" not in html
