"""What the calls of a session are charged for: their models' prices and caches, at the session's own dates.

Where a price is not known the calls have none, and ``warnings`` says so; no other model's stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from compression.engine.cache_profiles import CacheProfile, profile_for
from compression.engine.lifetimes import Lifetime, idle_gaps, lifetime_of, written_for
from compression.engine.pricing import Prices, prices_for
from compression.engine.transcript import Transcript

LONGEST_NAME = 80

OwnPrices = Prices | Mapping[str, Prices]
"""Prices that a project set: for every call, or by the name of a model as the log writes it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """``models`` and ``prices`` by turn. ``warm`` = tokens that other sessions had cached before the first call;
    ``write_seconds`` = the lifetime that writes pay for, however long the cache really lived."""

    profile: CacheProfile
    lifetime: Lifetime
    write_seconds: int
    warm: int
    idle: tuple[float | None, ...]
    models: tuple[str, ...]
    prices: tuple[Prices | None, ...]
    warnings: tuple[str, ...] = ()

    def is_cold(self, turn: int) -> bool:
        """Whether the cache had expired before a call; not where nobody knows how long it lay idle."""
        idle = self.idle[turn]
        return idle is not None and idle > self.lifetime.seconds

    def ratios(self, turn: int, tokens: int) -> tuple[float, float] | None:
        """(write, read) as multiples of uncached input for a request of a turn; None where no price is known."""
        prices = self.prices[turn]
        if prices is None:
            return None
        if self.profile.matching == "none":
            return 1.0, 1.0
        prices = prices.of_request(tokens)
        return prices.write_ratio(self.write_seconds), prices.read_ratio()


def terms_of(transcript: Transcript, prices: OwnPrices | None = None) -> Terms:
    """The terms of a session; ``prices``: those that a project set itself, before any table. Once without them."""
    if prices is not None:
        return _terms(transcript, prices)
    known: Terms | None = transcript.memo.get("terms")
    if known is None:
        known = _terms(transcript, None)
        transcript.memo["terms"] = known
    return known


def _terms(transcript: Transcript, prices: OwnPrices | None) -> Terms:
    models = models_of(transcript)
    started = next((turn.time for turn in transcript.turns if turn.time is not None), None)
    by_model = {model: _price(model, started, prices) for model in dict.fromkeys(models)}
    main = models[0] if models else transcript.model
    profile = _profile(main, started, by_model.get(main))
    unknown = [_shown(model) for model, known in by_model.items() if known is None]
    first = transcript.turns[0].recorded if transcript.turns else None
    lifetime = lifetime_of(transcript, profile)
    return Terms(
        profile=profile,
        lifetime=lifetime,
        write_seconds=written_for(transcript, profile) or lifetime.seconds,
        warm=0 if first is None else first.cache_read,
        idle=idle_gaps(transcript),
        models=models,
        prices=tuple(by_model[model] for model in models),
        warnings=tuple(
            f"no price is known for the model {model}: set one for the project to see dollars" for model in unknown
        ),
    )


def _profile(model: str, at: float | None, prices: Prices | None) -> CacheProfile:
    """The cache of a model. Writes that have a price above that of input are charged, also where the table knows no
    provider that does: whoever sets such a price means it."""
    profile = profile_for(model, at)
    is_dear = prices is not None and profile.matching != "none" and prices.cache_write > prices.input
    return replace(profile, charges_writes=True) if is_dear else profile


def _price(model: str, at: float | None, own: OwnPrices | None) -> Prices | None:
    if isinstance(own, Prices):
        return own
    if own is not None and model in own:
        return own[model]
    return prices_for(model, at)


def _shown(model: str) -> str:
    """A name that a log wrote: cut, and without what is not printable."""
    return "".join(c if c.isprintable() else " " for c in model[:LONGEST_NAME]) or "(not named)"


def models_of(transcript: Transcript) -> tuple[str, ...]:
    """The model that answered each call; where the log does not say, the one before, else the first that it names."""
    named = (turn.recorded.model for turn in transcript.turns if turn.recorded is not None and turn.recorded.model)
    found, model = [], transcript.model or next(named, "")
    for turn in transcript.turns:
        if turn.recorded is not None and turn.recorded.model:
            model = turn.recorded.model
        found.append(model)
    return tuple(found)
