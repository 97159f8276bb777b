"""When an event has paid for the prefix that it broke: the published table, cell by cell, and its edges."""

from __future__ import annotations

from math import inf

import pytest

from compression.engine.break_even import break_even_calls, break_even_of
from compression.engine.cache_profiles import profile_for

RHOS = (0.05, 0.15, 0.27, 0.50, 0.75, 0.90)
TABLE = {
    "Claude, 5 minutes": (1.25, 0.10, (0.0, 1.0, 3.3, 10.5, 33.5, 102.5)),
    "Opus 5.5": (1.25, 0.05, (0.3, 3.2, 7.9, 23.0, 71.0, 215.0)),
    "Fable 5.1": (1.25, 0.025, (1.6, 7.6, 17.1, 48.0, 146.0, 440.0)),
    "Claude, 1 hour": (2.0, 0.10, (0.0, 2.4, 6.0, 18.0, 56.0, 170.0)),
    "GPT before 5.6, Gemini": (1.0, 0.10, (0.0, 0.6, 2.3, 8.0, 26.0, 80.0)),
    "Kimi K3": (1.0, 0.10, (0.0, 0.6, 2.3, 8.0, 26.0, 80.0)),
    "GLM-5.3": (1.0, 0.186, (0.0, 0.0, 0.6, 3.4, 12.1, 38.4)),
    "DeepSeek V4 flash": (1.0, 0.02, (1.6, 7.6, 17.1, 48.0, 146.0, 440.0)),
    "DeepSeek V4 pro": (1.0, 0.0333, (0.5, 4.1, 9.7, 28.0, 86.1, 260.3)),
}
MODELS = {
    "Claude, 5 minutes": "claude-opus-5",
    "Opus 5.5": "claude-opus-5-5",
    "Fable 5.1": "claude-fable-5-1",
    "GPT before 5.6, Gemini": "gpt-5",
    "Kimi K3": "kimi-k3",
    "GLM-5.3": "glm-5.3",
    "DeepSeek V4 flash": "deepseek-v4-flash",
    "DeepSeek V4 pro": "deepseek-v4-pro",
}


@pytest.mark.parametrize("row", TABLE)
def test_the_table_of_break_evens(row: str) -> None:
    write, read, published = TABLE[row]

    # Half a tenth is rounded up, as the table was.
    assert tuple(int(10 * break_even_calls(rho, write, read) + 0.5 + 1e-9) / 10 for rho in RHOS) == published


@pytest.mark.parametrize("row", MODELS)
def test_the_table_of_profiles_has_the_multiples_of_the_break_even_table(row: str) -> None:
    write, read, _ = TABLE[row]
    profile = profile_for(MODELS[row])

    assert (float(profile.write), float(profile.read)) == (write, read)


def test_an_hour_long_write_costs_twice_the_input() -> None:
    assert float(profile_for("claude-opus-5").write_long) == TABLE["Claude, 1 hour"][0]


def test_what_lies_before_the_first_change_does_not_count() -> None:
    # 90 of 100 thousand tokens lie behind the change, 20 stay: rho = 2 / 9.
    assert break_even_of(100_000, 30_000, 10_000, 1.25, 0.1) == break_even_calls(2 / 9, 1.25, 0.1)


def test_an_event_behind_everything_that_was_cached_costs_nothing() -> None:
    assert break_even_of(50_000, 50_000, 50_000, 1.25, 0.1) == 0.0


def test_an_event_that_shrinks_nothing_never_pays() -> None:
    assert break_even_of(50_000, 50_000, 10_000, 1.25, 0.1) == inf


def test_where_reads_are_free_no_event_pays() -> None:
    assert break_even_calls(0.5, 1.0, 0.0) == inf


def test_a_deep_cut_pays_at_once() -> None:
    assert break_even_calls(0.01, 1.25, 0.1) == 0.0
