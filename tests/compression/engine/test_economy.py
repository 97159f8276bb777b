"""Events that cost more than they bring, and events that cost nothing. Prices are hand-made here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compression.engine.economy import Economy, Prospect
from compression.engine.replay import Replay
from tests.compression.engine.builders import SessionBuilder, run, small_policy, words


def economy(
    break_even: Callable[[Prospect], float | None] = lambda prospect: 5.0, cold: frozenset[int] = frozenset()
) -> Economy:
    return Economy(break_even, cold.__contains__)


def calls(*sizes: int) -> SessionBuilder:
    session = SessionBuilder()
    session.user()
    for n, size in enumerate(sizes):
        session.turn(("Bash", words(size, f"r{n}w")))
    session.turn()
    return session


def kinds(done: Replay) -> list[tuple[int, str]]:
    return [(event.turn, event.kind) for event in done.events]


GATED: dict[str, Any] = {"dollar_gate": True, "break_even_horizon": 20}


def test_an_event_that_pays_back_too_late_is_skipped_and_says_why() -> None:
    done = run(calls(1_000, 1_000, 1_000, 20), small_policy(**GATED), economy=economy(lambda prospect: 20.5))

    (event,) = done.events
    assert (event.turn, event.kind, event.repeats) == (3, "skip", 1)
    assert event.reason == "would pay back after 20.5 calls, later than 20"


def test_the_ladder_does_not_do_what_the_dollar_gate_refused() -> None:
    policy = small_policy(ladder=True, **GATED)

    done = run(calls(1_000, 1_000, 1_000, 20), policy, economy=economy(lambda prospect: 99.0))

    assert kinds(done) == [(3, "skip")]


@pytest.mark.parametrize("calls_until", [20.0, None])
def test_an_event_that_pays_back_in_time_or_whose_price_nobody_knows_goes_ahead(calls_until: float | None) -> None:
    done = run(calls(1_000, 1_000, 1_000), small_policy(**GATED), economy=economy(lambda prospect: calls_until))

    assert kinds(done) == [(3, "compress")]


def test_the_gate_is_told_what_the_event_would_do() -> None:
    asked: list[Prospect] = []

    def price(prospect: Prospect) -> float:
        asked.append(prospect)
        return 1.0

    done = run(calls(1_000, 1_000, 1_000), small_policy(**GATED), economy=economy(price))

    (event,) = done.events
    # Before the first changed result lie the prompt and its call.
    assert asked == [Prospect(turn=3, before=3_038, after=event.after, unchanged=12)]


def test_near_the_limit_the_gate_stands_open() -> None:
    done = run(calls(1_000, 1_000, 1_700), small_policy(**GATED), economy=economy(lambda prospect: 99.0))

    assert done.events[0].usage_ratio > 0.92
    assert kinds(done) == [(3, "compress")]


def test_a_cold_cache_opens_the_gate() -> None:
    cold = economy(lambda prospect: 99.0, frozenset({4}))

    done = run(calls(1_000, 1_000, 1_000, 20), small_policy(**GATED), economy=cold)

    assert kinds(done) == [(3, "skip"), (4, "compress")]


def test_without_the_gate_no_price_is_asked() -> None:
    def price(prospect: Prospect) -> float:
        raise AssertionError("nobody asked for a gate")

    assert kinds(run(calls(1_000, 1_000, 1_000), small_policy(), economy=economy(price))) == [(3, "compress")]


def test_without_an_economy_the_gate_stands_open() -> None:
    assert kinds(run(calls(1_000, 1_000, 1_000), small_policy(**GATED))) == [(3, "compress")]


def test_while_the_cache_is_cold_an_event_above_the_target_is_free() -> None:
    cold = economy(cold=frozenset({1, 3}))

    done = run(calls(1_000, 1_000, 500), small_policy(prefer_idle=True), economy=cold)

    # At turn 1 the window lies below the target of 2,000, at turn 3 between it and the trigger.
    (event,) = done.events
    assert (event.turn, event.kind, event.reason) == (3, "compress", "the cache is cold")
    assert event.usage_ratio < 0.75


def test_a_cold_cache_starts_nothing_unless_the_policy_prefers_it() -> None:
    assert run(calls(1_000, 1_000, 500), small_policy(), economy=economy(cold=frozenset({3}))).events == ()


def test_a_warm_cache_waits_for_the_trigger() -> None:
    assert run(calls(1_000, 1_000, 500), small_policy(prefer_idle=True), economy=economy()).events == ()


def test_a_free_event_that_would_free_too_little_is_none_and_no_skip() -> None:
    policy = small_policy(prefer_idle=True, min_reclaim_tokens=2_500, ladder=True)

    assert run(calls(1_000, 1_000, 500), policy, economy=economy(cold=frozenset({3}))).events == ()
