"""What starts an event, what holds it back, and what it may take first. Tokens are words, as in the ladder's tests."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from compression.engine.calibration import Calibration
from compression.engine.edits import Edit, Event
from compression.engine.planner import Known
from compression.engine.policy import Policy
from compression.engine.replay import Replay
from compression.engine.snapshots import digest
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder, run, small_policy, words


def calls(*sizes: int, text: str = "ok") -> SessionBuilder:
    session = SessionBuilder()
    session.user()
    for n, size in enumerate(sizes):
        session.turn(("Bash", words(size, f"r{n}w")), text=text)
    session.turn()
    return session


def kinds(done: Replay) -> list[tuple[int, str]]:
    return [(event.turn, event.kind) for event in done.events]


def edits(done: Replay) -> list[Edit]:
    return [edit for event in done.events for edit in event.edits]


# -- trigger, target, smallest gain


def test_the_trigger_is_passed_before_a_call_in_the_middle_of_a_long_run_of_tools() -> None:
    done = run(calls(*[500] * 12), small_policy())

    # One user request, thirteen calls: the events lie before calls, not after the run.
    assert kinds(done) == [(6, "compress"), (9, "compress"), (12, "compress")]
    assert all(map(done.fits, range(13)))


def test_between_target_and_trigger_many_calls_pass_without_an_event() -> None:
    done = run(calls(*[150] * 60), small_policy())

    turns = [event.turn for event in done.events if event.changes]
    assert min(later - earlier for earlier, later in pairwise(turns)) > 3


@pytest.mark.parametrize(("least", "kind"), [(853, "compress"), (854, "skip")])
def test_an_event_happens_from_the_smallest_gain_on(least: int, kind: str) -> None:
    # The stub of 900 words has 47: 853 are freed.
    done = run(calls(900, 2_100), small_policy(recent_tokens=2_200, min_reclaim_tokens=least))

    assert kinds(done) == [(2, kind)]
    if kind == "skip":
        assert done.events[0].reason == f"would free 853 tokens, fewer than {least}"


@pytest.mark.parametrize(("last", "kind"), [(3_503, "skip"), (3_504, "compress")])
def test_above_ninety_two_percent_the_smallest_gain_is_not_asked(last: int, kind: str) -> None:
    done = run(calls(150, last), small_policy(recent_tokens=3_600, min_reclaim_tokens=1_000))

    assert (done.windows_before[2] > 0.92 * 4_000) is (kind == "compress")
    assert kinds(done) == [(2, kind)]


def test_a_floor_above_the_target_is_recorded_and_no_event_follows_at_every_call() -> None:
    policy = small_policy(ladder=True, min_reclaim_tokens=400, recent_tokens=150, thrash_guard=False)

    done = run(calls(600, *[120] * 12), policy, Calibration(hidden=2_900))

    acting = [event for event in done.events if event.changes]
    assert acting[0].target_unreachable == acting[0].after
    assert all(event.reclaimed >= 400 or event.usage_ratio > 0.92 for event in acting)
    assert len(acting) <= 4


def test_a_rung_waits_at_the_floor_as_events_do() -> None:
    policy = small_policy(ladder=True, min_reclaim_tokens=400, recent_tokens=150)

    # Hidden tokens alone lie at 85 %: every few calls come to 90 % again.
    done = run(calls(*[120] * 40), policy, Calibration(hidden=3_400))

    acting = [event for event in done.events if event.changes and event.usage_ratio <= 1]
    assert len([event for event in acting if event.reclaimed < 400]) <= 1


# -- thrash


def thrashing(**fields: Any) -> Replay:
    policy = small_policy(
        **(
            {
                "context_window": 10_000,
                "trigger_ratio": 0.5,
                "target_ratio": 0.45,
                "recent_tokens": 130,
                "min_reclaim_tokens": 0,
                "ladder": True,
            }
            | fields
        )
    )
    session = calls(*[120] * 20)
    for n in range(30):
        session.turn(("Bash", words(99, f"m{n}x")), text=words(100, f"t{n}x"))
    session.turn()
    return run(session, policy, Calibration(hidden=4_500))


def test_after_three_poor_events_in_a_row_nothing_is_compressed_until_messages_leave() -> None:
    done = thrashing()

    order = [event.kind for event in done.events]
    stop = order.index("stopped")
    assert order[:stop].count("compress") == 3
    assert order[stop + 1] == "truncate"
    assert done.events[stop + 1].usage_ratio > 0.9


def test_once_messages_left_compression_goes_on_and_counts_anew() -> None:
    done = thrashing()

    order = [event.kind for event in done.events]
    left, stops = order.index("truncate"), [n for n, kind in enumerate(order) if kind == "stopped"]
    between = [event.turn for event in done.events[left : stops[1]] if event.kind in ("compress", "aggressive")]
    assert len(stops) == 2
    assert len({*between}) == 3


def test_rungs_that_free_little_call_by_call_are_thrash_as_well() -> None:
    done = thrashing()

    left = [event.kind for event in done.events].index("truncate")
    assert [event.kind for event in done.events[left + 1 :]] == ["aggressive"] * 3 + ["stopped"]


def test_the_alarm_says_at_which_call_compression_stopped() -> None:
    done = thrashing()

    turn = next(event.turn for event in done.events if event.kind == "stopped")
    assert done.alarms[0] == f"turn {turn}: 3 events in a row freed less than 10% each: compression stopped"


def test_one_good_event_between_poor_ones_stops_nothing() -> None:
    session = calls(*[120] * 4, 1_300, *[120] * 3)

    done = run(
        session,
        small_policy(
            context_window=10_000, trigger_ratio=0.5, target_ratio=0.45, recent_tokens=130, min_reclaim_tokens=0
        ),
        Calibration(hidden=4_600),
    )

    assert [event.reclaimed >= 0.1 * event.before for event in done.events] == [False, False, True, False, False]
    assert {event.kind for event in done.events} == {"compress"}


# -- arrival


@pytest.mark.parametrize(("size", "kind"), [(500, []), (501, [(1, "arrival")])])
def test_a_result_over_the_arrival_limit_is_stubbed_before_it_is_sent(size: int, kind: list[tuple[int, str]]) -> None:
    done = run(calls(size), small_policy(arrival_limit_tokens=500))

    assert kinds(done) == kind


def test_an_arrival_costs_no_cache() -> None:
    session = calls(50, 900, 50)
    done = run(session, small_policy(arrival_limit_tokens=500))

    (event,) = done.events
    sent = done.course.windows[event.turn - 1].end
    assert event.first_changed_message is not None
    assert event.first_changed_message >= sent


def test_an_arrived_stub_is_what_the_recent_zone_protects() -> None:
    done = run(calls(900, 700, 2_300, text="x"), small_policy(arrival_limit_tokens=800, recent_tokens=1_000))

    arrived = {edit.message for event in done.events if event.kind == "arrival" for edit in event.edits}
    assert arrived == {2, 6}
    assert done.zones_at(3).of_message(6) == "recent"


# -- adaptive recent zone


def test_the_adaptive_zone_protects_as_far_back_as_the_agent_refers() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Read", "class PoolWorker in src/pool.py\n" + words(200)))
    session.turn(("Read", words(1_200, "x")), text="next")
    session.turn(("Read", words(900, "y")), text="PoolWorker is wrong")
    session.turn(("Read", words(900, "z")), text="PoolWorker again")
    session.turn()
    wide = small_policy(recent_mode="adaptive", recent_min=50, recent_max=2_000, recent_tokens=80)

    done = run(session, wide)

    assert done.budgets[-1] > 1_000
    assert done.budgets[-1] != run(session, small_policy(recent_tokens=80)).budgets[-1]


# -- reserve, selection


def test_room_for_the_answer_is_kept_free() -> None:
    session = calls(987, 987, 987)

    assert run(session, small_policy(reserve_output=1)).events == ()
    assert kinds(run(session, small_policy(reserve_output=2))) == [(3, "compress")]
    full = run(calls(3_900), small_policy(reserve_output=200))
    assert full.windows_after[1] < 4_000
    assert not full.fits(1)


@pytest.mark.parametrize(
    ("selection", "order"),
    [("largest_first", [[4, 2]]), ("oldest_first", [[2, 4]]), ("all", [[4, 2, 6]])],
)
def test_the_selection_says_which_results_go_first(selection: Any, order: list[list[int]]) -> None:
    done = run(calls(700, 1_000, 600, 700, 100, 600), small_policy(selection=selection))

    assert [[edit.message for edit in event.edits] for event in done.events if event.edits] == order


# -- what goes first


def rereads() -> SessionBuilder:
    """A file read twice between two larger results."""
    session = SessionBuilder()
    session.user()
    file = words(800, "file")
    session.turn(("Bash", words(900, "a")))
    session.turn(("Read", file), arguments='{"file_path": "/repo/pool.py"}')
    session.turn(("Bash", words(500, "b")))
    session.turn(("Read", file), arguments='{"file_path": "/repo/pool.py"}')
    session.turn(("Bash", words(50, "c")))
    session.turn()
    return session


def test_what_stands_again_in_a_newer_message_goes_before_larger_results() -> None:
    done = run(rereads(), small_policy(superseded=True, target_ratio=0.74))

    (edit,) = edits(done)
    assert (edit.message, edit.kind) == (4, "superseded")
    assert edit.reason == "superseded: same text in message 8"
    assert edit.newer == 8


def test_without_superseded_the_largest_goes_first() -> None:
    done = run(rereads(), small_policy(superseded=False, target_ratio=0.74))

    assert [(edit.message, edit.kind) for edit in edits(done)] == [(2, "stub")]


def test_a_superseded_result_points_at_a_message_that_the_event_leaves_whole() -> None:
    done = run(rereads(), small_policy(superseded=True, selection="all", recent_tokens=100))

    assert [(edit.message, edit.kind) for edit in edits(done) if edit.message in (4, 8)] == [(4, "superseded")]


def test_a_call_that_a_superseded_result_points_at_keeps_its_arguments_in_that_event() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(50)))
    session.turn(("Read", words(900, "old")), arguments='{"file_path": "/repo/pool.py"}')
    for path in ("/repo/pool.py", "/repo/other.py"):
        arguments = json.dumps({"file_path": path, "content": words(900, path.removesuffix(".py"))})
        session.turn(("Write", "written"), arguments=arguments)
    session.turn(("Bash", words(600, "c")))
    session.turn()

    done = run(session, small_policy(superseded=True, max_argument_tokens=100, target_ratio=0.1, trigger_ratio=0.6))

    read, *others = edits(done)
    assert (read.message, read.kind, read.newer) == (4, "superseded", 5)
    assert [(edit.message, edit.kind) for edit in others] == [(7, "arguments")]


def test_a_read_whose_file_was_edited_since_ranks_before_larger_results() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(1_200, "a")))
    session.turn(("Read", words(900, "file")), arguments='{"file_path": "/repo/pool.py"}')
    session.turn(
        ("Edit", "The file has been updated."),
        arguments='{"file_path": "/repo/pool.py", "old_string": "a", "new_string": "b"}',
    )
    session.turn(("Bash", words(900, "c")))
    session.turn()

    stale = run(session, small_policy(superseded=True, target_ratio=0.6))

    assert [(edit.message, edit.kind) for edit in edits(stale)] == [(4, "stub")]
    assert [edit.message for edit in edits(run(session, small_policy(target_ratio=0.6)))] == [2]


def writing(policy: Policy) -> Replay:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(50)))
    for n in range(3):
        arguments = json.dumps({"file_path": f"/repo/a{n}.py", "content": words(900, f"a{n}x")})
        session.turn(("Write", "done"), arguments=arguments)
    session.turn(("Bash", words(400)))
    session.turn()
    return run(session, policy)


def test_long_arguments_of_old_calls_are_shortened_where_results_are_not_enough() -> None:
    done = writing(small_policy(max_argument_tokens=200, context_window=3_800))

    found = edits(done)
    assert {edit.kind for edit in found} == {"arguments"}
    assert [edit.message for edit in found] == [3, 5]
    assert all(json.loads(edit.text)["file_path"].startswith("/repo/a") for edit in found)
    assert all(edit.tokens_after <= 201 for edit in found)


def test_arguments_stay_as_they_are_unless_the_policy_says_so() -> None:
    assert kinds(writing(small_policy(context_window=3_800))) == [(5, "skip")]


def thoughtful(signature: str, policy: Policy) -> list[tuple[int, int, str]]:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(20)))
    for n in range(3):
        session.turn(("Bash", words(20)))
        call = session.messages[-2]
        thinking = Part("thinking", words(950, f"h{n}x"), signature=signature)
        session.messages[-2] = replace(call, parts=(thinking, *call.parts))
    session.turn(("Bash", words(400)))
    session.turn()
    return [(edit.message, edit.part, edit.kind) for edit in edits(run(session, policy))]


def test_old_thinking_goes_when_the_policy_says_so() -> None:
    assert thoughtful("", small_policy(clear_thinking=True)) == [(3, 0, "thinking"), (5, 0, "thinking")]
    assert thoughtful("", small_policy()) == []


def test_signed_thinking_never_goes() -> None:
    assert thoughtful("signed", small_policy(clear_thinking=True)) == []
    assert [e for e in thoughtful("signed", small_policy(clear_thinking=True, ladder=True)) if e[2] == "thinking"] == []


# -- frozen, known, recalled


def test_no_event_changes_a_stub() -> None:
    done = run(calls(*[900] * 10), small_policy(min_result_tokens=20))

    places = [(edit.message, edit.part) for edit in edits(done)]
    assert len([event for event in done.events if event.edits]) >= 3
    assert len(places) == len({*places})


def compressed_before() -> tuple[SessionBuilder, Known, dict[str, str]]:
    """A session whose first result is a stub of an earlier compression, with what the caller's store knows."""
    original = words(1_800, "orig")
    stub = "[compressed log · 180 lines · 1,800 -> 600 tokens · original hermes:0123456789ab]\n" + words(600, "kept")
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", stub))
    session.turn(("Bash", words(1_400, "b")))
    session.turn(("Bash", words(1_200, "c")))
    session.turn()
    store = {digest(original): original}
    return session, Known({digest(stub): digest(original)}, store.get), store


