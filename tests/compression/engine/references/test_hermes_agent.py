"""Hermes Agent: thresholds, what pruning rewrites, what leaves, and when it stops."""

from __future__ import annotations

from typing import Any

import pytest

from compression.engine.edits import Edit
from compression.engine.references.hermes_agent import SYSTEM_NOTE, HermesAgent, Thresholds, thresholds
from compression.engine.references.hermes_prune import DUPLICATE
from tests.compression.engine.builders import SessionBuilder, words
from tests.compression.engine.references.walking import Walked, walk

NAME = "hermes-agent"


@pytest.mark.parametrize(
    ("window", "max_tokens", "expected"),
    [
        (64_000, None, Thresholds(54_400, 10_880, 3_200)),
        (128_000, None, Thresholds(96_000, 19_200, 6_400)),
        (200_000, None, Thresholds(150_000, 30_000, 10_000)),
        (256_000, None, Thresholds(192_000, 38_400, 10_000)),
        (400_000, None, Thresholds(300_000, 60_000, 10_000)),
        (1_000_000, None, Thresholds(500_000, 100_000, 10_000)),
        (200_000, 64_000, Thresholds(102_000, 20_400, 10_000)),
    ],
)
def test_thresholds_follow_from_the_window(window: int, max_tokens: int | None, expected: Thresholds) -> None:
    assert thresholds(HermesAgent(max_tokens=max_tokens), window) == expected


def session(results: int, size: int = 300, arguments: str = "{}", rules: str = "you are an agent") -> SessionBuilder:
    """A system prompt, a request, ``results`` calls with one result each in messages 3, 5, 7 ..., and a last call."""
    built = SessionBuilder()
    built.system(rules)
    built.user("please fix it")
    for number in range(results):
        built.turn(("Bash", words(size, f"r{number}x")), arguments=arguments)
    built.turn()
    return built


def run(built: SessionBuilder, limit: int = 6_000, **parameters: Any) -> Walked:
    """In a window that is compacted at 85 % of 6,000 tokens, with a tail of 1,020 by its own counter."""
    return walk(built, NAME, limit=limit, **parameters)


def test_the_middle_leaves_for_a_summary_between_head_and_tail() -> None:
    done = run(session(17))

    (step,) = done.steps.values()
    note = step.note
    assert note is not None
    # Head: the system prompt and three messages more, the third with the results of its call.
    assert done.windows[17][0][:4] == [0, 1, 2, 3]
    assert note.ordinal == 4
    # The tail has eight messages at least, and the cut never lies right behind the results of a call.
    assert step.left == tuple(range(4, 36 - 8 - 2))
    assert note.role == "user"


def test_results_in_the_protected_head_are_rewritten_all_the_same() -> None:
    done = run(session(17))

    assert done.texts("placeholder")[3] == "[terminal] ran `` -> exit ?, 30 lines output"


def test_a_note_is_added_to_the_system_prompt_once() -> None:
    done = run(session(34))

    notes = [e for step in done.steps.values() for e in step.edits if e.message == 0]
    assert len(done.steps) > 1
    assert [(e.kind, e.text) for e in notes] == [("text", "you are an agent" + SYSTEM_NOTE)]


def test_after_the_first_compaction_only_the_system_prompt_is_protected() -> None:
    done = run(session(34))

    second = sorted(done.steps)[1]
    assert done.windows[second][0][0] == 0
    assert {1, 2, 3} <= {*done.steps[second].left}
    note = done.steps[second].note
    assert note is not None
    assert note.ordinal == 1


def test_a_group_is_never_parted_by_the_cut() -> None:
    built = SessionBuilder()
    built.system()
    built.user()
    for number in range(9):
        built.turn(*(("Bash", words(150, f"n{number}r{one}x")) for one in range(4)))
    built.turn()

    done = run(built)

    starts = {turn.request_end for turn in built.turns}
    for step in done.steps.values():
        assert min(step.left) in starts
        assert max(step.left) + 1 in starts


