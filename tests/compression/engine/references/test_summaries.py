"""References that replace history by a summary of a stated size: full-summary, codex, openhands."""

from __future__ import annotations

from compression.engine.calibration import Calibration
from compression.engine.references import REFERENCES
from compression.engine.transcript import Part
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.test_clearing import session
from tests.compression.engine.references.walking import walk


def test_a_full_summary_leaves_the_system_prompt_the_summary_and_the_last_request() -> None:
    built = session(4)
    built.user("now something else")
    built.turn()

    done = walk(built, "full-summary", trigger_tokens=420, summary_tokens=50)

    assert [*done.steps] == [4]
    assert done.windows[4] == ([0, 1], (1 + 4) + (1 + 4) + (50 + 4))
    note = done.steps[4].note
    assert note is not None
    assert (note.kind, note.role, note.tokens, note.ordinal, note.simulated) == ("summary", "user", 54, 1, True)


def test_a_summary_has_its_size_in_the_providers_tokens() -> None:
    done = walk(session(4), "full-summary", calibration=Calibration(k=2.0), trigger_tokens=840, summary_tokens=50)

    note = done.steps[4].note
    assert note is not None
    assert note.tokens == 25 + 4


def test_a_summary_that_would_be_larger_than_what_it_stands_for_is_not_written() -> None:
    assert walk(session(4), "full-summary", trigger_tokens=420, summary_tokens=5_000).steps == {}


def test_the_next_summary_takes_the_place_of_the_one_before() -> None:
    done = walk(session(9), "full-summary", trigger_tokens=420, summary_tokens=50)

    assert [*done.steps] == [4, 8]
    assert done.windows[8] == ([0, 1], (1 + 4) + (1 + 4) + (50 + 4))


def test_codex_compacts_at_90_percent_of_the_window_or_at_its_own_limit() -> None:
    built = session(9)
    tokens = [window[1] for window in walk(built, "codex").windows]

    assert [*walk(built, "codex", limit=1_000, summary_tokens=10).steps] == [
        next(turn for turn, size in enumerate(tokens) if size >= 900)
    ]
    assert min(walk(built, "codex", limit=1_000, auto_compact_limit=500, summary_tokens=10).steps) == next(
        turn for turn, size in enumerate(tokens) if size >= 500
    )
    # A limit above 90 % is not taken.
    assert min(walk(built, "codex", limit=1_000, auto_compact_limit=990, summary_tokens=10).steps) == next(
        turn for turn, size in enumerate(tokens) if size >= 900
    )


def test_codex_keeps_the_initial_context_and_what_was_typed_and_puts_the_summary_last() -> None:
    built = SessionBuilder()
    built.system()
    built.user("rules of the house", "injected")
    built.user("first request")
    built.turn(("shell", words(500)))
    built.user("second request")
    built.turn()

    done = walk(built, "codex", auto_compact_limit=500, summary_tokens=10)

    note = done.steps[1].note
    assert note is not None
    assert done.windows[1][0] == [0, 1, 2, 5]
    assert note.ordinal == 4
    assert done.steps[1].left == (3, 4)


def test_codex_keeps_20_000_tokens_of_what_was_typed_and_cuts_the_message_that_crosses() -> None:
    assert REFERENCES["codex"].parameters().model_dump()["user_tokens"] == 20_000
    built = SessionBuilder()
    built.user(words(50, "old"))
    built.user(words(50, "middle"))
    built.user(words(50, "new"))
    built.turn(("shell", words(500)))
    built.turn()

    done = walk(built, "codex", auto_compact_limit=500, summary_tokens=10, user_tokens=70)

    assert done.windows[1][0] == [1, 2]
    assert done.texts("text") == {1: words(50, "middle")[: 4 * (70 - 54)]}


def test_openhands_condenses_past_240_events_to_half_of_them() -> None:
    assert REFERENCES["openhands"].parameters().model_dump() == {
        "max_events": 240,
        "max_tokens": None,
        "keep_first": 2,
        "minimum_progress": 0.1,
        "summary_tokens": 2_000,
    }

    done = walk(session(130, size=50), "openhands")

    # System and request, then two events a call: turn 119 sees 240 of them, turn 120 sees 242.
    assert [*done.steps] == [120]
    kept = done.windows[120][0]
    assert kept[:2] == [0, 1]
    # 240 / 2, less the first two and the summary, down to whole pairs of call and result.
    assert len(kept) == 2 + 116
    note = done.steps[120].note
    assert note is not None
    assert note.ordinal == 2


def test_openhands_counts_each_call_of_a_response_and_never_parts_it_from_its_results() -> None:
    built = SessionBuilder()
    built.user()
    for number in range(4):
        built.turn(*(("Bash", words(40, f"n{number}r{one}x")) for one in range(3)))
    built.turn()

    done = walk(built, "openhands", max_events=18, keep_first=1, summary_tokens=5)

    # Turn 3 sees 1 + 3 x 6 = 19 events; half of 18, less one and the summary, has room for one whole response.
    assert {turn: step.left for turn, step in done.steps.items()} == {3: tuple(range(1, 9))}


def test_openhands_does_nothing_when_too_little_would_leave() -> None:
    assert walk(session(130, size=50), "openhands", minimum_progress=0.9).steps == {}


def test_openhands_condenses_on_tokens_too_when_told_to() -> None:
    done = walk(session(9, size=100), "openhands", max_tokens=500, summary_tokens=5)

    assert min(done.steps) == 5


def test_a_message_that_the_reading_leaves_out_is_no_event_and_goes_with_the_others() -> None:
    built = session(4)
    built.boundary("compact", summary_message=len(built.messages))
    built.user("a summary of the agent's own", "compact_summary")
    built.turn()

    done = walk(built, "full-summary", trigger_tokens=420, summary_tokens=50)

    assert done.windows[-1][0][:2] == [0, 1]
    assert Part("text", "a summary of the agent's own") == built.messages[11].parts[0]
