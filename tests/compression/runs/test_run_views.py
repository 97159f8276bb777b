"""The pages of runs: what a member sees and does, what everybody else does not, and how many queries it takes."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from compression import policies
from compression.engine.policy import build
from compression.engine.presets import PRESETS
from compression.models import Run, RunResult
from compression.policy_keys import key_of
from sessions.models import Project, Session
from tests.compression.runs.starting import SMALL_WINDOW, finished, queued, results, three_sessions
from tests.compression.sessions import parsed, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


@pytest.fixture
def run(project: Project, sessions: list[Session]) -> Run:
    return finished(project)


def address(run: Run, name: str = "") -> str:
    return f"/projects/{run.project.slug}/runs/{run.pk}/{name}"


def start(client: Client, **given: Any) -> Any:
    return client.post("/projects/apollo/runs/", given)


def test_a_run_of_all_sessions_is_started_from_the_form(signed_in: Client, user: User, sessions: list[Session]) -> None:
    response = start(signed_in, policy="chapter", scope="all")

    run = Run.objects.get()
    assert (response.status_code, response["Location"]) == (302, address(run))
    assert (run.label, run.started_by, run.policy_digest) == ("preset chapter", user, PRESETS["chapter"].digest)
    assert [result.session for result in results(run)] == sessions


def test_a_run_of_the_chosen_sessions_is_started(signed_in: Client, sessions: list[Session]) -> None:
    start(signed_in, policy="hermes", session=[sessions[0].pk, sessions[2].pk])

    assert [result.session for result in results(Run.objects.get())] == [sessions[0], sessions[2]]


def test_a_run_of_the_sessions_that_fit_a_filter_is_started(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    Session.objects.filter(pk=sessions[1].pk).update(title="Something else")

    start(signed_in, policy="hermes", scope="filter", q="batch stopped")

    assert [result.session for result in results(Run.objects.get())] == [sessions[0], sessions[2]]


def test_a_run_of_a_saved_version_is_started_and_remembers_it(
    signed_in: Client, project: Project, user: User, sessions: list[Session]
) -> None:
    version = policies.save_version(project=project, policy=build(SMALL_WINDOW, "test"), author=user)

    start(signed_in, policy="v1", scope="all")

    run = Run.objects.get()
    assert (run.version, run.label, key_of(run), run.policy_digest) == (version, "v1 small", "v1", version.digest)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"policy": "nonsense"}, "there is no policy &#x27;nonsense&#x27;"),
        ({"policy": "v7"}, "there is no policy &#x27;v7&#x27;"),
        ({"policy": "hermes", "scope": "chosen"}, "no session is chosen"),
        ({"policy": "hermes", "session": ["x"]}, "a session is named by its number"),
        ({"policy": "hermes", "q": "nowhere"}, "there is no session to run on"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(
    signed_in: Client, sessions: list[Session], given: dict[str, Any], fault: str
) -> None:
    response = start(signed_in, **given)

    assert response.status_code == 422
    assert fault in response.text
    assert not Run.objects.exists()


def test_sessions_of_another_project_are_not_run(
    signed_in: Client, other_project: Project, sessions: list[Session]
) -> None:
    theirs = store(parsed(2), other_project)

    response = start(signed_in, policy="hermes", session=[theirs.pk])

    assert response.status_code == 422
    assert not Run.objects.exists()


PATHS = ["", "progress/", "results.csv", "results.json", "sessions/{session}/log/", "sessions/{session}/log.csv"]


@pytest.mark.parametrize("path", PATHS)
def test_a_run_of_another_project_is_not_there(client: Client, stranger: User, run: Run, path: str) -> None:
    client.force_login(stranger)

    response = client.get(address(run, path.format(session=results(run)[0].session_id)))

    assert response.status_code == 404


@pytest.mark.parametrize("path", PATHS)
def test_whoever_is_not_signed_in_is_sent_to_sign_in(client: Client, run: Run, path: str) -> None:
    response = client.get(address(run, path.format(session=results(run)[0].session_id)))

    assert (response.status_code, response["Location"].partition("?")[0]) == (302, "/signin/")


def test_a_run_is_not_found_below_another_project(signed_in: Client, user: User, run: Run) -> None:
    other = Project.objects.create(name="Gemini", slug="gemini")
    other.memberships.create(user=user)

    assert signed_in.get(f"/projects/gemini/runs/{run.pk}/").status_code == 404


def test_nobody_else_cancels_a_run(client: Client, stranger: User, project: Project, sessions: list[Session]) -> None:
    run = queued(project)
    client.force_login(stranger)

    response = client.post(address(run, "cancel/"))

    run.refresh_from_db()
    assert (response.status_code, run.state) == (404, "queued")


def test_a_run_is_cancelled(signed_in: Client, project: Project, sessions: list[Session]) -> None:
    run = queued(project)

    response = signed_in.post(address(run, "cancel/"))

    run.refresh_from_db()
    assert (response.status_code, run.state) == (302, "cancelled")


def test_a_run_is_not_cancelled_by_following_a_link(signed_in: Client, run: Run) -> None:
    assert signed_in.get(address(run, "cancel/")).status_code == 405


def test_a_page_of_a_run_that_goes_on_polls_and_can_be_cancelled_without_scripts(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    run = queued(project)

    page = signed_in.get(address(run)).text

    assert 'hx-trigger="every 2s, run-over from:body"' in page
    assert f'<form method="post" action="{address(run, "cancel/")}"' in page
    assert f'href="{address(run)}" data-refresh' in page


def test_a_page_of_a_run_that_is_over_asks_for_nothing(signed_in: Client, run: Run) -> None:
    page = signed_in.get(address(run)).text

    assert "every 2s" not in page
    assert "cancel/" not in page


def test_the_worst_sessions_come_first(signed_in: Client, run: Run) -> None:
    response = signed_in.get(address(run))

    shown = [row["result"] for row in response.context["rows"]]
    untouched, *compressed = results(run)
    assert untouched.events == 0
    assert shown == [*sorted(compressed, key=lambda result: result.session_saved or 0), untouched]


@pytest.mark.parametrize(
    ("state", "worst"),
    [
        ({"violations": 1}, True),
        ({"overflow_turn": 3}, True),
        ({"state": "failed"}, True),
        ({"state": "waiting"}, False),
    ],
)
def test_a_session_with_a_problem_stands_above_all(
    signed_in: Client, run: Run, state: dict[str, Any], worst: bool
) -> None:
    best = max(results(run), key=lambda result: result.session_saved or 0)
    RunResult.objects.filter(pk=best.pk).update(**state)

    rows = signed_in.get(address(run)).context["rows"]

    assert rows[0 if worst else -1]["result"] == best


SORTS = [
    "title",
    "session",
    "request",
    "tool",
    "overflow",
    "events",
    "violations",
    "counter",
    "turns",
    "sent",
    "state",
    "worst",
]


@pytest.mark.parametrize("direction", ["", "-"])
@pytest.mark.parametrize("sort", SORTS)
def test_every_sort_shows_each_session_once_over_all_pages(
    signed_in: Client, run: Run, monkeypatch: pytest.MonkeyPatch, sort: str, direction: str
) -> None:
    monkeypatch.setattr("compression.run_results.PAGE_SIZE", 1)
    shown, after = [], ""
    while True:
        context = signed_in.get(address(run), {"sort": direction + sort, "after": after}).context
        shown += [row["result"].pk for row in context["rows"]]
        after = context["page"].after
        if not after:
            break

    assert sorted(shown) == [result.pk for result in results(run)]
    assert len(shown) == 3


@pytest.mark.parametrize("after", ["x", "bnVsbA", "WyJ3b3JzdCIsMSwyXQ=="])
def test_a_cursor_that_is_none_shows_the_first_page(signed_in: Client, run: Run, after: str) -> None:
    response = signed_in.get(address(run), {"sort": "title", "after": after})

    assert len(response.context["rows"]) == 3


def test_the_table_can_be_filtered(signed_in: Client, run: Run) -> None:
    rows = signed_in.get(address(run), {"only": "untouched"}).context["rows"]

    assert [row["result"] for row in rows] == [results(run)[0]]


def test_a_session_that_moved_away_is_counted_and_not_shown(
    signed_in: Client, run: Run, other_project: Project
) -> None:
    moved = results(run)[2].session
    Session.objects.filter(pk=moved.pk).update(project=other_project, title="Secret of Zeus")

    page = signed_in.get(address(run))
    found = signed_in.get(address(run), {"q": "Secret"})
    lines = StringIO(signed_in.get(address(run, "results.csv")).getvalue().decode(), newline="")
    rows = {row["session_id"]: row for row in csv.DictReader(lines)}

    assert page.context["totals"].sessions == 3
    assert page.text.count("moved to another project") >= 1
    assert "Secret of Zeus" not in page.text
    assert f"/{moved.pk}/" not in page.text.replace(address(run), "")
    assert found.context["rows"] == []
    assert (len(rows), rows[""]["title"], int(rows[""]["turns"]) > 0) == (3, "", True)
    assert signed_in.get(address(run, f"sessions/{moved.pk}/log/")).status_code == 404


def test_titles_are_escaped(signed_in: Client, run: Run) -> None:
    Session.objects.update(title="<script>alert(1)</script>")

    page = signed_in.get(address(run)).text

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(("path", "queries"), [("runs/", 12), ("runs/{run}/", 10)])
def test_queries_do_not_grow_with_sessions(
    signed_in: Client,
    project: Project,
    run: Run,
    django_assert_num_queries: DjangoAssertNumQueries,
    path: str,
    queries: int,
) -> None:
    more = [Session(project=project, key=f"more-{n}", format="made-up") for n in range(300)]
    Session.objects.bulk_create(more)
    RunResult.objects.bulk_create([RunResult(run=run, session=one, state="done", events=1) for one in more])

    with django_assert_num_queries(queries):
        signed_in.get(f"/projects/apollo/{path.format(run=run.pk)}")


def test_the_csv_has_a_line_for_each_session_with_the_figures_of_its_replay(signed_in: Client, run: Run) -> None:
    response = signed_in.get(address(run, "results.csv"))

    lines = list(csv.DictReader(StringIO(response.getvalue().decode())))
    assert response["Content-Disposition"] == f'attachment; filename="run-{run.pk}.csv"'
    for line, result in zip(lines, results(run), strict=True):
        assert line["session_id"] == str(result.session_id)
        assert line["sent_before"] == str(result.summary["sent_before"])
        assert line["session_saved"] == str(result.summary["session_saved"])
        assert line["overflow_turn"] == ("" if result.overflow_turn is None else str(result.overflow_turn))
        assert (line["policy_digest"], line["engine_version"]) == (run.policy_digest, str(run.engine_version))


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_title_becomes_a_formula_in_a_spreadsheet(signed_in: Client, run: Run, title: str) -> None:
    Session.objects.update(title=title)

    response = signed_in.get(address(run, "results.csv"))

    lines = list(csv.DictReader(StringIO(response.getvalue().decode(), newline="")))
    assert {line["title"] for line in lines} == {f"'{title}"}


def test_figures_below_zero_stay_figures(signed_in: Client, run: Run) -> None:
    RunResult.objects.update(session_saved=-0.25)

    response = signed_in.get(address(run, "results.csv"))

    lines = csv.DictReader(StringIO(response.getvalue().decode()))
    assert {line["session_saved"] for line in lines} == {"-0.25"}


def test_the_json_holds_the_run_its_policy_totals_and_every_summary(signed_in: Client, run: Run) -> None:
    response = signed_in.get(address(run, "results.json"))

    document = json.loads(response.getvalue())
    assert document["run"]["policy_digest"] == run.policy_digest
    assert build(document["policy"], "export").digest == run.policy_digest
    assert [row["summary"] for row in document["results"]] == [result.summary for result in results(run)]
    assert document["totals"]["sessions"] == 3


def test_an_export_takes_the_filter_of_the_table(signed_in: Client, run: Run) -> None:
    response = signed_in.get(address(run, "results.json"), {"only": "untouched"})

    assert len(json.loads(response.getvalue())["results"]) == 1


def test_an_export_of_nothing_is_still_whole(signed_in: Client, run: Run) -> None:
    response = signed_in.get(address(run, "results.json"), {"only": "failed"})

    assert json.loads(response.getvalue())["results"] == []


def test_a_log_without_a_result_says_why(signed_in: Client, project: Project, sessions: list[Session]) -> None:
    run = queued(project)
    path = address(run, f"sessions/{sessions[0].pk}/log")

    assert "This session has not been replayed yet." in signed_in.get(f"{path}/").text
    assert signed_in.get(f"{path}.csv").status_code == 409
