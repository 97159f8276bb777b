"""Claude Code: clear old results, then summarise, and stop when that does not help."""

from __future__ import annotations

from typing import Any

from compression.engine.references import REFERENCES
from compression.engine.references.claude_code import ClaudeCode, trigger
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.test_clearing import session
from tests.compression.engine.references.walking import walk

NAME = "claude-code"
SMALL: dict[str, Any] = {"reserve_output": 0, "margin": 0, "summary_tokens": 20}


def test_a_window_of_200_000_tokens_is_compacted_at_167_000() -> None:
    assert trigger(ClaudeCode(), 200_000) == 167_000


def test_an_override_can_only_lower_the_trigger() -> None:
    assert trigger(ClaudeCode(override_ratio=0.5), 200_000) == 90_000
    assert trigger(ClaudeCode(override_ratio=1.0), 200_000) == 167_000


def test_clearing_old_results_is_all_that_happens_when_it_is_enough() -> None:
    built = session(10)

    # A result of 100 words is 592 or 692 characters; the newest three of them are 519 tokens by the agent's count.
    done = walk(built, NAME, limit=1_000, keep_result_tokens=519, **SMALL)

    assert [*done.steps] == [9]
    assert done.steps[9].left == ()
    assert done.edited == [3, 5, 7, 9, 11, 13]
    assert {*done.texts().values()} == {"[Old tool result content cleared]"}


def test_when_clearing_is_not_enough_everything_is_summarised() -> None:
    done = walk(session(10), NAME, limit=1_000, **SMALL)

    assert [*done.steps] == [9]
    assert done.steps[9].edits == ()
    assert done.windows[9] == ([0], (1 + 4) + (20 + 4))


def test_rules_in_front_of_the_first_request_are_there_again_after_a_summary() -> None:
    built = SessionBuilder()
    built.user("rules of the house", "injected")
    built.user("a request")
    built.turn(("Bash", words(500)))
    built.turn()

    done = walk(built, NAME, limit=400, **SMALL)

    assert done.windows[1][0] == [0]


def test_results_of_other_tools_are_not_cleared() -> None:
    done = walk(session(10, tool="Skill"), NAME, limit=1_000, keep_result_tokens=0, **SMALL)

    assert done.texts() == {}


def test_a_number_of_newest_results_can_be_kept_instead() -> None:
    done = walk(session(10), NAME, limit=1_000, keep_result_tokens=0, keep_results=3, **SMALL)

    assert done.edited == [3, 5, 7, 9, 11, 13]


def test_three_refills_in_a_row_within_three_calls_stop_it() -> None:
    done = walk(session(12, size=300), NAME, limit=350, clear_first=False, **SMALL)

    # Every summary is needed again with the second result after it: the first is no refill, three more are.
    assert [*done.steps] == [2, 4, 6, 8]
    assert done.windows[12][1] > 350


def test_a_window_that_lasts_longer_is_no_refill() -> None:
    done = walk(session(30), NAME, limit=500, clear_first=False, **SMALL)

    assert [*done.steps] == [5, 10, 15, 20, 25, 30]


def test_what_is_inferred_and_what_is_simulated_is_said() -> None:
    reference = REFERENCES[NAME]
    described = reference.parameters.model_json_schema()["properties"]["keep_result_tokens"]["description"]

    assert described == "newest results that stay; inferred from recordings"
    assert reference.simulated == "the summary, at summary_tokens; files read again only when reattached_tokens says so"
