"""Prices by model and date, and what is said where nobody knows one."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from compression.engine.pricing import Prices, prices_for

AUTUMN = datetime(2026, 11, 1, 9, tzinfo=UTC).timestamp()

# input, output, read, write (5 minutes)
PUBLISHED = {
    "claude-opus-5": ("5", "25", "0.5", "6.25"),
    "claude-opus-5-5": ("4", "20", "0.2", "5"),
    "claude-sonnet-5": ("2", "10", "0.2", "2.5"),
    "claude-haiku-4-5": ("1", "5", "0.1", "1.25"),
    "claude-fable-5-1": ("10", "50", "0.25", "12.5"),
    "gpt-5.6": ("4", "20", "0.4", "5"),
    "gpt-5": ("1.25", "10", "0.125", "1.25"),
    "kimi-k3": ("3", "15", "0.3", "3"),
}


@pytest.mark.parametrize("model", PUBLISHED)
def test_the_published_prices(model: str) -> None:
    prices = prices_for(model, AUTUMN)

    assert prices is not None
    found = (prices.input, prices.output, prices.cache_read, prices.cache_write)
    assert found == tuple(map(Decimal, PUBLISHED[model]))


def test_a_price_says_where_it_is_from_and_of_when() -> None:
    prices = prices_for("claude-opus-4-5-20251101", AUTUMN)

    assert prices is not None
    assert prices.source.startswith("genai-prices ")
    assert prices.source.endswith("anthropic/claude-opus-4-5")
    assert (prices.model, prices.as_of) == ("claude-opus-4-5-20251101", "2026-11-01")


def test_a_session_has_the_prices_of_its_day() -> None:
    early, late = (prices_for("gpt-5.6", datetime(2026, month, 2, tzinfo=UTC).timestamp()) for month in (2, 11))

    assert early is not None
    assert late is not None
    assert (early.input, late.input) == (Decimal(5), Decimal(4))


def test_without_a_date_the_latest_prices_count() -> None:
    prices = prices_for("claude-opus-5-5", None)

    assert prices is not None
    assert (prices.input, prices.as_of) == (Decimal(4), "latest")


@pytest.mark.parametrize("model", ["", "<synthetic>", "nobody-knows-this", "\x00", "a/b/c", "x" * 10_000])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert prices_for(model, AUTUMN) is None


@pytest.mark.parametrize("at", [-1e18, 1e18, float("inf"), float("nan")])
def test_a_time_that_is_no_time_counts_as_none(at: float) -> None:
    assert prices_for("claude-opus-5", at) == prices_for("claude-opus-5", None)


@pytest.mark.parametrize("name", ["anthropic/claude-opus-4-5", "us.anthropic.claude-opus-4-5-20251101-v1:0"])
def test_names_of_gateways_lead_to_the_same_price(name: str) -> None:
    prices = prices_for(name, AUTUMN)

    assert prices is not None
    assert prices.input == Decimal(5)


def test_long_requests_cost_what_their_tier_says() -> None:
    prices = prices_for("claude-sonnet-4-5", AUTUMN)

    assert prices is not None
    assert prices.long_above == 200_000
    assert prices.of_request(200_000).input == Decimal(3)
    assert prices.of_request(200_001).input == Decimal(6)
    assert prices.of_request(200_001).cache_read == Decimal("0.6")


def test_what_the_price_table_leaves_open_is_said() -> None:
    prices = prices_for("kimi-k2", AUTUMN)

    assert prices is not None
    assert prices.source.endswith("; cache read by the table of cache profiles")
    assert prices.cache_read == prices.input * Decimal("0.17")


def test_writes_of_an_hour_have_a_price_of_their_own() -> None:
    prices = prices_for("claude-opus-5", AUTUMN)

    assert prices is not None
    assert (prices.write(300), prices.write(3_600)) == (Decimal("6.25"), Decimal(10))
    assert (prices.write_ratio(300), prices.write_ratio(3_600), prices.read_ratio()) == (1.25, 2.0, 0.1)


def test_a_model_that_costs_nothing_has_ratios_of_nothing() -> None:
    nothing = Decimal(0)
    free = Prices("local", nothing, nothing, nothing, nothing, nothing)

    assert (free.read_ratio(), free.write_ratio(300)) == (0.0, 0.0)