def test_a_stub_that_came_with_the_session_stays_byte_for_byte() -> None:
    session, known, _ = compressed_before()

    done = run(session, small_policy(selection="all"), known=known)

    assert [edit.message for edit in edits(done)] == [4]


def test_a_known_stub_that_stands_twice_is_not_superseded() -> None:
    session = SessionBuilder()
    session.user()
    stub = words(700, "kept")
    for text in (stub, words(900, "b"), stub, words(600, "c"), words(250, "d")):
        session.turn(("Bash", text))
    session.turn()
    policy = small_policy(superseded=True, selection="all")

    assert (2, "superseded") in {(edit.message, edit.kind) for edit in edits(run(session, policy))}
    done = run(session, policy, known=Known({digest(stub): "0" * 64}))
    assert {edit.message for edit in edits(done)} == {4, 8}


def test_a_text_that_only_looks_like_a_stub_is_text() -> None:
    session, _, _ = compressed_before()

    done = run(session, small_policy(selection="all"))

    assert [edit.message for edit in edits(done)] == [4, 2]


def test_only_the_ladder_makes_a_known_stub_shorter_and_from_its_original() -> None:
    session, known, store = compressed_before()
    for n in range(3):
        session.turn(("Bash", words(90, f"s{n}x")), text=words(800, f"t{n}x"))
    session.turn()

    done = run(session, small_policy(ladder=True), known=known)

    (edit,) = [edit for edit in edits(done) if edit.message == 2]
    event = next(event for event in done.events if edit in event.edits)
    assert event.kind == "aggressive"
    assert edit.sha256 in store
    assert edit.text.startswith("[compressed ")
    assert "orig1799" in edit.text
    assert "180 lines · 1,800 -> " in edit.text


