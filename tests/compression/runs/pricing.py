"""Prices of a project that the tests know, so that they can add up dollars themselves."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from compression.project_prices import set_prices
from sessions.models import Project

PRICES: dict[str, Any] = {
    "input": Decimal(3),
    "output": Decimal(15),
    "cache_read": Decimal("0.30"),
    "cache_write": Decimal("3.75"),
    "cache_write_long": Decimal(6),
}


def priced(project: Project, **changes: Any) -> Project:
    """The project as the next request finds it, with prices of its own for the models that nobody knows."""
    set_prices(project, {**PRICES, "scope": "unknown", "note": "", **changes})
    return Project.objects.get(pk=project.pk)
