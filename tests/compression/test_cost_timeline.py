"""The bar of the cache under the timeline, and the timeline counted in dollars."""

from __future__ import annotations

from itertools import accumulate

import pytest
from django.test import Client

from compression import figures
from compression.cost_bar import FOOT, HIGH, LOW, ticks
from compression.engine.presets import PRESETS
from compression.figures import timeline
from compression.forms import PageState
from compression.replays import stored_replay
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store
from tests.compression.test_cost_page import chapter_ways, paused, priced

CHAPTER = PRESETS["chapter"]


def money(client: Client, session: Session, axis: str = "money") -> dict[str, dict[str, list[float]]]:
    figure = client.get(f"{session.get_absolute_url()}timeline/?policy=chapter&axis={axis}").json()
    return {trace["name"]: trace for trace in figure["data"]}


def test_each_line_is_what_its_way_has_cost_so_far(signed_in: Client, project: Project) -> None:
    session = store(priced(), project)

    lines = money(signed_in, session)

    for way in (way for way in chapter_ways(session) if way.with_cache):
        wanted = accumulate(float(cost.total) for cost in way.costs or ())
        assert lines[way.label]["y"] == pytest.approx(list(wanted), abs=1e-6)


def test_dollars_run_along_minutes_too(signed_in: Client, project: Project) -> None:
    session = store(priced(4), project)

    assert money(signed_in, session, "minutes-money")["no compression"]["x"] == [0.0, 1.0, 2.0, 3.0]


def test_without_a_price_the_timeline_stays_in_tokens(signed_in: Client, project: Project) -> None:
    session = store(parsed(4), project)

    assert "without compression" in money(signed_in, session)


def test_without_a_price_the_switch_says_why(signed_in: Client, project: Project) -> None:
    html = signed_in.get(store(parsed(4), project).get_absolute_url() + "?axis=money").content.decode()

    assert "no dollars: no price is known for m-1" in html
    assert "Context over turns" in html


@pytest.mark.parametrize(
    ("axis", "along", "in_money"),
    [("turns", "turns", False), ("money", "turns", True), ("minutes-money", "minutes", True)],
)
def test_an_axis_has_two_halves(axis: str, along: str, in_money: bool) -> None:
    state = PageState("/s/", 0, axis=axis)  # type: ignore[arg-type]  # the parameters are such words

    assert (state.along, state.in_money) == (along, in_money)
    assert state.axis_of() == axis
    assert state.axis_of(unit="tokens") == along


def test_the_bar_has_one_box_for_each_call_that_wrote(project: Project) -> None:
    document = stored_replay(store(priced(10), project), CHAPTER)

    shapes = timeline(document, CHAPTER, "turns")["layout"]["shapes"]

    read, written = (shape["path"] for shape in shapes if shape.get("name", "").startswith("cache"))
    assert read == f"M0,{LOW:.4f}H9V{HIGH:.4f}H0Z"
    assert written.count("Z") == sum(write > 0 for write in document.cost.write)


def test_a_break_is_a_mark_and_is_told_in_the_hover(project: Project) -> None:
    document = stored_replay(store(paused(priced(20, lines=20), 12, 400), project), CHAPTER)

    figure = timeline(document, CHAPTER, "turns")

    said = next(trace for trace in figure["data"] if trace["name"] == "under policy")["customdata"]
    assert figure["layout"]["shapes"][-1]["path"].count("Z") == 1
    assert "sent anew: it had expired, idle for 7 min" in said[12]
    assert "sent anew" not in said[11]


def test_an_event_in_the_hover_names_its_first_changed_message(project: Project) -> None:
    document = stored_replay(store(priced(), project), CHAPTER)
    event = document.events[0]

    said = next(t for t in timeline(document, CHAPTER, "turns")["data"] if t["name"] == "under policy")["customdata"]

    assert f"an event changed it, first change: message #{event.first_changed_message}" in said[event.turn]


def test_zero_stands_above_the_bar(project: Project) -> None:
    figure = timeline(stored_replay(store(priced(10), project), CHAPTER), CHAPTER, "turns")

    low, high = figure["layout"]["yaxis"]["range"]
    assert round(-low / (high - low), 9) == figure["foot"] == FOOT


@pytest.mark.parametrize(
    ("top", "wanted"),
    [
        (6, [0, 2, 4, 6]),
        (0.5, [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (216_000, [0, 50_000, 100_000, 150_000, 200_000]),
        (0, [0]),
    ],
)
def test_ticks_are_round(top: float, wanted: list[float]) -> None:
    assert ticks(top) == wanted


def test_the_bar_has_the_points_of_the_lines_above(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MAX_POINTS", 20)
    document = stored_replay(store(priced(60, lines=30), project), PRESETS["none"])

    figure = timeline(document, PRESETS["none"], "turns")

    written = next(s for s in figure["layout"]["shapes"] if s.get("name") == "cache written")["path"]
    assert len(figure["turns"]) == 20
    assert written.count("Z") == sum(document.cost.write[t] > 0 for t in figure["turns"])


def test_the_table_has_what_the_bar_shows(signed_in: Client, project: Project) -> None:
    session = store(paused(priced(20, lines=20), 12, 400), project)
    ledger = stored_replay(session, CHAPTER).cost

    rows = signed_in.get(f"{session.get_absolute_url()}turns/?policy=chapter").context["turns_page"].rows

    assert [(row.cost.read, row.cost.write, row.cost.uncached) for row in rows] == list(
        zip(ledger.read, ledger.write, ledger.uncached, strict=True)
    )
    assert [row.cost.broke for row in rows if row.cost.broke] == ["it had expired"]


def test_the_table_in_dollars_has_every_line_of_the_picture(signed_in: Client, project: Project) -> None:
    session = store(priced(20, lines=20), project)
    lines = [way for way in chapter_ways(session) if way.with_cache]

    page = signed_in.get(f"{session.get_absolute_url()}turns/?policy=chapter&axis=money").context["turns_page"]

    assert [way.label for way in page.ways] == [way.label for way in lines]
    assert [row.cost.so_far for row in page.rows] == [
        [way.running[t] for way in lines if way.running] for t in range(20)
    ]
