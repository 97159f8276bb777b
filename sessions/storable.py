"""Makes JSON, figures and bounded text fit for every database: no endless integer, no text that none takes."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from sessions.importers.storable_text import storable_text

LARGEST_INTEGER = 2**53 - 1
# Years 1 to 9999: what a datetime can hold.
EARLIEST_TIME, LATEST_TIME = -62135596800.0, 253402300799.0


def bounded_text(text: str, length: int) -> str:
    text = storable_text(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def bounded_integer(number: int) -> int:
    return min(max(number, 0), LARGEST_INTEGER)


def storable_time(seconds: float | None) -> datetime | None:
    """Seconds since 1970 as a datetime in UTC; None where no calendar has such a day."""
    if seconds is None or not EARLIEST_TIME <= seconds <= LATEST_TIME:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def storable_json(value: Any) -> Any:
    """The value with storable strings (keys too) and integers."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return max(min(value, LARGEST_INTEGER), -LARGEST_INTEGER)
    if isinstance(value, dict):
        return {storable_text(str(name)): storable_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return storable_json(asdict(value))
    return value


def json_column(value: Any) -> str:
    """JSON text for a column; the careful walk is paid only by values that need it."""
    try:
        encoded = orjson.dumps(value)
    except TypeError:
        encoded = orjson.dumps(storable_json(value))
    if b"\\u0000" in encoded:
        encoded = orjson.dumps(storable_json(value))
    return encoded.decode()
