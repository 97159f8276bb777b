"""Is a stub truthful: does every name and number in it stand in the original, or was it counted?

It scores stubs of compressors and summaries of language models alike. It says nothing about what a
stub left out (that is retention) and does not check that a count is right: the one who counted
vouches for it by listing it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from html import unescape

from compression.engine.identifiers import occurs, readable, spans, unescaped
from compression.engine.tool_output import cleaned

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])(?:\d{1,3}(?:,\d{3})++(?![\d])|\d++)(?:\.\d++)?+(?![A-Za-z0-9_])")


def fidelity(original: str, stub: str, counts: Collection[str]) -> tuple[int, int, list[str]]:
    """(names and numbers that hold, all of them, those that do not), each distinct one once.

    ``stub`` is without its first line (address and token counts belong to the planner). Numbers are all
    numbers, also short ones; a number glued to a letter is part of a name and judged with it.
    """
    text = unescaped(stub)
    claims = dict.fromkeys(match.group() for match in _NUMBER.finditer(text))
    # A count such as 1,234 is one number; left in place its last digits would read as another.
    rest = _NUMBER.sub(lambda match: "#" if "," in match.group() and match.group() in counts else match.group(), text)
    claims.update(dict.fromkeys(name for name, _ in spans(rest)))
    if not claims:
        return 0, 0, []
    seen = cleaned(original).text
    sources = dict.fromkeys((original, readable(original), seen, readable(seen)))
    if "&" in seen:
        sources[unescape(seen)] = None
    bad = [claim for claim in claims if claim not in counts and not any(occurs(claim, source) for source in sources)]
    return len(claims) - len(bad), len(claims), bad
