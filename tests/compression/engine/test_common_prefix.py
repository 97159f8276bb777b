"""How far a changed message begins as it did."""

from __future__ import annotations

from compression.engine.common_prefix import unchanged_beginning
from compression.engine.edits import Edit
from compression.engine.transcript import Message, Part


def count(text: str) -> int:
    return len(text.split())


def edit(part: int, text: str, message: int = 3) -> Edit:
    return Edit(message, part, "stub", text, 6, count(text))


MESSAGE = Message(3, "tool", (Part("text", "first part"), Part("tool_result", "one two three four five six")))
COUNTS = (2, 6)


def test_a_stub_shares_the_words_that_it_keeps() -> None:
    assert unchanged_beginning(MESSAGE, COUNTS, {}, [edit(1, "one two three ... six")], count) == 2 + 3


def test_a_stub_that_begins_otherwise_shares_the_parts_before_it_only() -> None:
    assert unchanged_beginning(MESSAGE, COUNTS, {}, [edit(1, "[compressed]")], count) == 2


def test_a_few_common_characters_are_not_counted() -> None:
    assert unchanged_beginning(MESSAGE, COUNTS, {}, [edit(1, "one t")], count) == 2


def test_the_earliest_change_counts() -> None:
    edits = [edit(1, "one two three"), edit(0, "[gone]")]

    assert unchanged_beginning(MESSAGE, COUNTS, {}, edits, count) == 0


def test_what_stands_there_by_now_is_compared() -> None:
    standing = {(3, 1): edit(1, "[stub] alpha beta gamma")}

    assert unchanged_beginning(MESSAGE, COUNTS, standing, [edit(1, "[stub] alpha beta")], count) == 2 + 3


def test_changes_of_other_messages_do_not_matter() -> None:
    edits = [edit(0, "[gone]", message=4), edit(1, "[compressed]")]

    assert unchanged_beginning(MESSAGE, COUNTS, {}, edits, count) == 2


def test_no_more_is_shared_than_stands_there() -> None:
    assert (
        unchanged_beginning(MESSAGE, COUNTS, {}, [edit(1, "one two three four five six and more")], lambda text: 99)
        == 8
    )
