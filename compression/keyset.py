"""The cursor of a keyset page: the sort, the last row's sort value and its key.

A cursor comes back from an address, so anything may be in it: what is no cursor of this sort is none.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import orjson
from django.db.models import Model

LARGEST_KEY = 2**63
LARGEST_VALUE = 2**62


def write_cursor(row: Model, sort: str) -> str:
    """Of a row that was annotated with its ``sort_value``."""
    value = row.sort_value  # type: ignore[attr-defined]  # annotated by the query
    return base64.urlsafe_b64encode(orjson.dumps([sort, value, row.pk])).decode().rstrip("=")


def read_cursor(cursor: str, sort: str, *, is_word: bool) -> tuple[Any, int] | None:
    """(sort value, key) behind which the page starts; None for the first page."""
    try:
        of_sort, value, key = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        return None
    if of_sort != sort or type(key) is not int or not 0 <= key < LARGEST_KEY:
        return None
    if is_word:
        return (value, key) if isinstance(value, str) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (value, key) if is_number and abs(value) < LARGEST_VALUE else None
