"""Idle gaps between calls, and the lifetime that they speak for."""

from __future__ import annotations

from compression.engine.cache_profiles import PROFILES
from compression.engine.lifetimes import Lifetime, idle_gaps, lifetime_of, written_for
from compression.engine.transcript import Boundary, Message, Part, Recorded, Transcript, Turn

CLAUDE = PROFILES["anthropic"]


def session(*calls: tuple[float | None, int], boundaries: tuple[Boundary, ...] = ()) -> Transcript:
    """Calls (time of the answer, tokens read) of 50,000 tokens each; a prompt comes 5 seconds before each answer."""
    messages: list[Message] = []
    turns = []
    for n, (time, read) in enumerate(calls):
        asked = None if time is None else time - 5
        messages.append(Message(2 * n, "user", (Part("text", "go"),), timestamp=asked))
        messages.append(Message(2 * n + 1, "assistant", (Part("text", "ok"),), timestamp=time))
        recorded = Recorded(50_000, read, 50_000 - read, model="claude")
        turns.append(Turn(n, 2 * n + 1, 2 * n + 2, 2 * n + 2, recorded, time))
    return Transcript(tuple(messages), tuple(turns), ((1,),) * len(messages), boundaries)


def test_a_gap_runs_from_an_answer_to_the_next_request() -> None:
    assert idle_gaps(session((100.0, 0), (500.0, 0))) == (None, 395.0)


def test_without_times_nobody_knows_the_gap() -> None:
    assert idle_gaps(session((100.0, 0), (None, 0), (900.0, 0))) == (None, None, 795.0)


def test_a_clock_that_runs_backwards_is_no_gap() -> None:
    assert idle_gaps(session((500.0, 0), (100.0, 0))) == (None, 0.0)


def test_gaps_that_were_survived_speak_for_the_hour() -> None:
    found = lifetime_of(session((0.0, 0), (1_000.0, 50_000), (1_010.0, 50_000)), CLAUDE)

    assert found == Lifetime(3_600, "1 of 1 idle gaps over 5 minutes survived", 1, 0)


def test_gaps_that_were_not_speak_for_five_minutes() -> None:
    found = lifetime_of(session((0.0, 0), (1_000.0, 20_000), (2_000.0, 0)), CLAUDE)

    assert found == Lifetime(300, "0 of 2 idle gaps over 5 minutes survived", 0, 2)


def test_as_many_of_both_leave_the_usual_lifetime() -> None:
    assert lifetime_of(session((0.0, 0), (1_000.0, 50_000), (2_000.0, 0)), CLAUDE).seconds == 300


def test_short_and_very_long_gaps_say_nothing() -> None:
    found = lifetime_of(session((0.0, 0), (200.0, 50_000), (9_000.0, 0)), CLAUDE)

    assert found == Lifetime(300, "usual for anthropic: no idle gap tells")


def test_a_gap_in_which_the_agent_compacted_says_nothing() -> None:
    compacted = (Boundary(1, "compact", 2),)

    assert lifetime_of(session((0.0, 0), (1_000.0, 0), boundaries=compacted), CLAUDE).expired == 0


def test_a_cache_with_one_lifetime_needs_no_evidence() -> None:
    found = lifetime_of(session((0.0, 0), (1_000.0, 50_000)), PROFILES["gemini"])

    assert found == Lifetime(300, "gemini has one lifetime")


def written(*calls: tuple[int, int]) -> Transcript:
    """Calls that wrote (tokens, of them for an hour)."""
    turns = [Turn(n, 0, 0, 0, Recorded(9_000, 0, all_, cache_write_long=long)) for n, (all_, long) in enumerate(calls)]
    return Transcript((), tuple(turns), ())


def test_what_the_log_says_of_its_writes_is_what_they_pay_for() -> None:
    assert written_for(written((1_000, 1_000), (500, 0)), CLAUDE) == 3_600
    assert written_for(written((1_000, 0), (500, 500)), CLAUDE) == 300


def test_a_log_that_tells_no_lifetime_of_its_writes_says_nothing() -> None:
    assert written_for(written((1_000, 0), (500, 0)), CLAUDE) is None
