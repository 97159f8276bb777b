"""One tool output with the facts that were planted in it."""

from __future__ import annotations

from typing import NamedTuple


class Fixture(NamedTuple):
    """``facts`` stand in ``text`` in the same words, so that any engine can be asked for them.

    ``computed`` are facts that only counting gives (rows of a table, line numbers, lines of a template), in the words
    of our own stubs. ``text`` has more than 2,000 tokens.
    """

    name: str
    kind: str
    tool: str
    arguments: str
    text: str
    facts: tuple[str, ...]
    computed: tuple[str, ...] = ()


class Noise:
    """Numbers without a pattern that are the same in every process."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, limit: int) -> int:
        """The next number of 0 .. ``limit`` (exclusive)."""
        self._state = (self._state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % (1 << 64)
        return (self._state >> 33) % limit

    def one(self, *values: str) -> str:
        """One of ``values``."""
        return values[self.below(len(values))]

    def hexadecimal(self, digits: int) -> str:
        """So many digits, as of a hash."""
        return "".join("0123456789abcdef"[self.below(16)] for _ in range(digits))
