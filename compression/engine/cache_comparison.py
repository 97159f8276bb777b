"""Compression and prompt caching held against each other on one session: what each alone and both together cost.

The same window, trigger and protected tail for all; only what is done about them differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from compression.engine.calibration import Calibration
from compression.engine.costs import Ledger, ledger_of, ledger_without_cache
from compression.engine.history import History
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.engine.stubs import Stubber
from compression.engine.terms import OwnPrices
from compression.engine.transcript import Transcript

SHARED = ("context_window", "trigger_ratio", "reserve_output", "recent_tokens", "recent_mode", "min_result_tokens")
"""Settings that the sliding window takes from the policy it is held against."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One way to run a session. ``tokens`` = input of all calls; ``cost_usd`` is None without a price.

    ``overflow_turn`` = the first call that would not fit the window: what comes after it never ran that way.
    """

    name: str
    policy: str
    with_cache: bool
    tokens: int
    hit_rate: float | None
    cost_usd: Decimal | None
    rewrites: int
    expiries: int
    events: int
    overflow_turn: int | None


def compare_caching(
    transcript: Transcript,
    policy: Policy,
    calibration: Calibration,
    *,
    history: History = "uncompacted",
    prices: OwnPrices | None = None,
    stubber: Stubber | None = None,
) -> tuple[Compared, ...]:
    """No compression and the policy, each without and with a cache, then a sliding window with one."""
    stubber = stubber or Stubber()

    def run(chosen: Policy) -> Replay:
        return replay(transcript, chosen, calibration, history=history, prices=prices, stubber=stubber)

    return compared(run(none_like(policy)), run(policy), run(sliding_like(policy)))


def none_like(policy: Policy) -> Policy:
    """No compression in another policy's window."""
    shared = ("context_window", "reserve_output")
    return PRESETS["none"].model_copy(update={name: getattr(policy, name) for name in shared})


def sliding_like(policy: Policy) -> Policy:
    """The sliding window with another policy's window, trigger and tail."""
    return PRESETS["sliding-window"].model_copy(update={name: getattr(policy, name) for name in SHARED})


def compared(none: Replay, own: Replay, sliding: Replay) -> tuple[Compared, ...]:
    """The same from replays that are there already."""
    return (
        _row("no compression, no cache", none, ledger_without_cache(none), with_cache=False),
        _row("compression, no cache", own, ledger_without_cache(own), with_cache=False),
        _row("compression, cache", own, ledger_of(own), with_cache=True),
        _row("sliding window, cache", sliding, ledger_of(sliding), with_cache=True),
        _row("no compression, cache", none, ledger_of(none), with_cache=True),
    )


def _row(name: str, replayed: Replay, ledger: Ledger, *, with_cache: bool) -> Compared:
    return Compared(
        name=name,
        policy=replayed.policy.name,
        with_cache=with_cache,
        tokens=ledger.tokens,
        hit_rate=ledger.hit_rate,
        cost_usd=None if ledger.cost is None else ledger.cost.total,
        rewrites=ledger.rewrites,
        expiries=ledger.expiries,
        events=sum(event.changes for event in replayed.events),
        overflow_turn=next((t for t in range(len(replayed.windows_after)) if not replayed.fits(t)), None),
    )
