"""The cost figures of a replay as plain data, simulated beside recorded. Money is a decimal string, or null."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from compression.engine.cache_effectiveness import analyze_cache_effectiveness
from compression.engine.costs import Ledger
from compression.engine.money import dollars
from compression.engine.pricing import Prices
from compression.engine.replay import Replay
from compression.engine.stability_lint import stability_lint
from compression.engine.terms import Terms


def _usd(amount: Decimal | None) -> str | None:
    return None if amount is None else dollars(amount)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def cost_fields(replay: Replay, ledger: Ledger) -> dict[str, Any]:
    """The summary's figures. Those that the log holds nothing for are None.

    ``hit_rate`` is a share of all input; ``hit_rate_error`` = simulated - observed over the calls with a record, where
    the replay is what the agent itself did.
    """
    terms, cost = ledger.terms, ledger.cost
    calls = [turn.recorded for turn in replay.transcript.turns]
    observed = analyze_cache_effectiveness(calls, terms.prices, terms.write_seconds)
    findings = stability_lint(replay.transcript, replay.calibration, terms)
    moved = [finding for finding in findings if finding.turn is not None]
    return {
        "cost_usd": None if cost is None else dollars(cost.total),
        "cost_parts_usd": None
        if cost is None
        else {name: dollars(getattr(cost, name)) for name in ("read", "write", "uncached", "output")},
        "hit_rate": _rounded(ledger.hit_rate),
        "cache_read": ledger.read,
        "cache_write": ledger.write,
        "cache_uncached": ledger.uncached,
        "output_tokens": sum(output.tokens for output in ledger.outputs),
        "output_counted_calls": sum(output.basis == "counted" for output in ledger.outputs),
        "rewrites": ledger.rewrites,
        "expiries": ledger.expiries,
        "rewritten_tokens": ledger.rewritten_tokens,
        "unforced_breaks": len(moved),
        "unforced_tokens": sum(finding.tokens for finding in moved),
        "break_even": None if ledger.break_even is None else round(ledger.break_even, 2),
        "observed_hit_rate": _rounded(observed.hit_rate),
        "observed_calls": observed.calls,
        "observed_input_usd": _usd(observed.input_usd),
        "observed_input_usd_uncached": _usd(observed.input_usd_uncached),
        "hit_rate_error": _error(replay, ledger),
        "lifetime_s": terms.lifetime.seconds,
    }


def _error(replay: Replay, ledger: Ledger) -> float | None:
    if replay.policy.strategy != "recorded":
        return None
    pairs = [(ledger.turns[turn.index], turn.recorded) for turn in replay.transcript.turns if turn.recorded is not None]
    sent, context = sum(cached.tokens for cached, _ in pairs), sum(recorded.context_tokens for _, recorded in pairs)
    if not sent or not context:
        return None
    simulated = sum(cached.read for cached, _ in pairs) / sent
    return round(simulated - sum(recorded.cache_read for _, recorded in pairs) / context, 6)


def terms_fields(ledger: Ledger) -> dict[str, Any]:
    """What the figures rest on: the cache's rules and lifetime, and the prices of every model with their source."""
    terms: Terms = ledger.terms
    profile, lifetime = terms.profile, terms.lifetime
    known = dict(zip(terms.models, terms.prices, strict=True))
    return {
        "profile": profile.name,
        "matching": profile.matching,
        "minimum": profile.minimum,
        "unit": profile.unit,
        "lifetime": {
            "seconds": lifetime.seconds,
            "basis": lifetime.basis,
            "survived": lifetime.survived,
            "expired": lifetime.expired,
        },
        "write_seconds": terms.write_seconds,
        "warm": terms.warm,
        "prices": {model: None if prices is None else price_fields(prices) for model, prices in known.items()},
    }


def findings_fields(replay: Replay, ledger: Ledger) -> list[dict[str, Any]]:
    """What moved inside the prefix of the session without an event, whatever the policy."""
    return [
        {
            "kind": finding.kind,
            "turn": finding.turn,
            "message": finding.message,
            "tokens": finding.tokens,
            "cost_usd": _usd(finding.cost_usd),
            "evidence": finding.evidence,
            "why": finding.why,
            "remedy": finding.remedy,
        }
        for finding in stability_lint(replay.transcript, replay.calibration, ledger.terms)
    ]


def price_fields(prices: Prices) -> dict[str, Any]:
    """One model's dollars for a million tokens."""
    names = ("input", "output", "cache_read", "cache_write", "cache_write_long")
    return {
        **{name: dollars(getattr(prices, name)) for name in names},
        "source": prices.source,
        "as_of": prices.as_of,
        "long_above": prices.long_above,
        "long": None if prices.long is None else price_fields(prices.long),
    }
