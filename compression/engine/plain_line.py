"""Words of a session as one line of another text: blanks run together, control characters visible, bounded.

A cut never goes through a word, so that no name or number comes out that the session does not have.
"""

from __future__ import annotations

import re
import unicodedata

_BLANKS = re.compile(r"\s+")
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))
_PICTURES = 0x2400
ELLIPSIS = "…"


def plain_line(text: str, limit: int) -> str:
    """At most ``limit`` characters of a text in one line; ends with an ellipsis where words are missing."""
    # What lies far behind the limit is not looked at; enough is read for runs of blanks.
    line = _BLANKS.sub(" ", text[: 4 * limit + 1_000]).strip()
    if not line.isascii() or not line.isprintable():
        line = "".join(map(_seen, line))
    if len(line) <= limit:
        return line
    cut = limit
    while cut and _glued(line[cut - 1]) and _glued(line[cut]):
        cut -= 1
    return f"{line[:cut].rstrip()} {ELLIPSIS}".lstrip()


def _glued(character: str) -> bool:
    return "!" <= character <= "~"


def _seen(character: str) -> str:
    """Controls as their pictures, other characters without a shape as U+FFFD."""
    if character < " " or character == "\x7f":
        return chr(_PICTURES + (ord(character) if character < " " else 0x21))
    return "\ufffd" if unicodedata.category(character) in _UNSEEN else character
