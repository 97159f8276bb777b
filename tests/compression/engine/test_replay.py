"""When an event happens and what it does. Tokens are words; a result costs its words and 4, a call 7, a prompt 5."""

from __future__ import annotations

from typing import Any

import pytest

from compression.engine.calibration import Calibration
from compression.engine.edits import Event
from compression.engine.history import Course
from compression.engine.planner import Known
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.engine.snapshots import digest
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder, run, small_policy, stubber, words


def calls(*sizes: int, model: str = "", **builder: Any) -> SessionBuilder:
    """A prompt, then a call for each size with a result of so many words, then an answer."""
    session = SessionBuilder(model=model, **builder)
    session.user()
    for n, size in enumerate(sizes):
        session.turn(("Bash", words(size, f"r{n}w")))
    session.turn()
    return session


def changes(done: Replay) -> list[tuple[int, list[int]]]:
    return [(event.turn, [edit.message for edit in event.edits]) for event in done.events if event.edits]


def kinds(done: Replay) -> list[tuple[int, str]]:
    return [(event.turn, event.kind) for event in done.events]


def test_a_window_at_the_trigger_is_left_alone() -> None:
    # 5 + 3 x (7 + 4 + words) = 3,000 = 75 % of 4,000.
    done = run(calls(987, 987, 988), small_policy())

    assert done.windows_before == (5, 1_003, 2_001, 3_000)
    assert done.events == ()


def test_an_event_starts_above_the_trigger_and_ends_at_the_target() -> None:
    done = run(calls(987, 987, 989), small_policy())

    (event,) = done.events
    assert (event.turn, event.kind, event.before, event.usage_ratio) == (3, "compress", 3_001, 0.75025)
    # 1,001 words have to go; one stub frees 987 less its own words. The last result is recent.
    assert [edit.message for edit in event.edits] == [2, 4]
    assert event.after == 3_001 - sum(edit.tokens_before - edit.tokens_after for edit in event.edits)
    assert event.after <= 2_000
    assert event.reclaimed == event.before - event.after
    assert event.target_unreachable is None


def test_the_largest_results_go_first() -> None:
    done = run(calls(700, 1_000, 600, 700, 100, 600), small_policy())

    assert changes(done) == [(4, [4, 2])]


def test_the_oldest_results_go_first_when_the_policy_says_so() -> None:
    done = run(calls(700, 1_000, 600, 700, 100, 600), small_policy(selection="oldest_first"))

    assert changes(done) == [(4, [2, 4])]


def test_one_rare_cut_takes_all() -> None:
    done = run(calls(700, 1_000, 600, 700, 100, 600), small_policy(selection="all"))

    assert changes(done) == [(4, [4, 2, 6])]


def test_results_at_the_smallest_size_stay() -> None:
    done = run(calls(1_500, 100, 1_300, 200), small_policy(min_result_tokens=1_300, selection="all"))

    assert changes(done) == [(4, [2])]


def test_room_for_the_answer_counts_as_used() -> None:
    policy = small_policy(reserve_output=2)

    done = run(calls(987, 987, 988), policy)

    assert done.events[0].usage_ratio == 0.7505
    assert done.usage(done.windows_after[3]) == (done.windows_after[3] + 2) / 4_000


def test_the_calibrated_window_triggers_and_the_uncalibrated_one_is_counted() -> None:
    done = run(calls(500, 500, 500), small_policy(), Calibration(k=1.5, hidden=800))

    assert done.windows_before == (808, 1_574, 2_340, 3_107)
    assert [event.before for event in done.events] == [3_107]
    (edit, *_) = done.events[0].edits
    assert edit.tokens_before == 500


def test_the_first_edit_and_what_survives_before_it() -> None:
    done = run(calls(300, 1_200, 700, 774), small_policy())

    (event,) = done.events
    assert changes(done) == [(4, [4])]
    assert event.first_changed_message == 4
    # 5 + 7 + 304 + 7 of 3,023 tokens lie before message 4.
    assert (event.before, event.cache_prefix_survival) == (3_023, round(323 / 3_023, 6))


