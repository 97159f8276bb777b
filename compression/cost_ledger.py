"""The bill of a replay as it is stored: what each call read, wrote and paid in full, and what its dollars rest on.

Tokens are stored, dollars are worked out from them when somebody asks, exactly. Without a price there are none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from typing import Any

from compression.engine.cost_fields import findings_fields, terms_fields
from compression.engine.costs import Cost, Ledger, cost_of
from compression.engine.prefix_cache import CacheTurn
from compression.engine.pricing import MILLION, Prices
from compression.engine.replay import Replay

FINDINGS_KEPT = 100
"""Of more the largest are stored; the summary counts all."""


@dataclass(frozen=True, slots=True)
class Break:
    """A cached prefix that a call could not read: ``tokens`` of it were sent anew. ``message`` = the first changed."""

    turn: int
    cause: str
    message: int | None
    tokens: int


@dataclass(frozen=True)
class StoredLedger:
    """By turn: ``read``, ``write``, ``uncached`` and ``output`` tokens, ``idle`` seconds before the call, what the
    provider recorded as read. ``break_evens`` stand beside the replay's events, ``models`` = (from which turn on,
    name), ``terms`` and ``findings`` as ``replay --json`` has them."""

    read: tuple[int, ...]
    write: tuple[int, ...]
    uncached: tuple[int, ...]
    output: tuple[int, ...]
    idle: tuple[float | None, ...]
    observed_read: tuple[int | None, ...]
    breaks: tuple[Break, ...]
    break_evens: tuple[float | None, ...]
    models: tuple[tuple[int, str], ...]
    terms: Mapping[str, Any]
    findings: tuple[Mapping[str, Any], ...]

    @property
    def lifetime_s(self) -> int:
        """Seconds that a cached prefix lives after its last use."""
        return int(self.terms["lifetime"]["seconds"])

    @property
    def write_seconds(self) -> int:
        """The lifetime that writes pay for."""
        return int(self.terms["write_seconds"])

    @cached_property
    def prices(self) -> Mapping[str, Prices | None]:
        """Model -> its prices, None where nobody knows them."""
        return {name: None if row is None else _prices(name, row) for name, row in self.terms["prices"].items()}

    @property
    def unpriced(self) -> list[str]:
        """The models whose price is not known; "" is one that the log does not name."""
        return [name for name, prices in self.prices.items() if prices is None]

    def prices_at(self, turn: int) -> Prices | None:
        at = bisect_right(self.models, turn, key=lambda row: row[0]) - 1
        return self.prices[self.models[at][1]] if at >= 0 else None

    def cost(self, turn: int, *, with_cache: bool = True) -> Cost | None:
        """The dollars of one call; without a cache all of its input is plain."""
        prices = self.prices_at(turn)
        if prices is None:
            return None
        read, write, uncached = self.read[turn], self.write[turn], self.uncached[turn]
        call = CacheTurn(read, write, uncached) if with_cache else CacheTurn(0, 0, read + write + uncached)
        return cost_of(call, self.output[turn], prices, self.write_seconds)

    @cached_property
    def costs(self) -> tuple[Cost, ...] | None:
        """The dollars of every call; None when one of them has no price."""
        return self._costs(with_cache=True)

    @cached_property
    def plain_costs(self) -> tuple[Cost, ...] | None:
        """The same calls at a provider without a cache."""
        return self._costs(with_cache=False)

    def _costs(self, *, with_cache: bool) -> tuple[Cost, ...] | None:
        found = tuple(cost for t in range(len(self.read)) if (cost := self.cost(t, with_cache=with_cache)) is not None)
        return found if found and len(found) == len(self.read) else None

    @cached_property
    def break_at(self) -> Mapping[int, Break]:
        """Turn -> its break."""
        return {one.turn: one for one in self.breaks}

    def is_cold(self, turn: int) -> bool:
        """Whether the cache had expired before a call."""
        idle = self.idle[turn]
        return idle is not None and idle > self.lifetime_s

    def resent_usd(self, one: Break) -> Decimal | None:
        """What the tokens of a break cost above reading them; None without a price."""
        prices = self.prices_at(one.turn)
        if prices is None:
            return None
        size = self.read[one.turn] + self.write[one.turn] + self.uncached[one.turn]
        prices = prices.of_request(size)
        return one.tokens * (prices.write(self.write_seconds) - prices.cache_read) / MILLION

    def fields(self) -> dict[str, Any]:
        """Plain data that ``from_fields`` reads."""
        rows = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**rows, "breaks": [astuple(one) for one in self.breaks]}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> StoredLedger:
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
        given["breaks"] = tuple(Break(*row) for row in fields["breaks"])
        given["models"] = tuple((turn, name) for turn, name in fields["models"])
        return cls(**given)


def running(costs: Sequence[Cost]) -> list[Decimal]:
    """Dollars so far, call by call."""
    return list(accumulate(cost.total for cost in costs))


def stored_ledger(replay: Replay, ledger: Ledger) -> StoredLedger:
    """What is worth storing of a replay's bill."""
    turns, recorded = ledger.turns, [turn.recorded for turn in replay.transcript.turns]
    findings = findings_fields(replay, ledger)
    largest = sorted(findings, key=lambda row: -row["tokens"])[:FINDINGS_KEPT]
    return StoredLedger(
        read=tuple(turn.read for turn in turns),
        write=tuple(turn.write for turn in turns),
        uncached=tuple(turn.uncached for turn in turns),
        output=tuple(output.tokens for output in ledger.outputs),
        idle=tuple(None if idle is None else round(idle, 1) for idle in ledger.terms.idle),
        observed_read=tuple(None if one is None else one.cache_read for one in recorded),
        breaks=tuple(Break(t, **asdict(turn.bust)) for t, turn in enumerate(turns) if turn.bust is not None),
        break_evens=ledger.break_evens,
        models=tuple(_changes(ledger.terms.models)),
        terms=terms_fields(ledger),
        findings=tuple(row for row in findings if row in largest),
    )


def _changes(models: Sequence[str]) -> Iterator[tuple[int, str]]:
    for turn, model in enumerate(models):
        if turn == 0 or model != models[turn - 1]:
            yield turn, model


def _prices(model: str, row: Mapping[str, Any]) -> Prices:
    names = ("input", "output", "cache_read", "cache_write", "cache_write_long")
    return Prices(
        model,
        **{name: Decimal(row[name]) for name in names},
        source=row["source"],
        as_of=row["as_of"],
        long_above=row["long_above"],
        long=None if row["long"] is None else _prices(model, row["long"]),
    )
