"""Typed access to JSON values that nobody vouches for.

A field of a log may hold anything. Each function gives the wanted type or its empty value and
never raises; none of them knows a format.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import orjson

JsonObject = dict[str, Any]

_MOST_NAMES = 60
_LONGEST_NAME = 60
_FIRST_MILLISECONDS = 100_000_000_000  # as seconds this is the year 5138, as milliseconds 1973


def mapping(value: object) -> JsonObject:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def string(value: object) -> str:
    """The string, or an empty one; numbers are no strings."""
    return value if isinstance(value, str) else ""


def whole(value: object) -> int:
    """A count of tokens or bytes: never negative, 0 for what is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, int(min(value, 2**53)))


def moment(value: object) -> float | None:
    """Seconds since 1970, from ISO 8601 text (UTC unless it says otherwise), seconds or milliseconds."""
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value)
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
            seconds = value / 1000 if value >= _FIRST_MILLISECONDS else float(value)
            return seconds if seconds < _FIRST_MILLISECONDS else None
    except (ValueError, OverflowError):
        return None
    return None


def json_text(value: object) -> str:
    """A value as compact JSON; strings stay as they are, so that raw arguments remain raw."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):  # nested deeper than orjson writes, or an integer beyond 64 bits
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        except (RecursionError, ValueError):
            return "[nested too deeply to be shown]"


def one_line(text: str, limit: int = 120) -> str:
    """The words of ``text`` on one line of at most ``limit`` characters."""
    words = " ".join(text[: limit * 20].split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


def tally(counter: Counter[str], name: str, count: int = 1) -> None:
    """Count under ``name``, bounded: a hostile file must not mint a counter per record."""
    short = name[:_LONGEST_NAME] or "without type"
    if short not in counter and len(counter) >= _MOST_NAMES:
        short = "other"
    counter[short] += count
