"""What a reader searches a session for, and how one text is searched: plain words, or an RE2 expression.

Plain text is found in any case. Expressions are those of ``compression.engine.patterns``, BadPattern included.
Knows no session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.translation import gettext_lazy as _

from compression.engine.patterns import compiled

ROLES = [
    ("", _("any role")), ("system", _("system")), ("user", _("user")), ("assistant", _("assistant")),
    ("tool", _("tool")),
]  # fmt: skip
ZONES = [
    ("", _("anywhere")), ("window", _("in this window")), ("head", _("head")), ("pinned", _("pinned")),
    ("compressible", _("compressible")), ("recent", _("recent")), ("compressed", _("compressed")),
    ("left", _("no longer in it")), ("later", _("comes later")),
]  # fmt: skip
MOST_COUNTED = 100
"""Occurrences in one text that are counted."""

_MOST_EMPTY = 1_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Everything empty searches for nothing. ``tool`` is part of a tool's name; ``zone`` is that of the turn
    at hand under the policy at hand."""

    q: str = ""
    regex: bool = False
    tool: str = ""
    role: str = ""
    zone: str = ""
    errors_only: bool = False

    def __post_init__(self) -> None:
        if self.q and self.regex:
            _expression(self.q)

    def __bool__(self) -> bool:
        return bool(self.q or self.tool or self.role or self.zone or self.errors_only)

    def as_query(self) -> dict[str, Any]:
        """What of it stands in an address."""
        said = {"q": self.q, "tool": self.tool, "role": self.role, "zone": self.zone}
        given: dict[str, Any] = {name: value for name, value in said.items() if value}
        flags = {"regex": self.regex and bool(self.q), "errors_only": self.errors_only}
        return given | {name: "on" for name, is_set in flags.items() if is_set}

    def places(self, text: str, most: int = MOST_COUNTED) -> list[tuple[int, int]]:
        """Where the text has what is searched for, (start, end) in characters; the first ``most`` of them."""
        found = _expression_places(self.q, text) if self.regex else _plain_places(self.q, text)
        return list(islice(found, most))


def _plain_places(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    lowered, wanted = text.lower(), wanted.lower()
    # A few characters lower to two; then only the exact case can be told where it is.
    if len(lowered) != len(text):
        lowered = text
    at = lowered.find(wanted)
    while at >= 0:
        yield at, at + len(wanted)
        at = lowered.find(wanted, at + max(1, len(wanted)))


def _expression_places(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Searches bytes, because RE2 reads UTF-8. A match of nothing is no hit, and many of them end the search."""
    expression = _expression(pattern)
    raw = text.encode("utf-8", "replace")
    at = nothing = known_bytes = known_chars = 0
    while at <= len(raw) and nothing < _MOST_EMPTY and (match := expression.search(raw, at)) is not None:
        start, end = match.span()
        if start == end:
            nothing += 1
            at = end + 1
            while at < len(raw) and raw[at] & 0xC0 == 0x80:  # inside a character
                at += 1
            continue
        first = known_chars + len(raw[known_bytes:start].decode("utf-8", "ignore"))
        last = first + len(raw[start:end].decode("utf-8", "ignore"))
        known_bytes, known_chars, at = end, last, end
        yield first, last


def _expression(pattern: str) -> Any:
    return compiled(pattern, any_case=True, at_lines=True)
