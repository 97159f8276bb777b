"""Anthropic's and LangChain's clearing of old tool uses."""

from __future__ import annotations

import pytest

from compression.engine.references import REFERENCES
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.walking import walk

BOTH = ("anthropic-clear-tool-uses", "langchain-clear-tool-uses")
CLEARED = {"anthropic-clear-tool-uses": "[tool result cleared]", "langchain-clear-tool-uses": "[cleared]"}


def session(results: int, size: int = 100, tool: str = "Bash", arguments: str = "{}") -> SessionBuilder:
    """``results`` calls of one result each and a last call that sees them all. Results lie in messages 3, 5, 7 ..."""
    built = SessionBuilder()
    built.system()
    built.user()
    for number in range(results):
        built.turn((tool, words(size, f"r{number}x")), arguments=arguments)
    built.turn()
    return built


@pytest.mark.parametrize("name", BOTH)
def test_the_published_trigger_is_100_000_tokens_and_three_uses_stay(name: str) -> None:
    options = REFERENCES[name].parameters()

    assert options.model_dump() == {
        "trigger": "input_tokens",
        "trigger_value": 100_000,
        "trigger_on": "history",
        "keep": 3,
        "clear_at_least": None,
        "exclude_tools": (),
        "clear_tool_inputs": False,
    }


@pytest.mark.parametrize("name", BOTH)
def test_all_but_the_newest_three_results_are_cleared_once_over_the_trigger(name: str) -> None:
    done = walk(session(8), name, trigger_value=800)

    assert done.texts() == dict.fromkeys([3, 5, 7, 9, 11], CLEARED[name])


def test_nothing_happens_up_to_the_trigger() -> None:
    built = session(8)
    whole = walk(built, "anthropic-clear-tool-uses").windows[-1][1]

    assert walk(built, "anthropic-clear-tool-uses", trigger_value=whole).steps == {}
    assert [*walk(built, "anthropic-clear-tool-uses", trigger_value=whole - 1).steps] == [8]


def test_the_client_keeps_sending_the_whole_history_so_that_every_later_call_clears_one_more() -> None:
    done = walk(session(8), "anthropic-clear-tool-uses", trigger_value=500)

    assert {turn: [e.message for e in step.edits] for turn, step in done.steps.items()} == {
        5: [3, 5], 6: [7], 7: [9], 8: [11],
    }  # fmt: skip


def test_counted_on_the_view_it_waits_until_the_window_has_grown_again() -> None:
    done = walk(session(12), "anthropic-clear-tool-uses", trigger_value=800, trigger_on="view")

    assert {turn: [e.message for e in step.edits] for turn, step in done.steps.items()} == {
        8: [3, 5, 7, 9, 11],
        12: [13, 15, 17, 19],
    }


def test_too_little_to_clear_is_left_until_it_is_worth_a_break() -> None:
    done = walk(session(8), "anthropic-clear-tool-uses", trigger_value=500, clear_at_least=280)

    assert {turn: [e.message for e in step.edits] for turn, step in done.steps.items()} == {6: [3, 5, 7]}


def test_excluded_tools_stay() -> None:
    built = session(3, tool="Skill")
    for number in range(5):
        built.turn(("Bash", words(100, f"late{number}x")))
    built.turn()

    done = walk(built, "anthropic-clear-tool-uses", trigger_value=300, exclude_tools=("Skill",))

    assert done.edited == [10, 12]


@pytest.mark.parametrize(("inputs", "cleared"), [(False, []), (True, [2]), (("Bash",), [2]), (("Read",), [])])
def test_arguments_are_cleared_only_when_asked_for(inputs: bool | tuple[str, ...], cleared: list[int]) -> None:
    built = session(2, arguments='{"command": "make all of it again"}')

    done = walk(built, "anthropic-clear-tool-uses", trigger_value=100, keep=1, clear_tool_inputs=inputs)

    assert done.texts("arguments") == dict.fromkeys(cleared, "{}")
    assert [*done.texts("placeholder")] == [3]


def test_a_trigger_may_count_tool_uses() -> None:
    done = walk(session(6), "anthropic-clear-tool-uses", trigger="tool_uses", trigger_value=5)

    assert [*done.steps] == [6]


def test_a_result_smaller_than_the_placeholder_stays() -> None:
    built = session(5, size=2)

    assert walk(built, "anthropic-clear-tool-uses", trigger_value=10).steps == {}


def test_no_message_leaves_and_no_cleared_result_is_recallable() -> None:
    done = walk(session(8), "anthropic-clear-tool-uses", trigger_value=800)

    assert [step.left for step in done.steps.values()] == [()]
    assert {edit.address for step in done.steps.values() for edit in step.edits} == {""}
