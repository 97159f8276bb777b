"""Comparisons: directions of figures, what differs between two windows, and the pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from compression import replays
from compression.compare import FIGURES, mark_of, points
from compression.compare_windows import window_difference
from compression.engine.policy import build
from compression.engine.presets import PRESETS
from compression.models import RunResult
from compression.policies import save_version
from compression.replay_document import freed_by
from compression.replays import stored_replay
from sessions.models import Project, Session
from tests.compression.runs.pricing import priced
from tests.compression.runs.starting import SMALL_WINDOW, finished, three_sessions
from tests.compression.sessions import parsed, store


@pytest.mark.parametrize(
    ("direction", "a", "b", "mark"),
    [
        ("more", 0.2, 0.3, "better"),
        ("more", 0.3, 0.2, "worse"),
        ("less", 5, 3, "better"),
        ("less", 3, 5, "worse"),
        ("less", 3, 3, "same"),
        ("more", None, 0.3, ""),
        ("less", 3, None, ""),
        ("later", 10, 20, "better"),
        ("later", 10, None, "better"),
        ("later", None, 10, "worse"),
        ("later", None, None, "same"),
        ("none", 1, 2, ""),
    ],
)
def test_each_figure_knows_which_way_is_better(direction: Any, a: Any, b: Any, mark: str) -> None:
    assert mark_of(direction, a, b) == mark


@pytest.mark.parametrize(
    ("difference", "shown"), [(0.025, "+2.5\u202fpp"), (-0.1, "−10.0\u202fpp"), (0.0, "0"), (-0.0001, "0")]
)
def test_shares_differ_by_percentage_points(difference: float, shown: str) -> None:
    assert points(difference) == shown


def test_every_figure_that_is_compared_is_one_of_a_summary(db: None, project: Project) -> None:
    summary = stored_replay(store(parsed(2), project), PRESETS["hermes"]).summary

    assert {figure.name for figure in FIGURES} <= set(summary)


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    save_version(project=project, policy=build(SMALL_WINDOW, "test"), author=None)
    return three_sessions(project)


def test_only_messages_that_differ_are_shown_side_by_side(project: Project, sessions: list[Session]) -> None:
    session = sessions[2]
    a, b = stored_replay(session, PRESETS["none"]), stored_replay(session, build(SMALL_WINDOW, "test"))
    turn = b.turns - 1

    found = window_difference(session, a, b, turn)

    held = {*b.request(turn).indexes()}
    edits = {i: parts for i, parts in b.edits(turn).items() if i in held}
    gone = {*a.request(turn).indexes()} - held
    assert gone
    assert found.more == len(edits) + len(gone) - len(found.rows)
    assert found.alike == len(held) - len(edits)
    for row in found.rows:
        assert row.a is not None
        assert row.a.changes == []
        if row.b is None:
            assert row.index in gone
        else:
            assert [(one.event, one.edit) for one in row.b.changes] == list(edits[row.index].values())
            assert row.a.tokens - row.b.tokens == freed_by(edits[row.index])


def test_what_stands_for_the_messages_that_left_is_shown_beside_a_window_that_has_them(
    project: Project, sessions: list[Session]
) -> None:
    session = sessions[2]
    a, b = stored_replay(session, PRESETS["none"]), stored_replay(session, build(SMALL_WINDOW, "test"))

    found = window_difference(session, a, b, b.turns - 1)

    assert found.notes is not None
    assert found.notes[0] is None
    assert found.notes[1] is not None
    assert found.notes[1].note == b.note(b.turns - 1)
    assert found.notes[1].left == len(b.gone(b.turns - 1))


def test_a_policy_does_not_differ_from_itself(project: Project, sessions: list[Session]) -> None:
    document = stored_replay(sessions[2], build(SMALL_WINDOW, "test"))

    found = window_difference(sessions[2], document, document, document.turns - 1)

    assert (found.rows, found.more) == ((), 0)
    held = {*document.request(document.turns - 1).indexes()}
    assert found.alike_stubs == len(held.intersection(document.edits(document.turns - 1))) > 0


def ask(client: Client, **query: Any) -> Any:
    return client.get("/projects/apollo/compare/", query)


def test_a_session_is_compared_at_a_turn(signed_in: Client, sessions: list[Session]) -> None:
    response = ask(signed_in, a="none", b="v1", session=sessions[2].pk, turn=9)

    assert response.status_code == 200
    assert "What differs at turn 9" in response.text
    assert [side.name for side in response.context["lineup"].sides] == ["A: preset none", "B: v1 small"]


def test_the_window_alone_answers_htmx(signed_in: Client, sessions: list[Session]) -> None:
    response = signed_in.get(
        "/projects/apollo/compare/",
        {"a": "none", "b": "v1", "session": str(sessions[2].pk), "turn": "9"},
        headers={"HX-Request": "true"},
    )

    assert response.text.lstrip().startswith('<section id="window"')
    assert response["HX-Replace-Url"] == f"/projects/apollo/compare/?a=none&b=v1&session={sessions[2].pk}&turn=9"


def test_a_project_without_runs_offers_to_start_them(signed_in: Client, sessions: list[Session]) -> None:
    response = ask(signed_in, a="none", b="v1")

    assert [side.choice.key for side in response.context["missing"]] == ["none", "v1"]
    assert '<input type="hidden" name="policy" value="v1">' in response.text


def test_a_session_that_one_run_lacks_does_not_count(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    finished(project)
    other = finished(project, target_ratio=0.3)
    save_version(project=project, policy=build({**SMALL_WINDOW, "target_ratio": 0.3}, "test"), author=None)
    RunResult.objects.filter(run=other, session=sessions[0]).update(state="failed")

    context = ask(signed_in, a="v1", b="v2").context

    assert context["comparison"].sessions == 2
    assert {row.session.pk for row, _ in context["rows"]} == {sessions[1].pk, sessions[2].pk}


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ({"a": "nonsense"}, "a: there is no policy &#x27;nonsense&#x27;"),
        ({"b": "v99"}, "b: there is no policy &#x27;v99&#x27;"),
        ({"session": "x"}, "session: Enter a whole number."),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    signed_in: Client, sessions: list[Session], query: dict[str, str], fault: str
) -> None:
    response = ask(signed_in, **query)

    assert response.status_code == 400
    assert fault in response.text


def test_a_turn_that_is_not_there_is_refused(signed_in: Client, sessions: list[Session]) -> None:
    response = ask(signed_in, session=sessions[0].pk, turn=99)

    assert response.status_code == 400
    assert "the session has turns 0 to 1" in response.text


def test_sessions_and_projects_of_others_are_not_there(
    signed_in: Client, stranger: User, other_project: Project, sessions: list[Session]
) -> None:
    theirs = store(parsed(2), other_project)

    assert ask(signed_in, session=theirs.pk).status_code == 404
    assert signed_in.get("/projects/zeus/compare/").status_code == 404
    assert signed_in.get("/projects/zeus/compare/timeline/", {"session": theirs.pk}).status_code == 404


def test_versions_of_another_project_are_unknown(signed_in: Client, other_project: Project, project: Project) -> None:
    save_version(project=other_project, policy=build(SMALL_WINDOW, "test"), author=None)

    assert ask(signed_in, a="v1").status_code == 400


def test_queries_of_a_projects_comparison_do_not_grow_with_sessions(
    signed_in: Client, project: Project, sessions: list[Session], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    runs = [finished(project), finished(project, target_ratio=0.3)]
    save_version(project=project, policy=build({**SMALL_WINDOW, "target_ratio": 0.3}, "test"), author=None)
    more = Session.objects.bulk_create([Session(project=project, key=f"more-{n}", format="x") for n in range(300)])
    for run in runs:
        RunResult.objects.bulk_create([RunResult(run=run, session=one, state="done", events=1) for one in more])

    with django_assert_num_queries(13):
        ask(signed_in, a="v1", b="v2")


def test_queries_of_a_sessions_comparison_do_not_grow_with_it(
    signed_in: Client, project: Project, sessions: list[Session], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ask(signed_in, a="none", b="v1", session=sessions[2].pk)
    replays._shelf.clear()

    with django_assert_num_queries(11):
        ask(signed_in, a="none", b="v1", session=sessions[2].pk)


SIX = {"a": "none", "b": "v1", "c": "hermes", "d": "chapter", "e": "sliding-window", "f": "cache-first"}


def test_six_policies_are_compared_at_once(signed_in: Client, sessions: list[Session]) -> None:
    context = ask(signed_in, **SIX, session=sessions[2].pk).context

    assert [side.choice.key for side in context["lineup"].sides] == list(SIX.values())
    assert {len(row.cells) for row in context["figures"]} == {6}
    assert len(context["lanes"]) == 6
    assert context["lineup"].can_grow is False


def test_a_policy_that_is_left_out_lets_the_rest_move_up(signed_in: Client, sessions: list[Session]) -> None:
    lineup = ask(signed_in, a="none", b="v1", c="", d="hermes").context["lineup"]

    assert [side.name for side in lineup.sides] == ["A: preset none", "B: v1 small", "C: preset hermes"]
    assert (lineup.can_grow, lineup.next_field) == (True, "d")


def test_a_third_policy_that_nobody_knows_is_refused_by_name(signed_in: Client, sessions: list[Session]) -> None:
    response = ask(signed_in, a="none", b="v1", c="nonsense")

    assert response.status_code == 400
    assert "c: there is no policy &#x27;nonsense&#x27;" in response.text


@pytest.mark.parametrize(("beside", "other"), [("", "B"), ("c", "C"), ("a", "B"), ("f", "B"), ("x", "B")])
def test_the_window_of_any_other_policy_can_stand_beside_the_firsts(
    signed_in: Client, sessions: list[Session], beside: str, other: str
) -> None:
    context = ask(signed_in, a="none", b="v1", c="hermes", beside=beside, session=sessions[2].pk).context

    assert context["other"].letter == other


def test_a_comparison_names_the_models_whose_price_is_not_known(signed_in: Client, sessions: list[Session]) -> None:
    response = ask(signed_in, a="none", b="v1", session=sessions[2].pk)

    assert (response.context["unpriced"], response.context["has_dollars"]) == (["m-1"], False)
    assert '<a href="/projects/apollo/prices/">Give its price</a>' in response.text


def test_runs_at_other_prices_are_not_compared(signed_in: Client, project: Project, sessions: list[Session]) -> None:
    finished(project)
    assert ask(signed_in, a="v1", b="v1").context["missing"] == []

    priced(project)

    assert len(ask(signed_in, a="v1", b="v1").context["missing"]) == 2


@pytest.mark.parametrize("sort", ["", "title", "-title", "a", "-b", "c", "-difference"])
def test_every_sort_of_a_comparison_shows_each_session_once_over_all_pages(
    signed_in: Client, project: Project, sessions: list[Session], sort: str
) -> None:
    run = finished(project)
    more = Session.objects.bulk_create([Session(project=project, key=f"more-{n}", format="x") for n in range(70)])
    RunResult.objects.bulk_create(
        RunResult(run=run, session=one, state="done", session_saved=n % 5 / 10) for n, one in enumerate(more)
    )

    seen, after = list[int](), ""
    while True:
        context = ask(signed_in, a="v1", b="v1", c="v1", sort=sort, after=after).context
        seen += [row.session.pk for row, _ in context["rows"]]
        if not (after := context["page"].after):
            break

    assert sorted(seen) == sorted([*(one.pk for one in sessions), *(one.pk for one in more)])


def test_queries_of_six_policies_do_not_grow_with_sessions(
    signed_in: Client, project: Project, sessions: list[Session], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = finished(project)
    more = Session.objects.bulk_create([Session(project=project, key=f"more-{n}", format="x") for n in range(300)])
    RunResult.objects.bulk_create([RunResult(run=run, session=one, state="done", events=1) for one in more])

    with django_assert_num_queries(21):
        ask(signed_in, **dict.fromkeys(SIX, "v1"))
