from __future__ import annotations

from compression.engine.windows import FALLBACK_WINDOW, Window, window_for


def test_the_log_wins() -> None:
    assert window_for("claude-sonnet-4-5", recorded=123_456) == Window(123_456, "the log")


def test_a_known_model_has_the_tables_window() -> None:
    assert window_for("anthropic/claude-sonnet-4-5-20250929") == Window(200_000, "claude")


def test_the_longest_beginning_wins() -> None:
    assert [window_for(name).tokens for name in ("gpt-5-codex-high", "gpt-5-mini")] == [272_000, 400_000]


def test_a_session_beyond_the_usual_window_had_the_long_one() -> None:
    assert window_for("claude-sonnet-4-5", peak=300_000) == Window(1_000_000, "claude, long context")


def test_an_unknown_model_has_the_fallback() -> None:
    assert window_for("unheard-of") == Window(FALLBACK_WINDOW, "unknown model")


def test_what_an_unknown_model_has_held_fits_it() -> None:
    assert window_for("", peak=150_000) == Window(150_000, "unknown model")
