"""Prices that a project sets itself: for the models that no table of prices knows, or for all of them.

The one place that turns them into what the engine takes. Nothing is guessed: a project without prices has none, and a
model that nobody knows then costs nothing that could be said.
"""

from __future__ import annotations

from datetime import UTC
from hashlib import sha256
from typing import Any

from compression.engine.pricing import Prices, prices_for
from compression.engine.terms import OwnPrices, models_of
from compression.engine.transcript import Transcript
from compression.models import ProjectPrices
from sessions.models import Project

FIELDS = ("input", "output", "cache_read", "cache_write", "cache_write_long")


def set_prices_of(project: Project) -> ProjectPrices | None:
    """The row. One query for each ``Project`` instance, none where ``prices`` was selected along with it."""
    found: ProjectPrices | None = getattr(project, "prices", None)
    return found


def prices_of(project: Project) -> Prices | None:
    """The prices that the project set, for whichever model they are; None without."""
    row = set_prices_of(project)
    return None if row is None else _prices(row)


def own_prices(project: Project, transcript: Transcript) -> OwnPrices | None:
    """What a replay of one of the project's sessions takes: for every call, or for the models that no table knows."""
    row = set_prices_of(project)
    if row is None:
        return None
    prices = _prices(row)
    if row.scope == ProjectPrices.Scope.ALL:
        return prices
    started = next((turn.time for turn in transcript.turns if turn.time is not None), None)
    names = dict.fromkeys(models_of(transcript))
    return {name: prices for name in names if prices_for(name, started) is None} or None


def digest_of(project: Project) -> str:
    """Tells replays under other prices apart; empty without prices of one's own."""
    row = set_prices_of(project)
    return "" if row is None else row_digest(row)


def row_digest(row: ProjectPrices) -> str:
    """Of everything in a row that a figure could rest on or show."""
    amounts = (f"{getattr(row, name).normalize():f}" for name in FIELDS)
    return sha256("\n".join((row.scope, *amounts, row.note)).encode()).hexdigest()


def set_prices(project: Project, fields: dict[str, Any]) -> None:
    """Store what a valid form says. The next look at a session works its dollars out again."""
    ProjectPrices.objects.update_or_create(project=project, defaults=fields)


def forget_prices(project: Project) -> None:
    """Back to the table alone."""
    ProjectPrices.objects.filter(project=project).delete()


def _prices(row: ProjectPrices) -> Prices:
    amounts = {name: getattr(row, name) for name in FIELDS}
    source = f"set by the project: {row.note}" if row.note else "set by the project"
    return Prices("", **amounts, source=source, as_of=row.set_at.astimezone(UTC).date().isoformat())
