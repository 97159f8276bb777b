"""What a model's tokens cost at the date of a session: dollars for a million, as Decimal.

Prices come from the dated tables of the package genai-prices, which works without a network; what these leave open
(a provider's price of a cache write, where it is a multiple of the input's) comes from the table of cache profiles and
is said in ``source``. A model that no table knows has no price: None, never a guess. A caller may bring its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from compression.engine.cache_profiles import model_names, profile_for

MILLION = Decimal(1_000_000)
LONGEST_NAME = 200
"""Characters; whatever is longer is no model's name."""
_END_OF_TIME = datetime(9999, 12, 31, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a million tokens. ``cache_write_long`` is that of an entry that lives an hour.

    ``as_of`` = the UTC date that was asked for, "latest" where a session has none. Requests of more than
    ``long_above`` tokens cost what ``long`` says, all of their tokens.
    """

    model: str
    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    cache_write_long: Decimal
    source: str = ""
    as_of: str = ""
    long_above: int | None = None
    long: Prices | None = None

    def of_request(self, tokens: int) -> Prices:
        """The prices of a request of that many tokens."""
        if self.long is not None and self.long_above is not None and tokens > self.long_above:
            return self.long
        return self

    def write(self, lifetime_s: int) -> Decimal:
        """The price of writing to a cache that lives that long."""
        return self.cache_write_long if lifetime_s > 600 else self.cache_write

    def read_ratio(self) -> float:
        """Price of a read over that of uncached input; 0 for a model that costs nothing."""
        return float(self.cache_read / self.input) if self.input else 0.0

    def write_ratio(self, lifetime_s: int) -> float:
        """Price of a write over that of uncached input; 0 for a model that costs nothing."""
        return float(self.write(lifetime_s) / self.input) if self.input else 0.0


def prices_for(model: str, at: float | None) -> Prices | None:
    """The prices of a model at a time (seconds since 1970, UTC), the latest ones without; None where nobody knows."""
    if len(model) > LONGEST_NAME:
        return None
    try:
        when = _END_OF_TIME if at is None else datetime.fromtimestamp(at, UTC)
    except (OverflowError, OSError, ValueError):
        when = _END_OF_TIME
    # Some prices depend on the hour of the day, none on less.
    return _prices(model, when.replace(minute=0, second=0, microsecond=0), when == _END_OF_TIME)


@lru_cache(maxsize=512)
def _prices(model: str, when: datetime, is_latest: bool) -> Prices | None:
    # Its tables take half a second to load, which only whoever asks for a price should wait for.
    from genai_prices import __version__
    from genai_prices.data_snapshot import get_snapshot

    for name in model_names(model):
        try:
            provider, found = get_snapshot().find_provider_model(name, None, None, None)
        except LookupError:
            continue
        row = found.get_prices(when)
        stages = _stages(row)
        source = f"genai-prices {__version__}, {provider.id}/{found.id}"
        as_of = "latest" if is_latest else when.date().isoformat()
        known = [_of_stage(model, row, start, source, as_of) for start in stages]
        if known[0] is None:
            return None
        return replace(known[0], long_above=stages[1], long=known[1]) if len(known) > 1 else known[0]
    return None


def _stages(row: Any) -> list[int]:
    """Where a row of the table changes its prices, in tokens of a request: 0, and the first step above it."""
    starts = {tier.start for value in vars(row).values() if hasattr(value, "tiers") for tier in value.tiers}
    return [0, *sorted(starts)[:1]]


def _of_stage(model: str, row: Any, start: int, source: str, as_of: str) -> Prices | None:
    def price(key: str) -> Decimal | None:
        value = getattr(row, key, None)
        if value is None or isinstance(value, Decimal):
            return value
        at: Decimal = value.base
        for tier in value.tiers:
            if tier.start <= start and start:
                at = tier.price
        return at

    given, output = price("input_mtok"), price("output_mtok")
    if given is None or output is None:
        return None
    profile, added = profile_for(model), []
    read, write, long = price("cache_read_mtok"), price("cache_write_mtok"), price("cache_write_1h_mtok")
    if read is None:
        read = given * profile.read
        added.append("cache read")
    if write is None:
        write = given * profile.write
        if profile.write != 1:
            added.append("cache write")
    if long is None:
        long = given * profile.write_long
    if added:
        source += f"; {' and '.join(added)} by the table of cache profiles"
    return Prices(model, given, output, read, write, long, source, as_of)