def with_a_second_request(replies: int) -> tuple[SessionBuilder, int]:
    """Six calls, a request, and fourteen calls more, of which only the first ``replies`` say something."""
    built = session(6)
    built.turns.pop()
    built.messages.pop()
    request = built.user("now the other thing")
    for number in range(14):
        built.turn(("Bash", words(300, f"s{number}x")), text="ok" if number < replies else "")
    built.turn()
    return built, request


def test_the_last_request_is_forced_into_the_tail() -> None:
    built, request = with_a_second_request(replies=1)

    (step,) = run(built).steps.values()

    assert step.left == tuple(range(4, request))


def test_the_last_reply_is_forced_into_the_tail_with_the_call_before_it() -> None:
    built, request = with_a_second_request(replies=0)

    (step,) = run(built).steps.values()

    last_reply = request - 2
    assert step.left == tuple(range(4, last_reply - 2))


def test_older_copies_of_a_result_are_replaced_in_the_tail_too() -> None:
    built = session(16)
    built.turns.pop()
    built.messages.pop()
    for _ in range(3):
        built.turn(("Bash", words(60, "same")))
    built.turn()

    done = run(built, limit=6_100)

    copies = [m.index for m in built.messages if m.parts[0].text.startswith("same")]
    assert [done.texts().get(i) for i in copies] == [DUPLICATE, DUPLICATE, None]


def test_long_arguments_before_the_tail_are_cut_and_stay_json() -> None:
    arguments = '{"command": "' + "make " * 120 + '", "timeout": 5}'

    done = run(session(17, arguments=arguments))

    assert done.texts("arguments") == {
        2: '{"command": "' + "make " * 40 + '...[truncated]", "timeout": 5}',
    }


def test_arguments_of_500_characters_stay() -> None:
    arguments = '{"command": "' + "m" * 485 + '"}'
    assert len(arguments) == 500

    assert run(session(17, arguments=arguments)).texts("arguments") == {}


def test_a_tail_keeps_twenty_messages_from_being_pruned() -> None:
    done = run(session(17))

    window = 2 + 2 * 17
    assert all(i < window - 20 for i in done.texts("placeholder"))
    assert run(session(17), protect_last_n=4).texts("placeholder").keys() > done.texts("placeholder").keys()


def test_the_fallback_has_at_most_8_000_characters_and_its_tokens_are_counted() -> None:
    (step,) = run(session(17)).steps.values()
    note = step.note
    assert note is not None

    text, _, end = note.text.rpartition("\n\n")
    assert text.startswith("[CONTEXT COMPACTION — REFERENCE ONLY]\n\n## Task at that time\n")
    assert end == "--- END OF CONTEXT SUMMARY ---"
    assert len(text) <= 8_000
    assert (note.tokens, note.simulated) == (len(note.text.split()) + 4, False)


def test_a_simulated_summary_is_a_fifth_of_what_leaves_within_its_bounds() -> None:
    (step,) = run(session(17), summary="simulated").steps.values()
    note = step.note
    assert note is not None

    # A fifth of what pruning left is less than the least summary of 2,000 tokens.
    assert (note.tokens, note.simulated) == (2_004, True)


def test_too_few_messages_are_no_compaction() -> None:
    built = SessionBuilder()
    built.system()
    built.user(words(6_000))
    built.turn(("Bash", words(50)))
    built.turn(("Bash", words(50, "other")))
    built.turn()

    assert run(built).steps == {}


def test_two_compactions_that_do_not_help_stop_it() -> None:
    built = session(30, rules=words(3_500, "rule"))

    done = run(built)

    assert [*done.steps] == [6, 7]
    assert done.windows[30][1] > 5_100


def test_two_fallbacks_in_a_row_stop_it_when_they_count_as_failures() -> None:
    built = session(60)

    assert len(run(built).steps) > 2
    assert len(run(built, fallback_guard=True).steps) == 2


def test_nothing_that_leaves_is_edited() -> None:
    for step in run(session(40)).steps.values():
        edits: tuple[Edit, ...] = step.edits
        assert not {edit.message for edit in edits} & {*step.left}
