"""Five ways to run one session: without compression, compressed and with a sliding window, with a cache and without;
and what the agent itself did, where it compacted its window.

Reads stored replays; those that nobody asked for before are worked out once. The same window, trigger and protected
tail for all of them: only what is done differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from django.utils.translation import gettext as _

from compression.cost_ledger import StoredLedger, running
from compression.engine.cache_comparison import sliding_like
from compression.engine.costs import Cost
from compression.engine.presets import PRESETS
from compression.forms import PageState
from compression.replay_document import ReplayDocument
from compression.replays import stored_replay
from sessions.models import Session


@dataclass(frozen=True)
class Way:
    """One of them. ``key`` is none, own, sliding or recorded; without a cache all input is plain."""

    key: str
    label: str
    document: ReplayDocument
    with_cache: bool = True

    @property
    def ledger(self) -> StoredLedger:
        return self.document.cost

    @cached_property
    def tokens(self) -> int:
        """Input of all calls."""
        return sum(self.ledger.read) + sum(self.ledger.write) + sum(self.ledger.uncached)

    @cached_property
    def read(self) -> int:
        return sum(self.ledger.read) if self.with_cache else 0

    @cached_property
    def write(self) -> int:
        return sum(self.ledger.write) if self.with_cache else 0

    @property
    def uncached(self) -> int:
        return self.tokens - self.read - self.write

    @property
    def hit_rate(self) -> float | None:
        """Share of the input that was read from the cache; no figure where there is none."""
        return self.read / self.tokens if self.with_cache and self.tokens else None

    @property
    def costs(self) -> tuple[Cost, ...] | None:
        return self.ledger.costs if self.with_cache else self.ledger.plain_costs

    @cached_property
    def cost(self) -> Cost | None:
        """Dollars of the session; None where one of its calls has no price."""
        return None if self.costs is None else sum(self.costs, Cost())

    @property
    def cost_usd(self) -> Decimal | None:
        return None if self.cost is None else self.cost.total

    @cached_property
    def running(self) -> list[Decimal] | None:
        """Dollars so far, call by call."""
        return None if self.costs is None else running(self.costs)

    @property
    def rewrites(self) -> int | None:
        """Calls that sent a cached prefix anew although it had not expired."""
        return sum(one.cause != "expiry" for one in self.ledger.breaks) if self.with_cache else None

    @property
    def expiries(self) -> int | None:
        """Calls that found their cached prefix expired."""
        return sum(one.cause == "expiry" for one in self.ledger.breaks) if self.with_cache else None

    @property
    def events(self) -> int:
        return int(self.document.summary["events"])


def ways(session: Session, document: ReplayDocument, state: PageState) -> list[Way]:
    """Those that differ: a policy that never compresses is no way of its own, nor is the sliding window itself."""
    policy, label = state.policy, state.policy_label
    none = PRESETS["none"]
    sliding = sliding_like(policy)
    plain = document if policy.strategy == "none" else stored_replay(session, none)
    found = [Way("none", _("no compression"), plain, with_cache=False)]
    if policy.strategy != "none":
        found += [Way("own", label, document, with_cache=False), Way("own", label, document)]
    found.append(Way("none", _("no compression"), plain))
    if sliding.digest != policy.digest:
        found.append(Way("sliding", _("sliding window"), stored_replay(session, sliding)))
    if policy.strategy != "recorded" and document.boundaries:
        found.append(Way("recorded", _("the agent itself"), stored_replay(session, PRESETS["recorded"])))
    return found
