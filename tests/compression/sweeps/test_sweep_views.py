"""The pages of sweeps: the form, one sweep, one trial, adopting."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from compression import policies, sweep_execution
from compression.models import PolicyVersion, Sweep, Trial
from compression.sweep_forms import axis_of, line_of
from sessions.models import Project, Session
from tests.compression.runs.starting import three_sessions
from tests.compression.sweeps.starting import GRID, queued, searching, trials, worked_through

SWEEPS = "/projects/apollo/sweeps/"
GRID_FORM = {
    "policy": "chapter",
    "kind": "grid",
    "held_out": "34",
    "field-0": "trigger_ratio",
    "values-0": "0.6, 0.8",
    "field-1": "target_ratio",
    "values-1": "0.4 .. 0.6 step 0.2",
}


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


@pytest.fixture
def sweep(project: Project, sessions: list[Session]) -> Sweep:
    return worked_through(queued(project, held_out=0.34))


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


@pytest.mark.parametrize(
    ("line", "axis"),
    [
        ("0.6, 0.7", [0.6, 0.7]),
        ("20_000", [20_000]),
        ("on, off", [True, "off"]),
        ("true, none", [True, None]),
        ("largest_first, all", ["largest_first", "all"]),
        ("0.5 .. 0.9", {"low": 0.5, "high": 0.9}),
        ("0.5..0.9 step 0.1", {"low": 0.5, "high": 0.9, "step": 0.1}),
        ("5000 .. 60000 log", {"low": 5_000, "high": 60_000, "log": True}),
        ("", []),
    ],
)
def test_a_line_of_the_form_says_what_a_file_would(line: str, axis: Any) -> None:
    assert axis_of(line) == axis


@pytest.mark.parametrize("line", ["0.6, 0.7", "true, none", "0.5 .. 0.9 step 0.05", "5000 .. 60000 log"])
def test_a_line_is_written_as_it_is_read(line: str) -> None:
    assert line_of(axis_of(line)) == line


def test_a_grid_is_started_from_the_form(signed_in: Client, project: Project, sessions: list[Session]) -> None:
    response = signed_in.post(SWEEPS, GRID_FORM)

    sweep = Sweep.objects.get()
    assert (response.status_code, response["Location"]) == (302, sweep.get_absolute_url())
    assert (sweep.kind, sweep.label, sweep.wanted, sweep.held_out) == ("grid", "preset chapter", 3, 0.34)
    assert sweep.space == {"trigger_ratio": [0.6, 0.8], "target_ratio": {"low": 0.4, "high": 0.6, "step": 0.2}}


def test_a_search_is_started_from_the_form(signed_in: Client, project: Project, sessions: list[Session]) -> None:
    signed_in.post(SWEEPS, {"policy": "hermes", "kind": "search", "trials": "12", "seed": "7", "held_out": "0"})

    sweep = Sweep.objects.get()
    assert (sweep.kind, sweep.wanted, sweep.seed, sweep.held_out) == ("search", 12, 7, 0.0)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"policy": "nobody"}, "Policy: there is no policy 'nobody'"),
        ({"kind": "search", "trials": ""}, "Policies to try: say how many policies to try"),
        ({"kind": "search", "trials": "0"}, "Policies to try: Ensure this value is greater than or equal to 1."),
        ({"values-0": "7, 8"}, "no combination makes a policy: trigger_ratio: Input should be less than or equal to 1"),
        ({"field-1": "trigger_ratio"}, "trigger_ratio is varied twice"),
        ({"values-1": "0.4 .. 0.6"}, "target_ratio: a range of a grid needs a step"),
        ({"field-0": "", "field-1": ""}, "a space names the fields to vary"),
        ({"held_out": "95"}, "Held out: Ensure this value is less than or equal to 90.0."),
    ],
)
def test_what_is_wrong_with_the_form_is_named_and_what_was_written_stays(
    signed_in: Client, project: Project, sessions: list[Session], given: dict[str, str], fault: str
) -> None:
    response = signed_in.post(SWEEPS, {**GRID_FORM, **given})

    assert response.status_code == 422
    assert fault in text(response).replace("&#x27;", "'")
    assert f'value="{given.get("values-1", GRID_FORM["values-1"])}"' in response.content.decode()
    assert not Sweep.objects.exists()


def test_a_project_without_sessions_says_what_to_do_first(signed_in: Client, project: Project) -> None:
    assert "A sweep replays recorded sessions: upload one first." in text(signed_in.get(SWEEPS))


def test_the_page_recommends_and_lists_the_cheapest_first(signed_in: Client, sweep: Sweep) -> None:
    response = signed_in.get(sweep.get_absolute_url())

    assert "Recommended: " in text(response)
    assert response.context["recommendation"].reason[1:60] in response.content.decode()
    shown = [row.trial.number for row in response.context["page"].rows]
    done = sorted(trials(sweep, state="done"), key=lambda trial: (trial.sent_after, trial.pk))
    assert shown == [*[trial.number for trial in done], 5]


def test_a_skipped_combination_stands_in_the_table_with_its_reason(signed_in: Client, sweep: Sweep) -> None:
    response = signed_in.get(sweep.get_absolute_url() + "?only=skipped")

    assert [row.trial.number for row in response.context["page"].rows] == [5]
    assert "target_ratio 0.6 must lie below trigger_ratio 0.6" in text(response)


def test_both_parts_of_the_sessions_are_shown(signed_in: Client, sweep: Sweep) -> None:
    page = text(signed_in.get(sweep.get_absolute_url()))

    assert "tuned on 2 sessions , 1 held out" in page.replace("sessions,", "sessions ,")
    assert "On 1 held-out session it " in page


def test_the_scatter_holds_every_trial_once(signed_in: Client, sweep: Sweep) -> None:
    figure = signed_in.get(sweep.get_absolute_url() + "scatter/").json()

    numbers = {about[0] for trace in figure["data"] if trace["name"] != "recommended" for about in trace["customdata"]}
    assert numbers == {0, 1, 2, 3, 4}
    for trace in figure["data"]:
        for x, y, (number, lost) in zip(trace["x"], trace["y"], trace["customdata"], strict=True):
            trial = Trial.objects.get(sweep=sweep, number=number)
            assert x in (None, trial.sent_after if trial.cost_usd is None else float(trial.cost_usd))
            assert y in (None, 1.0 if trial.rlr_view is None else trial.rlr_view)
            assert lost == trial.rlr_lost


def test_the_map_has_a_cell_for_each_pair_of_values_and_its_table_the_same(signed_in: Client, sweep: Sweep) -> None:
    response = signed_in.get(sweep.get_absolute_url())
    figure = signed_in.get(sweep.get_absolute_url() + "heat/?x=trigger_ratio&y=target_ratio&show=lost").json()

    heat = response.context["heat"]
    assert (list(heat.columns), list(heat.rows)) == (["0.6", "0.8"], ["0.4", "0.6"])
    assert heat.cells[1][0] is None  # the combination that no policy can mean
    by_values = {
        tuple(trial.values.values()): trial.rlr_lost for trial in trials(sweep, kind="candidate", state="done")
    }
    assert figure["data"][0]["z"] == [[by_values[0.6, 0.4], by_values[0.8, 0.4]], [None, by_values[0.8, 0.6]]]


def test_a_search_of_one_field_has_no_map(signed_in: Client, project: Project, sessions: list[Session]) -> None:
    sweep = worked_through(searching(project, trials=2, space={"trigger_ratio": {"low": 0.6, "high": 0.9}}))

    assert signed_in.get(sweep.get_absolute_url()).context["heat"] is None
    assert signed_in.get(sweep.get_absolute_url() + "heat/").json() == {"data": [], "layout": {}}


def test_a_trial_shows_its_policy_and_its_worst_session(signed_in: Client, sweep: Sweep) -> None:
    response = signed_in.get(f"{sweep.get_absolute_url()}trials/2/")

    page = text(response)
    assert "Trigger 0.6 · Target 0.4" in page
    assert "The batch that stopped" in page
    result = response.context["worst"][0][0]
    assert result.rlr_n - result.rlr_kept == max(
        one.rlr_n - one.rlr_kept for one, _, _ in response.context["worst"] if one.thrash == result.thrash
    )


def test_a_click_gets_the_card_of_a_trial_alone(signed_in: Client, sweep: Sweep) -> None:
    response = signed_in.get(f"{sweep.get_absolute_url()}trials/2/", headers={"HX-Request": "true"})

    assert response.content.decode().strip().startswith('<section id="trial"')


def test_a_trial_that_is_not_there_does_not_exist(signed_in: Client, sweep: Sweep) -> None:
    for number in (99, 2**40):
        assert signed_in.get(f"{sweep.get_absolute_url()}trials/{number}/").status_code == 404


def test_adopting_puts_the_policy_of_a_trial_in_force_once(signed_in: Client, project: Project, sweep: Sweep) -> None:
    for _ in range(2):
        response = signed_in.post(f"{sweep.get_absolute_url()}trials/2/adopt/", {"seen": "0"}, follow=True)

    assert "v1 is in force." in text(response)
    assert PolicyVersion.objects.count() == 1
    assert policies.in_force(project).policy == sweep_execution.policy_of_trial(
        Trial.objects.select_related("sweep").get(sweep=sweep, number=2)
    )


def test_a_sweep_is_cancelled_and_resumed_from_its_page(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    sweep = queued(project)
    states = []
    for verb in ("cancel", "resume"):
        signed_in.post(f"{sweep.get_absolute_url()}{verb}/")
        sweep.refresh_from_db()
        states.append(sweep.state)

    assert states == ["cancelled", "queued"]


def test_the_progress_of_what_is_over_loads_the_page_anew(signed_in: Client, project: Project, sweep: Sweep) -> None:
    going = queued(project)

    answers = [signed_in.get(f"{one.get_absolute_url()}progress/") for one in (sweep, going)]

    assert [answer.get("HX-Refresh") for answer in answers] == ["true", None]


def test_strangers_find_nothing(client: Client, stranger: Any, sweep: Sweep) -> None:
    client.force_login(stranger)

    for path in ("", "progress/", "scatter/", "heat/", "trials/2/"):
        assert client.get(sweep.get_absolute_url() + path).status_code == 404


def filled(sweep: Sweep, count: int) -> None:
    """Trials as workers would have left them."""
    first = Trial.objects.get(sweep=sweep, number=2)
    last = trials(sweep)[-1].number
    Trial.objects.bulk_create(
        [
            Trial(
                sweep=sweep, number=last + at, values={"trigger_ratio": at / count, "target_ratio": at % 40 / 100},
                state="done", figures=first.figures, sent_after=10_000 + at * 7 % 977, session_saved=0.1,
                rlr_view=at * 13 % 101 / 101, rlr_lost=at % 9, finished_at=timezone.now(),
            )
            for at in range(1, count + 1)
        ],
        batch_size=500,
    )  # fmt: skip


def test_the_page_asks_as_many_questions_and_has_as_many_nodes_for_thousands_of_trials(
    signed_in: Client, sweep: Sweep
) -> None:
    queries, nodes, points = [], [], []
    for count in (60, 3_000):
        filled(sweep, count)
        signed_in.get(sweep.get_absolute_url())
        with CaptureQueriesContext(connection) as captured:
            response = signed_in.get(sweep.get_absolute_url())
        queries.append(len(captured))
        nodes.append(len(re.findall(r"<[a-z]", response.content.decode())))
        figure = signed_in.get(sweep.get_absolute_url() + "scatter/").json()
        points.append(sum(len(trace["x"]) // (3 if trace["mode"] == "lines" else 1) for trace in figure["data"]))

    assert queries[0] == queries[1]
    assert nodes[1] < 1_100
    assert points[1] < 2_200


def test_pages_follow_each_other_without_losing_or_repeating_a_trial(signed_in: Client, sweep: Sweep) -> None:
    filled(sweep, 120)
    for sort in ("cost", "-kept", "number", "-lost"):
        seen: list[int] = []
        after = ""
        while True:
            page = signed_in.get(sweep.get_absolute_url(), {"sort": sort, "after": after}).context["page"]
            seen += [row.trial.number for row in page.rows]
            after = page.after
            if not after:
                break
        assert sorted(seen) == list(range(126)), sort


def test_a_grid_with_a_hostile_text_is_shown_escaped(
    signed_in: Client, project: Project, sessions: list[Session]
) -> None:
    sweep = queued(project, {**GRID, "selection": ["all", "<b onclick=x>\u202e"]})

    page = signed_in.get(sweep.get_absolute_url()).content.decode()

    assert "<b onclick" not in page
    assert "&lt;b onclick=x&gt;‹U+202E›" in page
