"""Regular expressions that users write, run by RE2: time grows with the text, whatever the pattern.

RE2 counts bytes and says its errors in bytes, and on stderr too unless it is told not to; both ends here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class BadPattern(ValueError):
    """No expression that RE2 understands; says what it stumbled over."""


MOST_MEMORY = 8 * 2**20
"""Bytes that one expression and its automata may take; a search that would need more goes slower instead."""

_AT_LINES = "(?m)"


@lru_cache(maxsize=256)
def compiled(pattern: str, *, any_case: bool = False, at_lines: bool = False) -> Any:
    """The compiled pattern, whose ``search`` takes a text or its UTF-8. BadPattern when there is none.

    ``at_lines``: ^ and $ stand at every line, as a reader of logs expects.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    options.case_sensitive = not any_case
    lead = _AT_LINES if at_lines else ""
    try:
        return re2.compile((lead + pattern).encode("utf-8", "replace"), options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        # RE2 may quote the whole expression, and with it what was put in front.
        text = text.replace(lead + pattern, pattern) if lead else text
        raise BadPattern(f"{pattern!r} is no RE2 expression: {text}") from None