def test_a_known_stub_whose_original_is_gone_stays_even_on_the_ladder() -> None:
    session, known, store = compressed_before()
    for n in range(3):
        session.turn(("Bash", words(90, f"s{n}x")), text=words(800, f"t{n}x"))
    session.turn()
    store.clear()

    done = run(session, small_policy(ladder=True), known=known)

    assert "aggressive" in {event.kind for event in done.events}
    assert 2 not in {edit.message for edit in edits(done)}


def test_known_arguments_are_made_shorter_from_their_original_too() -> None:
    original = json.dumps({"file_path": "/repo/a.py", "content": words(900, "line")})
    stub = json.dumps({"file_path": "/repo/a.py", "content": words(300, "line") + " … [left out] …"})
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(20)))
    session.turn(("Write", "done"), arguments=stub)
    for n in range(3):
        session.turn(("Bash", words(90, f"s{n}x")), text=words(850, f"t{n}x"))
    session.turn()
    known = Known({digest(stub): digest(original)}, {digest(original): original}.get)

    done = run(session, small_policy(ladder=True, max_argument_tokens=50), known=known)

    found = [(edit.kind, edit.sha256) for edit in edits(done) if edit.message == 3]
    assert found == [("arguments", digest(original))]


@pytest.mark.parametrize(("between", "kept"), [(7, True), (12, False)])
def test_what_was_recalled_is_held_for_ten_calls(between: int, kept: bool) -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("mcp__hermes__recall", words(1_500, "back")))
    for n in range(between):
        session.turn(("Bash", words(20, f"s{n}x")))
    session.turn(("Bash", words(1_300, "a")))
    session.turn(("Bash", words(1_000, "b")))
    session.turn()

    done = run(session, small_policy(selection="all"))

    assert done.events[0].turn == between + 2
    assert (2 not in {edit.message for edit in edits(done)}) is kept


# -- no harm


def test_an_event_that_happened_says_how_many_calls_it_lasted() -> None:
    done = run(calls(*[500] * 12), small_policy())

    assert [(event.turn, event.calls_after) for event in done.events] == [(6, 2), (9, 2), (12, 0)]


def test_nothing_of_an_event_depends_on_what_came_after() -> None:
    session = calls(*[500] * 8)
    before = run(session, small_policy(ladder=True)).events
    for n in range(8):
        session.turn(("Bash", words(500, f"later{n}x")))
    session.turn()

    after = run(session, small_policy(ladder=True)).events

    def without_future(events: tuple[Event, ...]) -> list[Event]:
        return [replace(event, calls_after=0, repeats=0) for event in events]

    assert without_future(after)[: len(before)] == without_future(before)
