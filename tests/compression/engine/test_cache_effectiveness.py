"""The hit rate of recorded usage, with the reads in its denominator."""

from __future__ import annotations

from decimal import Decimal

from compression.engine.cache_effectiveness import CacheEffectiveness, analyze_cache_effectiveness
from compression.engine.pricing import Prices
from compression.engine.transcript import Recorded

PRICES = Prices("m", Decimal(10), Decimal(50), Decimal(1), Decimal("12.5"), Decimal(20))


def test_reads_are_a_part_of_the_input() -> None:
    found = analyze_cache_effectiveness([Recorded(1_000, 0, 1_000), Recorded(2_000, 1_500, 400)])

    assert (found.input, found.read, found.write, found.uncached) == (3_000, 1_500, 1_400, 100)
    assert found.hit_rate == 0.5


def test_a_rate_never_exceeds_one() -> None:
    assert analyze_cache_effectiveness([Recorded(1_000, 1_000)]).hit_rate == 1.0


def test_calls_without_a_record_are_left_out() -> None:
    assert analyze_cache_effectiveness([None, Recorded(10, 5), None]).calls == 1


def test_without_input_there_is_no_rate() -> None:
    assert analyze_cache_effectiveness([]) == CacheEffectiveness(0, 0, 0, 0, None)


def test_the_bill_of_the_input_with_and_without_a_cache() -> None:
    found = analyze_cache_effectiveness([Recorded(1_000_000, 600_000, 300_000)], [PRICES])

    assert found.input_usd == Decimal("5.35")  # 0.6 + 3.75 + 1
    assert found.input_usd_uncached == Decimal(10)
    assert found.write_share_usd == float(Decimal("3.75") / Decimal("5.35"))


def test_writes_cost_what_their_lifetime_costs() -> None:
    found = analyze_cache_effectiveness([Recorded(1_000_000, 0, 1_000_000)], [PRICES], write_seconds=3_600)

    assert found.input_usd == Decimal(20)


def test_writes_of_both_lifetimes_cost_what_the_log_says() -> None:
    calls = [Recorded(1_000_000, 0, 1_000_000, cache_write_long=400_000), Recorded(1_000_000, 0, 1_000_000)]

    found = analyze_cache_effectiveness(calls, [PRICES, PRICES], write_seconds=3_600)

    assert found.input_usd == Decimal(28)  # 0.4 x 20 + 0.6 x 12.5 + 12.5


def test_one_call_without_a_price_leaves_no_sum() -> None:
    found = analyze_cache_effectiveness([Recorded(10, 5), Recorded(10, 5)], [PRICES, None])

    assert (found.hit_rate, found.input_usd) == (0.5, None)
