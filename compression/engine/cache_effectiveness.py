"""How well the prompt cache worked in a session, by the provider's own figures.

The denominator is all input: cache reads are a part of it. A rate over writes and uncached tokens only can exceed 1
and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from compression.engine.pricing import MILLION, Prices
from compression.engine.transcript import Recorded


@dataclass(frozen=True, slots=True)
class CacheEffectiveness:
    """Tokens of all calls with a record. ``hit_rate`` = read / (read + write + uncached), None without input.

    ``input_usd`` = what the input cost, ``input_usd_uncached`` = what it would have cost without a cache; None where a
    call has no price. ``write_share_usd`` = share of the input's bill that went to writing.
    """

    calls: int
    read: int
    write: int
    uncached: int
    hit_rate: float | None
    input_usd: Decimal | None = None
    input_usd_uncached: Decimal | None = None
    write_share_usd: float | None = None

    @property
    def input(self) -> int:
        """All input tokens."""
        return self.read + self.write + self.uncached


def analyze_cache_effectiveness(
    recorded: Iterable[Recorded | None], prices: Sequence[Prices | None] = (), write_seconds: int = 300
) -> CacheEffectiveness:
    """The effectiveness over recorded usage; calls without a record are left out.

    ``prices`` stand beside the calls; writes cost what an entry of ``write_seconds`` costs where the log does not say
    which of them live for an hour.
    """
    calls = list(recorded)
    beside = list(prices) or [None] * len(calls)
    read = write = uncached = count = 0
    spent = plain = writes = Decimal(0)
    priced = True
    is_told = any(call is not None and call.cache_write_long for call in calls)
    for call, price in zip(calls, beside, strict=True):
        if call is None:
            continue
        count += 1
        rest = max(0, call.context_tokens - call.cache_read - call.cache_write)
        read, write, uncached = read + call.cache_read, write + call.cache_write, uncached + rest
        if price is None:
            priced = False
            continue
        price = price.of_request(call.context_tokens)
        short = call.cache_write - call.cache_write_long
        usual = price.cache_write if is_told else price.write(write_seconds)
        written = (short * usual + call.cache_write_long * price.cache_write_long) / MILLION
        writes += written
        spent += written + (call.cache_read * price.cache_read + rest * price.input) / MILLION
        plain += call.context_tokens * price.input / MILLION
    total, priced = read + write + uncached, priced and count > 0
    return CacheEffectiveness(
        calls=count,
        read=read,
        write=write,
        uncached=uncached,
        hit_rate=read / total if total else None,
        input_usd=spent if priced else None,
        input_usd_uncached=plain if priced else None,
        write_share_usd=float(writes / spent) if priced and spent else None,
    )
