"""The claude-code reference beside what a log says was cleared."""

from __future__ import annotations

from typing import Any

from compression.engine.calibration import Calibration
from compression.engine.references.agreement import Agreement, microcompact_agreement
from compression.engine.references.claude_code import ClaudeCode
from compression.engine.tokens import CachedCounter
from tests.compression.engine.builders import SessionBuilder, Words
from tests.compression.engine.references.test_clearing import session


def compare(built: SessionBuilder, **parameters: Any) -> tuple[Agreement, ...]:
    return microcompact_agreement(
        built.build(), Calibration(), ClaudeCode(**parameters), counter=CachedCounter(Words())
    )


def cleared(results: int, *numbers: int, saved: int | None = None) -> SessionBuilder:
    """So many results, some of them blanked before the last call."""
    built = session(results)
    built.turns.pop()
    built.messages.pop()
    built.boundary("micro", cleared_call_ids=tuple(f"call-{n}-0" for n in numbers), tokens_left=saved)
    built.turn()
    return built


def test_both_sides_and_what_they_share_are_reported() -> None:
    (found,) = compare(cleared(5, 0, 1, 3, saved=320), keep_result_tokens=0, keep_results=3)

    assert found.recorded == ("call-0-0", "call-1-0", "call-3-0")
    assert found.named == found.both == ("call-0-0", "call-1-0")
    assert (found.logged_saved, found.recorded_tokens, found.named_tokens, found.both_tokens) == (320, 300, 200, 200)
    # 100 words of "r0x0 " to "r0x99 " are 589 characters.
    assert (found.recorded_quarters, found.named_quarters) == (3 * 147, 2 * 147)


def test_the_window_is_that_of_the_clearing_and_not_of_the_summary_after_it() -> None:
    built = session(5)
    built.turns.pop()
    built.messages.pop()
    built.boundary("micro", cleared_call_ids=("call-0-0",))
    summary = built.user("summary", "compact_summary")
    built.boundaries.append(
        type(built.boundaries[0])(turn=5, kind="compact", position=summary, summary_message=summary)
    )
    built.turn()

    (found,) = compare(built, keep_result_tokens=0, keep_results=3)

    assert found.named == ("call-0-0", "call-1-0")
    assert found.window_tokens == 10 + 5 * 111


def test_what_was_cleared_before_is_not_named_again() -> None:
    built = cleared(5, 0, 1)
    built.boundary("micro", cleared_call_ids=("call-2-0",))
    built.turn()

    first, second = compare(built, keep_result_tokens=0, keep_results=2)

    assert first.named == ("call-0-0", "call-1-0", "call-2-0")
    assert second.named == ("call-2-0",)
    assert second.recorded == ("call-2-0",)
    assert second.window_tokens == 10 + 5 * 111 - 2 * (100 - 8) + 5


def test_cleared_results_that_the_window_does_not_hold_are_counted() -> None:
    built = cleared(3, 0, 7)

    (found,) = compare(built, keep_result_tokens=0)

    assert (found.recorded, found.missing) == (("call-0-0",), 1)


def test_it_says_whether_the_reference_would_have_acted_at_all() -> None:
    built = cleared(5, 0)
    built.context_window = 1_000

    assert [found.acts for found in compare(built, reserve_output=400, margin=35)] == [True]
    assert [found.acts for found in compare(built, reserve_output=400, margin=34)] == [False]


def test_other_boundaries_are_no_clearings() -> None:
    built = session(3)
    built.boundary("silent", tokens_left=100)
    built.turn()

    assert compare(built) == ()
