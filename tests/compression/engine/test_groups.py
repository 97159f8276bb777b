"""Which messages leave together."""

from __future__ import annotations

from compression.engine.groups import groups_of, whole
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder


def test_a_call_and_its_result_are_one_group() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "done"))

    assert list(groups_of(session.build())) == [0, 1, 1]


def test_parallel_calls_and_all_their_results_are_one_group() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "one"), ("Bash", "two"), ("Read", "three"))

    assert list(groups_of(session.build())) == [0, 1, 1, 1, 1]


def test_a_response_that_the_log_splits_is_one_group_when_it_calls_a_tool() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "one"), responses=3)

    assert list(groups_of(session.build())) == [0, 1, 1, 1, 1]


def test_messages_without_a_call_stand_alone() -> None:
    session = SessionBuilder()
    session.user()
    session.turn()
    session.user()
    session.turn(responses=2)

    assert list(groups_of(session.build())) == [0, 1, 2, 3, 4]


def test_a_result_that_comes_later_than_its_turn_belongs_to_its_call() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "now"))
    session.user("meanwhile")
    session.add("tool", Part("tool_result", "late", "call-0-0", "Bash"))

    assert list(groups_of(session.build())) == [0, 1, 1, 3, 1]


def test_a_result_without_its_call_stands_alone() -> None:
    session = SessionBuilder()
    session.add("tool", Part("tool_result", "orphan", "nobody", "Bash"), flags=("orphan_result",))
    session.user()

    assert list(groups_of(session.build())) == [0, 1]


def test_a_call_id_used_again_joins_a_result_to_the_latest_call() -> None:
    session = SessionBuilder()
    session.user()
    for _ in range(2):
        session.turn(Part("tool_result", "done", "same", "Bash"))

    assert list(groups_of(session.build())) == [0, 1, 1, 3, 3]


def test_the_rest_of_a_group_is_found_within_a_window_only() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "one"), ("Bash", "two"))
    transcript = session.build()

    assert whole(transcript, [2], range(4)) == {1, 2, 3}
    assert whole(transcript, [2], range(2, 4)) == {2, 3}
