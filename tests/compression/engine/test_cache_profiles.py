"""Which cache a model's provider has."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from compression.engine.cache_profiles import PROFILES, TABLE_DATE, profile_for


@pytest.mark.parametrize(
    ("model", "profile", "minimum"),
    [
        ("claude-opus-5", "anthropic", 512),
        ("claude-sonnet-4-5-20250929", "anthropic", 1_024),
        ("claude-haiku-4-5", "anthropic", 4_096),
        ("claude-opus-4-1-20250805", "anthropic", 1_024),
        ("claude-opus-4-6", "anthropic", 4_096),
        ("gpt-5.5", "openai", 1_024),
        ("gpt-5-codex", "openai", 1_024),
        ("gpt-5.6", "openai-5-6", 1_024),
        ("gpt-5.6-mini", "openai-5-6", 1_024),
        ("gpt-4-turbo", "none", 0),
        ("deepseek-v4-flash", "deepseek", 64),
        ("deepseek-chat", "deepseek-units", 64),
        ("gemini-3.1-pro-preview", "gemini", 4_096),
        ("gemini-2.5-pro", "gemini", 2_048),
        ("anthropic/claude-opus-5", "anthropic", 512),
        ("nobody-knows-this", "generic", 1_024),
        ("", "generic", 1_024),
    ],
)
def test_the_profile_of_a_model(model: str, profile: str, minimum: int) -> None:
    found = profile_for(model)

    assert (found.name, found.minimum) == (profile, minimum)


def test_before_a_provider_cached_there_was_no_cache() -> None:
    early = datetime(2024, 3, 1, tzinfo=UTC).timestamp()

    assert profile_for("claude-3-sonnet-20240229", early) == PROFILES["none"]
    assert profile_for("claude-3-sonnet-20240229").name == "anthropic"


def test_the_table_has_a_date() -> None:
    assert date.fromisoformat(TABLE_DATE) >= date(2026, 11, 1)


def test_the_usual_lifetime_is_the_shortest() -> None:
    assert [name for name, profile in PROFILES.items() if profile.lifetime_s != min(profile.lifetimes)] == []