def test_an_event_that_frees_too_little_is_skipped_and_recorded_once_for_all_its_calls() -> None:
    done = run(calls(150, 2_950, 20, 20), small_policy(recent_tokens=3_000, min_reclaim_tokens=200))

    (event,) = [event for event in done.events if event.turn < 4]
    assert (event.turn, event.kind, event.edits, event.repeats) == (2, "skip", (), 1)
    assert event.before == event.after == done.windows_before[2]


@pytest.mark.parametrize(("last", "kind"), [(3_490, "skip"), (3_560, "compress")])
def test_near_the_limit_an_event_goes_ahead_however_little_it_frees(last: int, kind: str) -> None:
    done = run(calls(150, last), small_policy(recent_tokens=3_600, min_reclaim_tokens=1_000))

    assert kinds(done) == [(2, kind)]


def test_a_skip_says_what_is_in_the_way() -> None:
    too_little = run(calls(150, 2_950), small_policy(recent_tokens=3_000, min_reclaim_tokens=3_000))
    nothing = run(calls(90, 2_950), small_policy(recent_tokens=3_000))
    sacred = run(calls(3_100), small_policy())

    assert too_little.events[0].reason.startswith("would free ")
    assert nothing.events[0].reason == "nothing left to compress"
    assert sacred.events[0].reason == "everything is sacred"


def test_a_target_below_the_floor_is_recorded_and_the_next_event_waits() -> None:
    policy = small_policy(min_reclaim_tokens=300, recent_tokens=150)

    done = run(calls(600, *[120] * 6), policy, Calibration(hidden=3_000))

    # Hidden and sacred tokens alone lie above the target of 2,000. Each stub of 120 words frees 93 of them,
    # so that four results have to come together before an event is worth it.
    events = [event for event in done.events if event.edits]
    assert [(event.turn, event.target_unreachable) for event in events] == [(2, 3_184), (6, 3_336)]
    assert [event.after for event in events] == [3_184, 3_336]
    assert kinds(done) == [(0, "skip"), (2, "compress"), (3, "skip"), (6, "compress"), (7, "skip")]


def test_an_event_that_makes_an_overfull_request_fit_is_not_put_off() -> None:
    policy = small_policy(min_reclaim_tokens=1_000, recent_tokens=150)

    done = run(calls(600, *[120] * 16), policy, Calibration(hidden=3_000))

    forced = [(event.turn, event.before > 4_000, event.reclaimed < 1_000) for event in done.events if event.edits]
    assert forced == [(2, False, True), (9, True, True), (14, True, True), (17, True, True)]
    assert all(map(done.fits, range(18)))


def test_three_events_in_a_row_that_free_little_stop_compression() -> None:
    policy = small_policy(
        context_window=10_000, trigger_ratio=0.5, target_ratio=0.45, recent_tokens=130, min_reclaim_tokens=0
    )

    done = run(calls(*[120] * 20), policy, Calibration(hidden=4_500))

    events = [event for event in done.events if event.kind == "compress"]
    assert len(events) == 3
    assert all(event.reclaimed < 0.1 * event.before for event in events)
    assert [event.kind for event in done.events][-1] == "stopped"
    assert done.alarms == (f"turn {events[-1].turn}: 3 events in a row freed less than 10% each: compression stopped",)


def test_without_the_guard_it_goes_on() -> None:
    policy = small_policy(
        context_window=10_000,
        trigger_ratio=0.5,
        target_ratio=0.45,
        recent_tokens=130,
        min_reclaim_tokens=0,
        thrash_guard=False,
    )

    done = run(calls(*[120] * 20), policy, Calibration(hidden=4_500))

    assert len([event for event in done.events if event.kind == "compress"]) > 3
    assert done.alarms == ()


