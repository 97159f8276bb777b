"""OpenCode's pruning between user turns."""

from __future__ import annotations

from compression.engine.references import REFERENCES
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.walking import walk

NAME = "opencode-prune"


def session(*turns: int, size: int = 1_000, tool: str = "Bash") -> SessionBuilder:
    """User turns with so many results each of ``size`` tokens."""
    built = SessionBuilder()
    for number, results in enumerate(turns):
        built.user(f"request {number}")
        for one in range(results):
            built.turn((tool, words(size, f"t{number}r{one}x")))
    return built


def results(built: SessionBuilder) -> list[int]:
    return [m.index for m in built.messages if m.role == "tool"]


def test_40_000_tokens_are_protected_and_more_than_20_000_have_to_go() -> None:
    options = REFERENCES[NAME].parameters()

    assert options.model_dump() == {
        "protect_tokens": 40_000, "minimum_tokens": 20_000, "protect_turns": 2, "protect_tools": ("skill",),
    }  # fmt: skip


def test_more_than_20_000_tokens_beyond_the_newest_40_000_are_pruned() -> None:
    built = session(61, 1, 1, 1)

    done = walk(built, NAME)

    assert done.edited == results(built)[:21]
    assert {*done.texts().values()} == {"[Old tool result content cleared]"}


def test_20_000_tokens_are_too_few() -> None:
    assert walk(session(60, 1, 1, 1), NAME).steps == {}


def test_the_last_two_user_turns_are_left_alone_and_not_counted() -> None:
    built = session(5, 5, 5, 1)

    done = walk(built, NAME, protect_tokens=0, minimum_tokens=1)

    assert done.edited == results(built)[:5]


def test_it_looks_only_when_a_prompt_says_that_a_turn_is_over() -> None:
    built = session(5, 5, 5, 3)

    assert [*walk(built, NAME, protect_tokens=0, minimum_tokens=1).steps] == [15]


def test_results_of_skills_are_protected() -> None:
    built = session(5, 5, 5, 1, tool="Skill")

    assert walk(built, NAME, protect_tokens=0, minimum_tokens=1).steps == {}


def test_failed_results_stay() -> None:
    built = SessionBuilder()
    built.user()
    built.turn(Part("tool_result", words(1_000), "call-a", "Bash", is_error=True))
    built.turn(Part("tool_result", words(1_000, "fine"), "call-b", "Bash"))
    for _ in range(3):
        built.user()
        built.turn()

    assert walk(built, NAME, protect_tokens=0, minimum_tokens=1).edited == [4]


def test_it_stops_at_what_was_pruned_before() -> None:
    built = session(5, 5, 5, 5, 1)

    done = walk(built, NAME, protect_tokens=0, minimum_tokens=1)

    assert {turn: [e.message for e in s.edits] for turn, s in done.steps.items()} == {
        15: results(built)[:5],
        20: results(built)[5:10],
    }
