"""Which messages a request holds, under both readings. Sizes: a prompt or system message of one word is 5 tokens,
a response with one call 7, a result its words and 4."""

from __future__ import annotations

import pytest

from compression.engine.history import SOURCES, Course, Request, as_recorded, course_of, source_of, uncompacted
from compression.engine.transcript import Message, Part
from tests.compression.engine.builders import SessionBuilder, words


def held(course: Course, turn: int) -> list[int]:
    return [i for i in course.windows[turn].indexes() if i not in course.excluded]


def compacted(*, originals_in_file: bool = True) -> SessionBuilder:
    """0 system, 1 prompt, 2-3 call and result, 4 summary, 5 copy of the prompt, 6-7 call and result, 8 answer."""
    session = SessionBuilder()
    session.system()
    session.user()
    session.turn(("Bash", words(50)))
    session.boundary("compact", summary_message=4, preserved=(1,), originals_in_file=originals_in_file)
    session.user("summary of it", "compact_summary")
    session.user("please", "preserved")
    session.turn(("Bash", words(20)))
    session.turn()
    return session


def test_the_whole_history_leaves_the_agents_summary_and_its_copies_out() -> None:
    course = uncompacted(compacted().build())

    assert held(course, 2) == [0, 1, 2, 3, 6, 7]
    assert course.excluded == {4, 5}
    assert course.sizes == (5, 5, 7, 54, 0, 0, 7, 24, 5)
    assert course.counted_rows == (10, 71, 102)
    assert course.warnings == ()


def test_a_summary_without_its_originals_is_kept_with_a_warning() -> None:
    course = uncompacted(compacted(originals_in_file=False).build())

    assert held(course, 2) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert course.summaries == (4,)
    assert course.warnings == ("turn 1: what a summary stands for is not in the file; the summary is kept",)


def test_as_recorded_a_boundary_leaves_system_summary_and_what_was_preserved() -> None:
    course = as_recorded(compacted().build())

    assert [held(course, turn) for turn in range(3)] == [[0, 1], [0, 1, 4, 5], [0, 1, 4, 5, 6, 7]]
    assert course.counted_rows == (10, 22, 53)


def test_a_silent_clearing_takes_its_tokens_from_every_later_call() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(50)))
    session.boundary("silent", tokens_left=30)
    session.turn()
    session.turn()

    assert as_recorded(session.build()).unknown_left == (0, 30, 30)
    assert uncompacted(session.build()).unknown_left == (0, 0, 0)


def test_a_compaction_ends_the_account_of_silent_clearings() -> None:
    session = SessionBuilder()
    session.user()
    session.turn()
    session.boundary("silent", tokens_left=30)
    session.turn()
    session.boundary("compact")
    session.user("summary", "compact_summary")
    session.turn()

    assert as_recorded(session.build()).unknown_left == (0, 30, 0)


def test_a_blanked_result_costs_eight_tokens_from_its_boundary_on() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(50)))
    session.turn()
    session.boundary("micro", cleared_call_ids=("call-0-0", "never-seen"))
    session.turn()

    course = as_recorded(session.build())

    assert course.cleared == ((2, 2, 0),)
    assert course.counted_rows == (5, 66, 71 - 42)
    assert uncompacted(session.build()).counted_rows == (5, 66, 71)


def test_a_reading_is_worked_out_once_for_a_transcript() -> None:
    transcript = compacted().build()

    assert course_of(transcript, "uncompacted") is course_of(transcript, "uncompacted")
    assert course_of(transcript, "as-recorded").history == "as-recorded"


def test_a_memo_is_no_part_of_a_transcripts_value() -> None:
    one, other = compacted().build(), compacted().build()
    course_of(one, "uncompacted")

    assert one == other


def test_messages_arrive_with_the_first_request_that_reaches_past_them() -> None:
    assert uncompacted(compacted().build()).arrivals == (0, 0, 1, 1, 1, 1, 2, 2, 3)


def test_tokens_by_source_hold_each_messages_overhead_once() -> None:
    session = SessionBuilder()
    session.system("a b c")
    session.user("note", "memory")
    session.user("x y")
    session.add("user", Part("text", "look"), Part("media", width=750, height=100))
    session.turn(("Bash", "r s"))
    session.add("assistant")
    session.turn()

    row = uncompacted(session.build()).source_rows[1]

    assert dict(zip(SOURCES, row, strict=True)) == {
        "system": 7,
        "memory": 5,
        "user": 6 + 5,
        "thinking": 0,
        "text": 5 + 4,
        "tool_call": 2,
        "tool_result": 6,
        "media": 100,
    }


@pytest.mark.parametrize(
    ("role", "part", "flags", "source"),
    [
        ("system", Part("text"), (), "system"),
        ("user", Part("text"), (), "user"),
        ("user", Part("text"), ("injected",), "memory"),
        ("user", Part("text"), ("compact_summary",), "memory"),
        ("assistant", Part("text"), (), "text"),
        ("assistant", Part("opaque"), (), "thinking"),
        ("assistant", Part("thinking"), (), "thinking"),
        ("tool", Part("media"), (), "media"),
    ],
)
def test_a_part_has_one_source(role: str, part: Part, flags: tuple[str, ...], source: str) -> None:
    message = Message(0, role, (part,), flags=frozenset(flags))  # type: ignore[arg-type]  # the roles above

    assert source_of(message, 0) == source


def test_a_request_knows_where_its_messages_stand() -> None:
    request = Request((0, 7, 3), 10, 13)

    assert [request[n] for n in range(len(request))] == [0, 7, 3, 10, 11, 12]
    assert [request.ordinal(i) for i in (0, 7, 3, 10, 12, 13, 1)] == [0, 1, 2, 3, 5, None, None]
    assert list(request.indexes(2, 5)) == [3, 10, 11]
    assert list(request.indexes(4)) == [11, 12]
