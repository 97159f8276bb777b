"""The window of each call as the events so far left it."""

from __future__ import annotations

from compression.engine.edits import Edit, Event, Note
from compression.engine.history import Course, course_of
from compression.engine.standing import Standing
from tests.compression.engine.builders import SessionBuilder, words

NOTE = Note("marker", "user", "what left", 6, 1)


def session() -> SessionBuilder:
    """0 prompt (5 tokens); 1-2, 3-4, 5-6 calls (7) and results (104); 7 answer."""
    built = SessionBuilder()
    built.user()
    for n in range(3):
        built.turn(("Bash", words(100, f"r{n}w")))
    built.turn()
    return built


def standing(built: SessionBuilder) -> tuple[Course, Standing]:
    course = course_of(built.build(), "as-recorded")
    return course, Standing(course)


def event(turn: int, *edits: Edit, left: tuple[int, ...] = (), note: Note | None = None) -> Event:
    return Event(turn, "compress", 0, 0, edits, left=left, note=note)


def test_an_untouched_window_is_the_courses_own() -> None:
    course, window = standing(session())

    assert window.is_untouched
    assert window.request(3) is course.windows[3]
    assert window.counted(3) == course.counted_rows[3] == 338


def test_an_edit_makes_its_message_smaller() -> None:
    _, window = standing(session())

    window.tell(event(2, Edit(2, 0, "stub", "short", 100, 10)))

    assert window.counted(3) == 248
    assert window.sizes[2] == 14


def test_a_second_edit_of_a_part_counts_from_what_stood_there() -> None:
    _, window = standing(session())

    window.tell(event(2, Edit(2, 0, "stub", "short", 100, 40)))
    window.tell(event(3, Edit(2, 0, "stub", "s", 100, 10)))

    assert window.sizes[2] == 14
    assert window.counted(3) == 248


def test_messages_that_left_are_in_no_later_request() -> None:
    _, window = standing(session())

    window.tell(event(2, left=(1, 2), note=NOTE))

    assert list(window.request(2).indexes()) == [0, 3, 4]
    assert list(window.request(3).indexes()) == [0, 3, 4, 5, 6]
    assert window.note(3) == NOTE
    assert window.counted(3) == 338 - 111 + 6


def test_the_next_note_takes_the_place_of_the_last() -> None:
    _, window = standing(session())
    other = Note("state", "user", "the work", 20, 1)

    window.tell(event(2, left=(1, 2), note=NOTE))
    window.tell(event(3, left=(3, 4), note=other))

    assert list(window.request(3).indexes()) == [0, 5, 6]
    assert window.note(3) == other
    assert window.counted(3) == 5 + 111 + 20


def test_an_edit_of_a_message_that_left_frees_nothing_more() -> None:
    _, window = standing(session())

    window.tell(event(2, Edit(2, 0, "stub", "short", 100, 10)))
    window.tell(event(3, left=(1, 2), note=NOTE))

    assert window.counted(3) == 338 - 111 + 6


def test_a_note_counts_as_memory() -> None:
    course, window = standing(session())

    window.tell(event(2, left=(1, 2), note=NOTE))

    row = dict(zip(("system", "memory", "user"), window.row(3), strict=False))
    assert row == {"system": 0, "memory": 6, "user": 5}
    assert course.source_rows[3][1] == 0


def test_what_the_agent_itself_reset_starts_afresh() -> None:
    built = session()
    built.boundary("compact", summary_message=8)
    built.user("what was done", "compact_summary")
    built.turn()
    course, window = standing(built)

    window.tell(event(2, left=(1, 2), note=NOTE))

    assert window.note(3) == NOTE
    assert window.request(4) is course.windows[4]
    assert window.note(4) is None