def test_a_huge_result_can_be_stubbed_before_it_was_ever_sent() -> None:
    done = run(calls(50, 900, 50), small_policy(arrival_limit_tokens=500))

    (event,) = done.events
    assert (event.turn, event.kind, [edit.message for edit in event.edits]) == (2, "arrival", [4])
    assert event.edits[0].reason == "larger than the arrival limit"
    assert done.windows_before[2] - done.windows_after[2] == event.reclaimed
    assert done.zones_at(2).of_message(4) == "recent"


def test_a_result_at_the_arrival_limit_stays() -> None:
    assert run(calls(500), small_policy(arrival_limit_tokens=500)).events == ()


def test_a_pinned_result_arrives_whole() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("recall", words(900)))
    session.turn()

    assert run(session, small_policy(arrival_limit_tokens=500)).events == ()
    assert changes(run(session, small_policy(arrival_limit_tokens=500, recall_hold_turns=0))) == [(1, [2])]


def test_a_stub_is_frozen() -> None:
    done = run(calls(*[900] * 8), small_policy(min_result_tokens=20))

    edited = [edit.message for event in done.events for edit in event.edits]
    assert len(changes(done)) > 1
    assert len(edited) == len(set(edited))


def test_a_known_stub_stays_as_it_is() -> None:
    session = calls(900, 1_000, 1_200)
    stub = session.messages[4].parts[0].text

    done = run(session, small_policy(selection="all"), known=Known({digest(stub): ""}))

    assert changes(run(session, small_policy(selection="all"))) == [(3, [4, 2])]
    assert changes(done) == [(3, [2])]


def test_a_pinned_result_is_taken_when_its_time_is_over() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("recall", words(1_500)))
    for n in range(3):
        session.turn(("Bash", words(700, f"w{n}x")))
    session.turn()

    assert changes(run(session, small_policy(recall_hold_turns=2)))[0] == (4, [2, 4])
    assert 2 not in changes(run(session, small_policy(recall_hold_turns=9)))[0][1]


def test_the_adaptive_recent_zone_follows_the_references_so_far() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Read", "class PoolWorker in src/pool.py\n" + words(200)))
    session.turn(("Read", words(300, "x")), text="next")
    session.turn(("Read", "short"), text="PoolWorker is wrong")
    session.turn(("Read", "short"), text="next")
    session.turn()
    policy = small_policy(recent_mode="adaptive", recent_min=50, recent_max=1_000, recent_tokens=80)

    budgets = run(session, policy).budgets

    # The name's result ends at 221; the response that uses it begins at 5 + 7 + 211... = one call and 304 later.
    assert budgets == (80, 80, 80, 311, 311)
    shorter = SessionBuilder()
    shorter.messages, shorter.turns = session.messages[:7], session.turns[:3]
    assert run(shorter, policy).budgets == budgets[:3]


def test_what_a_session_refers_to_is_read_once_for_all_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Course] = []

    def distances(course: Course) -> list[tuple[int, int]]:
        read.append(course)
        return []

    monkeypatch.setattr("compression.engine.distances.reference_distances", distances)
    transcript = calls(300, 1_200).build()

    for low in (50, 60):
        replay(transcript, small_policy(recent_mode="adaptive", recent_min=low), Calibration(), stubber=stubber())

    assert len(read) == 1


@pytest.mark.parametrize(("low", "high", "budget"), [(50, 200, 200), (400, 1_000, 400)])
def test_the_adaptive_zone_stays_within_its_bounds(low: int, high: int, budget: int) -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Read", "class PoolWorker in src/pool.py\n" + words(200)))
    session.turn(("Read", words(300, "x")), text="next")
    session.turn(text="PoolWorker is wrong")
    session.turn()
    policy = small_policy(recent_mode="adaptive", recent_min=low, recent_max=high, recent_tokens=80)

    assert run(session, policy).budgets[-1] == budget


def test_sliding_takes_the_oldest_result_whenever_it_is_over_the_trigger() -> None:
    policy = PRESETS["sliding-window"].model_copy(
        update={"context_window": 4_000, "recent_tokens": 300, "min_result_tokens": 100, "result_floor": 20}
    )

    done = run(calls(987, 987, 989, 989, 989), policy)

    assert changes(done) == [(3, [2]), (4, [4]), (5, [6])]


