"""What an event of a policy cost and when it pays back, for the log of events."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from compression.replay_document import ReplayDocument


@dataclass(frozen=True, slots=True)
class EventCost:
    """``break_even`` = further calls until it pays, None without a price or where nothing is paid back; ``resent`` =
    tokens of the cached prefix that it made the call send anew, for ``usd`` more than reading them."""

    break_even: float | None
    calls_after: int
    is_cold: bool
    resent: int
    usd: Decimal | None

    @property
    def pays(self) -> bool | None:
        """Whether enough calls followed; None where nobody can say."""
        return None if self.break_even is None else self.calls_after >= self.break_even


def event_cost(document: ReplayDocument, at: int) -> EventCost | None:
    """The cost of event number ``at``; None where it changed nothing. Events of one turn share what it sent anew."""
    event, ledger = document.events[at], document.cost
    if not event.changes:
        return None
    one = ledger.break_at.get(event.turn)
    is_cold = ledger.is_cold(event.turn)
    if is_cold or one is None:
        return EventCost(ledger.break_evens[at], event.calls_after, is_cold, 0, None)
    return EventCost(ledger.break_evens[at], event.calls_after, False, one.tokens, ledger.resent_usd(one))
