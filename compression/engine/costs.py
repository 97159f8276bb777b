"""What a replay costs: each call's share of the cache in dollars, and what its events cost and when they pay back.

Money is Decimal and exact: the calls of a session add up to its sum. Without a price there is no sum, never a part of
one. Reads are a part of the input: the hit rate is read / (read + write + uncached).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from math import isinf
from statistics import median

from compression.engine.break_even import break_even_of
from compression.engine.outputs import Output, outputs_of
from compression.engine.prefix_cache import CacheTurn, simulate
from compression.engine.pricing import MILLION, Prices
from compression.engine.replay import Replay
from compression.engine.sent_requests import sent_requests
from compression.engine.terms import Terms, terms_of


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars of one call, or of many."""

    read: Decimal = Decimal(0)
    write: Decimal = Decimal(0)
    uncached: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        """All four."""
        return self.read + self.write + self.uncached + self.output

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.read + other.read,
            self.write + other.write,
            self.uncached + other.uncached,
            self.output + other.output,
        )


def cost_of(turn: CacheTurn, output: int, prices: Prices, write_seconds: int) -> Cost:
    """The dollars of one call; its prices are those of a request of its size."""
    prices = prices.of_request(turn.tokens)
    return Cost(
        turn.read * prices.cache_read / MILLION,
        turn.write * prices.write(write_seconds) / MILLION,
        turn.uncached * prices.input / MILLION,
        output * prices.output / MILLION,
    )


@dataclass(frozen=True)
class Ledger:
    """The calls of a replay as the provider's cache and bill see them. ``costs`` are None where no price is known;
    ``break_evens`` stand beside the replay's events, None where there is nothing to pay back or no price."""

    terms: Terms
    turns: tuple[CacheTurn, ...]
    outputs: tuple[Output, ...]
    costs: tuple[Cost | None, ...]
    break_evens: tuple[float | None, ...] = field(default=())

    @cached_property
    def read(self) -> int:
        """Tokens read from the cache."""
        return sum(turn.read for turn in self.turns)

    @cached_property
    def write(self) -> int:
        """Tokens written to the cache at the price of a write."""
        return sum(turn.write for turn in self.turns)

    @cached_property
    def uncached(self) -> int:
        """Tokens paid as plain input."""
        return sum(turn.uncached for turn in self.turns)

    @property
    def tokens(self) -> int:
        """All input."""
        return self.read + self.write + self.uncached

    @property
    def hit_rate(self) -> float | None:
        """Share of the input that was read from the cache."""
        return self.read / self.tokens if self.tokens else None

    @cached_property
    def cost(self) -> Cost | None:
        """Dollars of the session; None where one of its calls has no price, or where it has no calls."""
        known = [cost for cost in self.costs if cost is not None]
        return sum(known, Cost()) if known and len(known) == len(self.costs) else None

    @property
    def rewrites(self) -> int:
        """Calls that had to send a cached prefix anew although it had not expired."""
        return sum(turn.bust is not None and turn.bust.cause != "expiry" for turn in self.turns)

    @property
    def expiries(self) -> int:
        """Calls that found their cached prefix expired."""
        return sum(turn.bust is not None and turn.bust.cause == "expiry" for turn in self.turns)

    @property
    def rewritten_tokens(self) -> int:
        """Tokens that had been cached before and were sent anew, for whatever cause."""
        return sum(turn.bust.tokens for turn in self.turns if turn.bust is not None)

    @property
    def break_even(self) -> float | None:
        """The median of the events that have one."""
        known = [calls for calls in self.break_evens if calls is not None]
        return median(known) if known else None


def ledger_of(replay: Replay) -> Ledger:
    """The ledger of a replay with the cache of its provider, driven by the session's own times."""
    terms = terms_of(replay.transcript, replay.prices)
    turns = simulate(sent_requests(replay), terms.profile, lifetime_s=terms.lifetime.seconds, warm=terms.warm)
    return _ledger(replay, terms, turns, _break_evens(replay, terms))


def ledger_without_cache(replay: Replay) -> Ledger:
    """The same calls at a provider without a cache: every token is plain input."""
    terms = terms_of(replay.transcript, replay.prices)
    return _ledger(replay, terms, tuple(CacheTurn(0, 0, tokens) for tokens in replay.windows_after), ())


def _ledger(
    replay: Replay, terms: Terms, turns: tuple[CacheTurn, ...], break_evens: tuple[float | None, ...]
) -> Ledger:
    outputs = outputs_of(replay.transcript, replay.calibration)
    costs = tuple(
        None if prices is None else cost_of(turn, output.tokens, prices, terms.write_seconds)
        for turn, output, prices in zip(turns, outputs, terms.prices, strict=True)
    )
    return Ledger(terms, turns, outputs, costs, break_evens)


def _break_evens(replay: Replay, terms: Terms) -> tuple[float | None, ...]:
    found: list[float | None] = []
    for event in replay.events:
        ratios = terms.ratios(event.turn, event.before)
        if not event.changes or ratios is None:
            found.append(None)
            continue
        unchanged = round(event.cache_prefix_survival * event.before)
        cached = replay.windows_after[event.turn - 1] if event.turn else 0
        if terms.is_cold(event.turn) or unchanged >= cached:
            found.append(0.0)
            continue
        calls = break_even_of(event.before, event.after, unchanged, *ratios)
        found.append(None if isinf(calls) else calls)
    return tuple(found)
