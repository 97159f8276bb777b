"""Whether a large JSON text is worth its memory, judged by its bytes before anything parses it.

Parsed values take far more memory than their text when they are tiny: 190 MB of ``{},{},`` would take
6 GB. A text is refused that shows no field of any session format at its beginning, or whose objects,
arrays and commas would take more than ``MOST_MEMORY`` times its size. Estimates, never parsing.
"""

from __future__ import annotations

import re

LARGE = 8 * 1024 * 1024
HEAD_BYTES = 64 * 1024
MOST_MEMORY = 6
_ALLOWANCE = 64 * 1024 * 1024

NO_KNOWN_FIELD = "over 8 MB and without a field of any session format in its first 64 KB"
TOO_MANY_VALUES = f"of so many tiny values that it would take over {MOST_MEMORY} times its size in memory"

_KNOWN_FIELD = re.compile(
    rb'"(?:role|content|type|message|messages|uuid|parentUuid|sessionId|session_id|id|timestamp|payload|record_type'
    rb"|instructions|model|tools|system|leafUuid|snapshot|traj|history|trajectory|trajectory_format|source|action"
    rb"|observation|spanContext|context|attributes|trace|observations|projectHash|eval|samples|lc|kwargs|choices"
    rb'|candidates|log|schema_version|resourceSpans|conversations|session|info|title|runs|request|response)"\s*:'
)
# Bytes that a CPython value takes, by how its text begins; inside strings the quote would be escaped.
_COSTS = ((b'{"', 250), (b"{\n", 250), (b"{\r", 250), (b"{ ", 250), (b"{}", 72), (b"[", 64), (b",", 20))


def refusal(raw: bytes) -> str:
    """Why the text must not be parsed, empty when it may be."""
    if len(raw) >= LARGE and not has_known_field(raw):
        return NO_KNOWN_FIELD
    if sum(raw.count(start) * cost for start, cost in _COSTS) > MOST_MEMORY * len(raw) + _ALLOWANCE:
        return TOO_MANY_VALUES
    return ""


def has_known_field(head: bytes) -> bool:
    """Looks at the first 64 KB of ``head``."""
    return _KNOWN_FIELD.search(head, 0, HEAD_BYTES) is not None
