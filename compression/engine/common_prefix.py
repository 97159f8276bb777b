"""How many tokens of a changed message still begin as they did: a stub may share its beginning with what it replaces.

Only the first changed message of an event is looked at; nothing behind it is a cached prefix any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from compression.engine.edits import Edit
from compression.engine.transcript import Message

LEAST_CHARACTERS = 8
"""A shorter common beginning is a token or two, and not worth counting."""


def unchanged_beginning(
    message: Message,
    counts: Sequence[int],
    standing: Mapping[tuple[int, int], Edit],
    edits: Sequence[Edit],
    count: Callable[[str], int],
) -> int:
    """Uncalibrated tokens of a message before its first change: parts before it, and the common beginning within it.

    ``counts`` are those of its parts as logged, ``standing`` what stands in their place by now. The message's own
    overhead is left out.
    """
    changed = min((edit for edit in edits if edit.message == message.index), key=lambda edit: edit.part)
    tokens = 0
    for j in range(changed.part):
        stood = standing.get((message.index, j))
        tokens += counts[j] if stood is None else stood.tokens_after
    stood = standing.get((message.index, changed.part))
    text = message.parts[changed.part].text if stood is None else stood.text
    length = _common(text, changed.text)
    if length < LEAST_CHARACTERS:
        return tokens
    here = counts[changed.part] if stood is None else stood.tokens_after
    return tokens + min(count(text[:length]), here, changed.tokens_after)


def _common(one: str, other: str) -> int:
    """Characters that both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
