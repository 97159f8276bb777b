"""Gemini CLI's masking of tool output."""

from __future__ import annotations

from compression.engine.references.gemini_masking import Masking
from compression.engine.snapshots import digest
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.test_clearing import session
from tests.compression.engine.references.walking import walk

NAME = "gemini-masking"


def results(built: SessionBuilder) -> list[int]:
    return [m.index for m in built.messages if m.role == "tool"]


def test_50_000_tokens_are_protected_and_30_000_have_to_go() -> None:
    assert Masking().model_dump(exclude={"exempt_tools"}) == {
        "protect_tokens": 50_000,
        "minimum_tokens": 30_000,
        "protect_latest_turn": True,
        "preview_characters": 250,
    }


def test_30_000_tokens_beyond_the_newest_50_000_are_masked() -> None:
    built = session(81, 1_000)

    done = walk(built, NAME)

    # The newest result is the latest turn: neither protected by tokens nor counted.
    assert [*done.steps] == [81]
    assert done.edited == results(built)[:30]


def test_29_000_tokens_are_too_few() -> None:
    assert walk(session(80, 1_000), NAME).steps == {}


def test_the_result_that_crosses_the_protected_tokens_is_masked_too() -> None:
    built = session(4, 100)

    done = walk(built, NAME, protect_tokens=150, minimum_tokens=1, preview_characters=10)

    # At turn 3 the newest two old results are 100 and 200 tokens back: the second one crosses 150.
    assert [e.message for e in done.steps[3].edits] == results(built)[:1]


def test_a_masked_result_shows_both_ends_and_where_the_whole_is() -> None:
    built = session(3, 200)
    original = built.messages[3].parts[0].text

    done = walk(built, NAME, protect_tokens=150, minimum_tokens=1, preview_characters=12)

    edit = done.steps[2].edits[0]
    address = "hermes:" + digest(original)[:12]
    assert edit.text == (
        f"<tool_output_masked>\n{original[:12]}\n...\n{original[-12:]}\n\n"
        f"[file with the whole output: {address}]\n</tool_output_masked>"
    )
    assert (edit.address, edit.sha256) == (address, digest(original))


def test_skills_questions_and_plans_are_exempt() -> None:
    for tool in ("activate_skill", "Skill", "ask_user", "exit_plan_mode", "ExitPlanMode"):
        assert walk(session(5, tool=tool), NAME, protect_tokens=0, minimum_tokens=1).steps == {}


def test_after_masking_it_waits_for_as_much_again() -> None:
    done = walk(session(16, 100), NAME, protect_tokens=300, minimum_tokens=300, preview_characters=10)

    assert {turn: len(step.edits) for turn, step in done.steps.items()} == {7: 3, 10: 3, 13: 3, 16: 3}


def test_one_huge_result_is_found_although_little_was_prunable_before() -> None:
    built = SessionBuilder()
    built.user()
    for size in (90, 10, 10, 10, 10):
        built.turn(("Bash", words(size, f"s{size}x")))
    built.turn()

    done = walk(built, NAME, protect_tokens=105, minimum_tokens=80, preview_characters=10)

    assert {turn: [e.tokens_before for e in step.edits] for turn, step in done.steps.items()} == {4: [90]}
