"""Reads fields of foreign JSON without trust: of the wanted type, or absent."""

from __future__ import annotations

from typing import Any


def record(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def records(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def index(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
