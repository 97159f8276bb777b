"""Cline's basic compaction."""

from __future__ import annotations

from compression.engine.references import REFERENCES
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.test_clearing import session
from tests.compression.engine.references.walking import walk

NAME = "cline"


def test_the_published_figures_are_the_defaults() -> None:
    assert REFERENCES[NAME].parameters().model_dump() == {
        "window_ratio": 0.90,
        "target_ratio": 0.70,
        "keep_tokens": 20_000,
        "result_characters": 2_000,
    }


def test_old_results_are_cut_oldest_first_down_to_70_percent_of_the_trigger() -> None:
    done = walk(session(9), NAME, limit=1_000, keep_tokens=300, result_characters=60)

    # 10 + 8 x 111 = 898 fit; at 1,009 of 900 tokens 379 have to go, 89 with each result.
    assert [*done.steps] == [9]
    assert done.edited == [3, 5, 7, 9, 11]
    assert done.texts()[3] == words(100, "r0x")[:60] + "\n[cut]"
    assert done.steps[9].left == ()


def test_what_cutting_does_not_free_leaves_in_whole_groups_for_a_list_of_tools() -> None:
    built = session(9)

    done = walk(built, NAME, limit=1_000, keep_tokens=300, result_characters=600)

    note = done.steps[9].note
    assert done.steps[9].left == (2, 3, 4, 5, 6, 7, 8, 9)
    assert note is not None
    assert (note.text, note.ordinal, note.simulated) == ("[earlier tool activity]\nBash: 4 x", 2, False)
    assert note.tokens == 6 + 4


def test_the_list_goes_on_counting() -> None:
    done = walk(session(18), NAME, limit=1_000, keep_tokens=300, result_characters=600)

    notes = [step.note.text for step in done.steps.values() if step.note]
    assert notes == [f"[earlier tool activity]\nBash: {count} x" for count in (4, 7, 10)]


def test_typed_messages_and_the_newest_tokens_stay() -> None:
    built = SessionBuilder()
    for number in range(9):
        built.user(f"request {number}")
        built.turn(("Bash", words(100, f"r{number}x")))
    built.turn()

    done = walk(built, NAME, limit=700, keep_tokens=300, result_characters=10, target_ratio=0.05)

    assert {m.index for m in built.messages if m.role == "user"} <= {*done.windows[-1][0]}
    last = max(done.steps)
    assert {*done.windows[last][0][-6:]} & {*done.edited} == set()
