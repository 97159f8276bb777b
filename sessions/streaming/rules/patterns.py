"""Regular expressions of rule files, run by RE2: time grows with the text, whatever the pattern."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class BadPattern(ValueError):
    """No expression that RE2 understands."""


@lru_cache(maxsize=256)
def pattern(expression: str) -> Any:
    """The compiled expression. BadPattern when there is none."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 * 2**20
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        raise BadPattern(f"{expression!r} is no RE2 expression: {error}") from None
