from __future__ import annotations

from dataclasses import replace
from math import sin

from compression.engine.presets import PRESETS
from compression.figures import timeline
from compression.replays import stored_replay
from compression.sampling import sampled
from compression.treemap import tiles
from sessions.importers.parsed import ParsedTurn
from sessions.models import Project
from tests.compression.sessions import parsed, store, with_event

CHAPTER = PRESETS["chapter"]


def test_the_stack_adds_up_to_the_window_without_a_policy(project: Project) -> None:
    document = stored_replay(with_event(project), CHAPTER)

    figure = timeline(document, CHAPTER, "turns")

    areas = [trace["y"] for trace in figure["data"] if trace.get("stackgroup") == "window"]
    assert [sum(column) for column in zip(*areas, strict=True)] == document.table.before


def test_the_line_under_the_policy_is_the_window_after(project: Project) -> None:
    document = stored_replay(with_event(project), CHAPTER)

    line = next(t for t in timeline(document, CHAPTER, "turns")["data"] if t["name"] == "under policy")

    assert line["y"] == document.table.after


def test_markup_in_a_tools_name_is_text_in_the_hover(project: Project) -> None:
    session = parsed(1)
    text, call = session.messages[1].parts
    session.messages[1].parts[:] = [text, replace(call, name='<a href="http://x">\x1b')]
    document = stored_replay(store(session, project), CHAPTER)

    line = next(t for t in timeline(document, CHAPTER, "turns")["data"] if t["name"] == "under policy")

    assert line["customdata"][0].partition("<br>")[0] == '&lt;a href="http://x"&gt;‹ESC›'


def test_minutes_are_the_axis_when_asked_for(project: Project) -> None:
    document = stored_replay(store(parsed(4), project), CHAPTER)

    assert timeline(document, CHAPTER, "minutes")["at"] == [0.0, 1.0, 2.0, 3.0]


def test_a_log_without_times_keeps_turns_as_its_axis(project: Project) -> None:
    document = stored_replay(store(parsed(4, with_times=False), project), CHAPTER)

    assert timeline(document, CHAPTER, "minutes")["at"] == [0, 1, 2, 3]


def test_every_exchange_is_as_wide_as_another(project: Project) -> None:
    session = parsed(3, lines=2)
    more = parsed(2, lines=2)
    start = len(session.messages)
    session.messages += more.messages
    session.turns += [
        ParsedTurn(t.request_end + start, t.response_end + start, t.results_end + start) for t in more.turns
    ]
    document = stored_replay(store(session, project), CHAPTER)

    figure = timeline(document, CHAPTER, "exchanges")

    assert figure["at"] == [1.0, 1.3333, 1.6667, 2.0, 2.5]


def test_one_prompt_makes_no_exchanges(project: Project) -> None:
    document = stored_replay(store(parsed(3), project), CHAPTER)

    assert document.exchange_places is None
    assert timeline(document, CHAPTER, "exchanges")["at"] == [0, 1, 2]


def test_recorded_context_is_a_line_of_its_own(project: Project) -> None:
    document = stored_replay(store(parsed(4, with_usage=True), project), CHAPTER)

    line = next(t for t in timeline(document, CHAPTER, "turns")["data"] if t["name"] == "recorded")

    assert line["y"] == [5_000, 6_000, 7_000, 8_000]


def test_few_points_are_left_alone() -> None:
    assert sampled([3.0, 1.0, 2.0], 3) == [0, 1, 2]


def test_many_points_become_the_limit_and_keep_the_peak() -> None:
    values = [sin(i / 900) for i in range(10_000)]
    values[4_321] = 9.0

    chosen = sampled(values, 500)

    assert len(chosen) == 500
    assert (chosen[0], chosen[-1]) == (0, 9_999)
    assert 4_321 in chosen


def test_what_must_stay_stays() -> None:
    assert {17, 4_444} < set(sampled([0.0] * 10_000, 100, keep=(17, 4_444)))


def test_tiles_have_the_areas_of_their_values() -> None:
    values = [60, 25, 10, 4, 1]

    areas = [tile.width * tile.height / 100 for tile in tiles(values)]

    assert [round(area, 6) for area in areas] == values


def test_tiles_lie_inside_the_drawing() -> None:
    for tile in tiles([5, 4, 3, 3, 2, 1, 1, 1, 1]):
        assert tile.left >= 0
        assert tile.top >= 0
        assert round(tile.left + tile.width, 6) <= 100
        assert round(tile.top + tile.height, 6) <= 100
