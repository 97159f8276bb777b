"""Regular expressions that users write, run by RE2: time grows with the text, whatever the pattern.

RE2 counts bytes and says its errors in bytes, and on stderr too unless it is told not to; both ends here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class BadPattern(ValueError):
    """No expression that RE2 understands; says what it stumbled over."""


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """The compiled pattern, whose ``search`` takes a text. BadPattern when there is none."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadPattern(f"{pattern!r} is no RE2 expression: {text}") from None