def test_the_policy_none_does_nothing() -> None:
    done = run(calls(5_000, 5_000), PRESETS["none"])

    assert done.events == ()
    assert done.windows_after == done.windows_before


def test_calls_after_an_event_are_those_until_the_next_one() -> None:
    done = run(calls(*[900] * 8), small_policy())

    turns = [event.turn for event in done.events]
    ends = [*turns[1:], 9]
    assert [event.calls_after for event in done.events] == [
        end - turn - 1 for turn, end in zip(turns, ends, strict=True)
    ]


def recorded_session() -> SessionBuilder:
    """0 system, 1 prompt, 2-3, 4-5 calls and results of 400 words; 6 summary; 7-8, 9 answer."""
    session = SessionBuilder()
    session.system()
    session.user()
    session.turn(("Bash", words(400)))
    session.turn(("Bash", words(400, "x")))
    session.boundary("compact", summary_message=6)
    session.user("what was done", "compact_summary")
    session.turn(("Bash", words(50)))
    session.turn()
    return session


def test_recorded_shows_what_the_agent_did_against_the_whole_history() -> None:
    done = run(recorded_session(), PRESETS["recorded"])

    (event,) = done.events
    assert (event.turn, event.kind, event.reason) == (2, "recorded", "compact")
    assert event.left == (1, 2, 3, 4, 5)
    assert (event.before, event.after) == (839, 12)
    assert event.first_changed_message == 1
    assert done.windows_before == (10, 421, 832, 893)
    assert done.windows_after == (10, 421, 12, 73)
    assert done.course.history == "as-recorded"


def test_recorded_blanks_what_the_agent_blanked() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(400)))
    session.boundary("micro", cleared_call_ids=("call-0-0",))
    session.turn()
    session.turn()

    done = run(session, PRESETS["recorded"])

    (event,) = done.events
    assert [(edit.message, edit.kind, edit.tokens_before, edit.tokens_after) for edit in event.edits] == [
        (2, "cleared", 400, 8)
    ]
    assert done.windows_before == (5, 416, 421)
    assert done.windows_after == (5, 24, 29)


def test_as_recorded_a_policy_works_on_what_the_agent_left() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(400)))
    session.boundary("micro", cleared_call_ids=("call-0-0",))
    session.turn()
    for n in range(4):
        session.turn(("Bash", words(800, f"w{n}x")))
    session.turn()

    done = run(session, small_policy(), history="as-recorded")

    assert done.windows_before[1] == 24
    assert [event.kind for event in done.events] == ["recorded", "compress"]
    assert [edit.message for edit in done.events[1].edits] == [5, 7]


def test_what_left_the_window_is_no_candidate_any_more() -> None:
    session = recorded_session()
    for n in range(4):
        session.turn(("Bash", words(900, f"w{n}x")))
    session.turn()

    done = run(session, small_policy(selection="all"), history="as-recorded")

    assert [event.kind for event in done.events] == ["recorded", "compress"]
    assert min(edit.message for edit in done.events[1].edits) > 6


def test_results_without_a_shorter_stub_stay() -> None:
    session = SessionBuilder()
    session.user()
    for n in range(4):
        session.turn(Part("tool_result", " ".join("abcdefghij"[n] for _ in range(30)), f"c{n}", "Bash"))
    session.turn()

    done = run(session, small_policy(context_window=1_000, trigger_ratio=0.1, target_ratio=0.05, min_result_tokens=20))

    assert [event.kind for event in done.events] == ["skip"]


def test_a_session_without_a_call_has_no_turn() -> None:
    session = SessionBuilder()
    session.user()

    done = run(session, small_policy())

    assert (done.windows_after, done.events) == ((), ())


def test_an_event_is_told_apart_by_its_figures() -> None:
    assert Event(3, "compress", 100, 40).reclaimed == 60
