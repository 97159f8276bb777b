"""How a provider's prompt cache works: where a cached prefix may end, from how many tokens on, and for how long.

Data with source and date (``data/cache_profiles.toml``), by model family. No price stands here: the multiples serve
where the price tables name none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

Matching = Literal["marks", "ends", "prefix", "none"]


@dataclass(frozen=True, slots=True)
class CacheProfile:
    """One provider's cache. ``lifetimes`` in seconds since the last use, the usual one first.

    ``matching`` says where a cached prefix may end. marks: at the marks that a client sets (the end of the system
    prompt and of the newest messages), at most ``marks`` a request, and an older entry is found within ``lookback``
    blocks before one. ends: where a request ended, the latest ``considered`` of them. prefix: anywhere, in steps of
    ``unit`` tokens. Shorter ones than ``minimum`` are never cached. ``read``, ``write``, ``write_long`` are multiples
    of uncached input; without ``charges_writes`` what is not read counts as plain input.
    """

    name: str
    matching: Matching = "prefix"
    minimum: int = 0
    unit: int = 1
    lifetimes: tuple[int, ...] = (300,)
    marks: int = 0
    lookback: int = 0
    considered: int = 0
    read: Decimal = Decimal(1)
    write: Decimal = Decimal(1)
    write_long: Decimal = Decimal(1)
    charges_writes: bool = False
    since: str = ""

    @property
    def lifetime_s(self) -> int:
        """The usual lifetime."""
        return self.lifetimes[0]


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "data" / "cache_profiles.toml").read_text(encoding="utf-8"))


def _given(row: dict[str, Any]) -> dict[str, Any]:
    numbers: dict[str, Any] = {name: Decimal(row[name]) for name in ("read", "write", "write_long") if name in row}
    lifetimes: dict[str, Any] = {"lifetimes": tuple(row["lifetimes"])} if "lifetimes" in row else {}
    return {**{name: value for name, value in row.items() if name != "profile"}, **numbers, **lifetimes}


PROFILES: dict[str, CacheProfile] = {
    name: CacheProfile(name, **_given(row)) for name, row in _data()["profiles"].items()
}

TABLE_DATE: str = _data()["date"]


def model_names(model: str) -> Iterator[str]:
    """A model's name as a log may write it, then without what gateways put before it (``us.anthropic.claude-...``)."""
    name = model.strip().lower()
    yield name
    last = name.rsplit("/", 1)[-1]
    if last != name:
        yield last
    for family in ("claude", "gpt", "gemini", "deepseek", "kimi", "glm"):
        at = last.find(f".{family}")
        if at >= 0:
            yield last[at + 1 :]


@lru_cache(maxsize=1024)
def profile_for(model: str, at: float | None = None) -> CacheProfile:
    """The cache of a model's provider at a time (seconds since 1970); ``generic`` where the model is unknown."""
    rows = _data()["models"]
    for name in model_names(model):
        match = max((prefix for prefix in rows if name.startswith(prefix)), key=len, default=None)
        if match is not None:
            profile = replace(PROFILES[rows[match]["profile"]], **_given(rows[match]))
            return PROFILES["none"] if at is not None and _is_before(at, profile.since) else profile
    return PROFILES["generic"]


def _is_before(at: float, day: str) -> bool:
    return bool(day) and at < datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
