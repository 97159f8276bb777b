"""Tool names of other agents under the names that a reference knows its tools by."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a tool is one of these (globs in lower case; the name's case is ignored)."""
    lowered = name.lower()
    return any(fnmatchcase(lowered, pattern) for pattern in patterns)
