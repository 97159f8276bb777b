"""Repeated calls counted by hand: small sessions in which the agent compacted and asked again."""

from __future__ import annotations

from typing import Any

import pytest

from compression.engine.history import course_of
from compression.engine.repeat_reads import SPAN, canonical, repeat_reads_fields, repeats_by_turn
from tests.compression.engine.builders import SessionBuilder, run, small_policy


def reads(built: SessionBuilder, *files: str, result: str = "text of") -> None:
    """A turn for each file, which reads it."""
    for file in files:
        built.turn(("Read", f"{result} {file}"), arguments=f'{{"file_path": "{file}"}}')


def fields(built: SessionBuilder, strategy: str = "recorded") -> dict[str, Any]:
    return repeat_reads_fields(run(built, small_policy(strategy=strategy)))


def compacted_after(*before: str) -> SessionBuilder:
    built = SessionBuilder()
    built.user()
    reads(built, *before)
    built.boundary("compact")
    return built


def test_repeats_after_a_compaction_count_against_those_before_it() -> None:
    built = compacted_after("a.py", "b.py", "a.py", "c.py")
    reads(built, "a.py", "b.py")

    # Of four calls before one repeats another, afterwards both do.
    assert fields(built) == {
        "repeat_reads": 0.75,
        "repeat_reads_events": 1,
        "repeats_after": 2,
        "calls_after": 2,
        "repeats_before": 1,
        "calls_before": 4,
    }


def test_a_call_whose_target_changed_is_no_repeat() -> None:
    built = compacted_after("a.py")
    reads(built, "a.py", result="another text of")

    assert (fields(built)["repeats_after"], fields(built)["calls_after"]) == (0, 1)


def test_what_changed_and_changed_back_was_not_unchanged() -> None:
    built = SessionBuilder()
    for result in ("one", "two", "one", "one"):
        reads(built, "a.py", result=result)

    assert [row.repeats for row in repeats_by_turn(course_of(built.build(), "as-recorded"))] == [0, 0, 0, 1]


def test_only_the_turns_within_the_span_count() -> None:
    built = compacted_after(*(f"{n}.py" for n in range(SPAN + 5)))
    reads(built, *(f"{n}.py" for n in range(SPAN + 5)))

    assert (fields(built)["calls_before"], fields(built)["calls_after"]) == (SPAN, SPAN)


def test_a_replayed_policy_made_nobody_read_again() -> None:
    built = compacted_after("a.py")
    reads(built, "a.py")

    assert fields(built, "none")["repeat_reads"] is None


def test_without_calls_before_the_event_there_is_no_difference() -> None:
    built = compacted_after()
    built.user("earlier: nothing")
    reads(built, "a.py")

    assert fields(built)["repeat_reads"] is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a": 1, "b": [2]}', '{"b":[2],"a":1}', True),
        ('{"a": 1}', '{"a": 2}', False),
        ("ls -l ", "ls -l", True),
        ("ls", "ls -l", False),
    ],
)
def test_arguments_are_the_same_whatever_the_order_of_their_keys(one: str, other: str, same: bool) -> None:
    assert (canonical(one) == canonical(other)) is same
