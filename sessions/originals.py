"""Gathers the bodies of tool results, each once, under the sha256 of its UTF-8 bytes."""

from __future__ import annotations

from hashlib import sha256

OriginalRow = tuple[str, str, int, int]


class Originals:
    """The bodies that one import met; ``rows`` is ordered by hash, so that two imports never wait on each other."""

    def __init__(self) -> None:
        self._rows: dict[str, OriginalRow] = {}

    def add(self, text: str) -> str:
        """Keep a body (storable text) and return its address."""
        encoded = text.encode()
        address = sha256(encoded).hexdigest()
        if address not in self._rows:
            self._rows[address] = (address, text, len(encoded), line_count(text))
        return address

    def rows(self) -> list[OriginalRow]:
        return [self._rows[address] for address in sorted(self._rows)]


def line_count(text: str) -> int:
    """Lines as an editor counts them: a last line without its newline counts too."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)
