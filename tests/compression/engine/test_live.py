"""One window of a running agent, compressed before it is sent, and sent again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compression.engine.calibration import Calibration
from compression.engine.live import Compression, compress_window
from compression.engine.planner import Known
from compression.engine.policy import PinRule, Policy
from compression.engine.rendering import rendered
from compression.engine.snapshots import digest
from compression.engine.tokens import TokenCounter, count_parts
from compression.engine.transcript import Message, Part, Transcript, Turn
from tests.compression.engine.builders import Quarters, SessionBuilder, small_policy, stubber, words
from tests.compression.engine.generated import policies, transcripts


def request(session: SessionBuilder) -> Transcript:
    """What was built so far, about to be sent."""
    return sent(session.messages, session.counter, session.model)


def sent(messages: list[Message], counter: TokenCounter, model: str = "") -> Transcript:
    """A request of these messages, with a turn for every response before it."""
    turns: list[Turn] = []
    for message in messages:
        if message.role == "assistant":
            end = message.index + 1
            while end < len(messages) and messages[end].role == "tool":
                end += 1
            turns.append(Turn(len(turns), message.index, message.index + 1, end))
    end = len(messages)
    turns.append(Turn(len(turns), end, end, end))
    counts = count_parts((m.parts for m in messages), counter.count_many)
    return Transcript(tuple(messages), tuple(turns), tuple(map(tuple, counts)), (), model)


def applied(transcript: Transcript, done: Compression) -> list[Message]:
    """The messages that the agent sends instead."""
    found: list[Message] = []
    note = [Message(0, done.note.role, (Part("text", done.note.text),))] if done.note is not None else []
    for message in transcript.messages:
        if message.index == done.note_before:
            found += note
        if message.index not in done.left:
            texts = {
                j: done.edits[message.index, j].text
                for j in range(len(message.parts))
                if (message.index, j) in done.edits
            }
            parts = (replace(part, text=texts.get(j, part.text)) for j, part in enumerate(message.parts))
            found.append(replace(message, parts=tuple(parts)))
    if done.note_before is None:
        found += note
    return [replace(message, index=i) for i, message in enumerate(found)]


def known_of(done: Compression) -> Known:
    return Known({digest(edit.text): edit.sha256 for edit in done.edits.values()}, done.snapshots.get)


def compressed(session: SessionBuilder, policy: Policy, **options: Any) -> Compression:
    return compress_window(request(session), policy, Calibration(), stubber=stubber(), **options)


def calls(*sizes: int) -> SessionBuilder:
    session = SessionBuilder()
    session.user("fix the pool")
    for n, size in enumerate(sizes):
        session.turn(("Bash", words(size, f"r{n}w")))
    return session


def test_below_the_trigger_a_window_stays() -> None:
    done = compressed(calls(500, 500, 500), small_policy())

    assert (done.events, done.edits, done.left, done.note, done.snapshots) == ((), {}, (), None, {})
    assert not done.changed
    assert done.before == done.after
    assert done.fits


def test_above_the_trigger_results_become_stubs_and_originals_are_handed_out() -> None:
    session = calls(1_500, 1_000, 1_000)

    done = compressed(session, small_policy())

    assert [*done.edits] == [(2, 0), (4, 0)]
    assert done.snapshots == {e.sha256: session.messages[i].parts[j].text for (i, j), e in done.edits.items()}
    assert (done.changed, done.fits) == (True, True)
    assert done.before - done.after == sum(e.tokens_before - e.tokens_after for e in done.edits.values())


def test_below_the_trigger_one_may_ask_for_an_event() -> None:
    done = compressed(calls(500, 500, 500), small_policy(), force=True)

    assert [(event.kind, event.reason) for event in done.events] == [("compress", "asked for")]
    assert done.after <= 0.5 * done.before < done.after + 500


def test_earlier_calls_of_the_window_have_no_events() -> None:
    done = compressed(calls(*[1_500] * 4), small_policy())

    assert {event.turn for event in done.events} == {4}


def test_a_huge_newest_result_is_stubbed_before_it_is_sent() -> None:
    done = compressed(calls(500, 900), small_policy(arrival_limit_tokens=500))

    # The first one was sent before the limit was looked at.
    assert [(event.kind, [edit.message for edit in event.edits]) for event in done.events] == [("arrival", [4])]


def test_what_left_is_handed_out_as_one_text() -> None:
    session = SessionBuilder()
    session.user("fix the pool")
    for n in range(130):
        session.turn(("Bash", words(22, f"s{n}x")))

    done = compressed(session, small_policy(ladder=True))

    assert done.note is not None
    assert done.left == tuple(range(3, 3 + len(done.left)))
    assert done.snapshots[done.note.sha256] == rendered(session.messages[i] for i in done.left)
    assert done.note_before == done.left[-1] + 1
    assert done.fits


def test_the_agent_sends_on_what_it_got_and_nothing_more_happens() -> None:
    session = calls(1_500, 1_000, 1_000)
    done = compressed(session, small_policy())
    messages = applied(request(session), done)

    again = compress_window(
        sent(messages, session.counter), small_policy(), Calibration(), stubber=stubber(), known=known_of(done)
    )

    assert again.before == done.after
    assert not again.changed


def test_what_is_at_risk_at_its_floor_gets_room_at_once_and_not_with_the_next_call() -> None:
    session = calls(2_500)
    for n in range(20):
        session.turn(("Bash", words(22, f"s{n}x")))
    session.turn(("Bash", words(3_080, "new")))
    policy = small_policy(ladder=True, recent_tokens=3_100, min_reclaim_tokens=1_000)

    done = compressed(session, policy)

    assert [event.kind for event in done.events] == ["compress", "aggressive", "truncate"]
    assert done.events[0].target_unreachable is not None
    assert sum(event.reclaimed for event in done.events[1:]) < 1_000
    assert done.after <= 0.92 * 4_000


def test_a_note_alone_gives_way_to_no_other_note() -> None:
    session = calls()
    for n in range(20):
        session.turn(("Read", words(22, f"s{n}x")), arguments=f'{{"file_path": "src/part_{n}.py"}}')
    session.turn(("Bash", words(4_500, "new")))
    policy = small_policy(ladder=True, recent_tokens=100)
    done = compressed(session, policy)
    assert done.note is not None
    assert done.note.kind == "state"
    session.messages = [
        replace(message, flags=frozenset(["injected"])) if message.parts[0].text == done.note.text else message
        for message in applied(request(session), done)
    ]
    known = Known({**known_of(done).stubs, digest(done.note.text): done.note.sha256}, done.snapshots.get)

    again = compressed(session, policy, known=known)

    assert [event.kind for event in again.events] == ["incompressible"]
    assert not again.changed


def test_a_stub_that_came_with_the_window_is_not_handed_out_as_an_original() -> None:
    session = calls(1_500, 1_000, 1_000)
    done = compressed(session, small_policy(result_ratio=0.2, result_ceiling=200))
    session.messages = applied(request(session), done)
    for n in range(3):
        session.turn(("Bash", words(90, f"s{n}x")), text=words(800, f"t{n}x"))

    again = compressed(session, small_policy(ladder=True), known=known_of(done))

    assert again.edits[2, 0].sha256 == done.edits[2, 0].sha256
    assert done.edits[2, 0].text not in again.snapshots.values()


def test_the_models_window_counts_where_the_policy_leaves_it_to_the_model() -> None:
    policy = small_policy(context_window="auto")

    assert compressed(calls(500), policy).context_window == 100_000
    assert compressed(calls(500), policy, context_window=1_000).context_window == 1_000
    assert compressed(calls(500), small_policy(), context_window=1_000).context_window == 4_000


def test_a_window_that_cannot_be_made_to_fit_says_so() -> None:
    done = compressed(calls(4_200), small_policy(ladder=True, pins=(PinRule(tool="*", reason="all"),)))

    assert [event.kind for event in done.events][-1] == "incompressible"
    assert not done.fits
    assert done.alarms == ("turn 1: what nobody may touch is larger than the window",)


def test_room_for_the_answer_counts_against_fitting() -> None:
    policy = small_policy(ladder=False)

    assert compressed(calls(3_900), policy).fits
    assert not compressed(calls(3_900), policy.model_copy(update={"reserve_output": 200})).fits


def test_a_changed_window_has_a_memory_note_when_the_policy_says_so() -> None:
    session = calls(1_500, 1_000, 1_000)

    note = compressed(session, small_policy(memory_note=True)).memory_note

    assert note.startswith("# State of the work\n\n## Goal\n\n- fix the pool\n")
    assert compressed(session, small_policy()).memory_note == ""
    assert compressed(calls(500), small_policy(memory_note=True)).memory_note == ""


def test_a_window_without_a_call_is_refused_with_what_is_missing() -> None:
    with pytest.raises(ValueError, match="a window needs at least one call"):
        compress_window(Transcript((), (), ()), small_policy(), Calibration())


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(transcript=transcripts(), policy=policies(), hidden=st.sampled_from((0, 300)))
def test_a_window_that_was_compressed_comes_back_unchanged_or_smaller(
    transcript: Transcript, policy: Policy, hidden: int
) -> None:
    messages = [m for m in transcript.messages if "orphan_result" not in m.flags]
    first = sent([replace(m, index=i) for i, m in enumerate(messages)], Quarters())
    one = Calibration(hidden=hidden)

    done = compress_window(first, policy, one, stubber=stubber(Quarters()))
    second = sent(applied(first, done), Quarters())
    again = compress_window(second, policy, one, stubber=stubber(Quarters()), known=known_of(done))

    assert again.before == done.after
    assert again.after <= done.after
    assert all(digest(text) == sha for sha, text in done.snapshots.items())
    assert {edit.sha256 for edit in done.edits.values()} <= {*done.snapshots}
    assert done.fits is (done.after + policy.reserve_output <= done.context_window)
    stubs = {edit.text for edit in done.edits.values()}
    for (i, j), edit in again.edits.items():
        if second.messages[i].parts[j].text in stubs:
            # The ladder alone may shorten what came back, from the original that was handed out.
            assert edit.sha256 in done.snapshots


def test_the_same_window_gives_the_same_answer() -> None:
    session = calls(1_500, 1_000, 1_000)

    assert compressed(session, small_policy()) == compressed(session, small_policy())
