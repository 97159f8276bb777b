"""The table twin of the timeline in dollars and of the bar under it: what each call read, wrote, broke and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from compression.cost_comparison import Way
from compression.cost_ledger import Break, StoredLedger
from compression.cost_words import first_change, why


@dataclass(frozen=True, slots=True)
class CallCost:
    """One call. ``broke`` says why its cached prefix was not read; ``so_far`` = dollars by way, until it."""

    read: int
    write: int
    uncached: int
    broke: str
    resent: int
    usd: Decimal | None = None
    so_far: Sequence[Decimal | None] = ()


def call_cost(ledger: StoredLedger, turn: int, found: Sequence[Way] = ()) -> CallCost:
    """The figures of one turn; dollars where ways are given."""
    one = ledger.break_at.get(turn)
    cost = ledger.cost(turn) if found else None
    return CallCost(
        read=ledger.read[turn],
        write=ledger.write[turn],
        uncached=ledger.uncached[turn],
        broke="" if one is None else broke(one),
        resent=0 if one is None else one.tokens,
        usd=None if cost is None else cost.total,
        so_far=[None if way.running is None else way.running[turn] for way in found],
    )


def broke(one: Break) -> str:
    """Cause and first changed message."""
    return "; ".join(part for part in (why(one.cause), first_change(one)) if part)
