"""Long arguments in tiny pieces: the scanner against merely appending the same pieces."""

from __future__ import annotations

import json

from benchmarks.measuring import Row, medians
from sessions.streaming.partial_json import PartialJson

LIMIT = 50
"""How many times longer than appending it may take."""

PIECE = 4
LINE = 'def größe(x):\n\treturn "zäh 😀"  # naïve\n'


class Appending:
    """The floor: an object that is fed the same pieces and keeps them."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def feed(self, text: str) -> None:
        self.pieces.append(text)


def rows() -> list[Row]:
    return [measured("escaped", ascii_only=True), measured("raw", ascii_only=False)]


def measured(name: str, *, ascii_only: bool) -> Row:
    arguments = {"file_path": "src/x.py", "content": LINE * 3_700, "options": {"mode": 420, "tags": ["a", "b"]}}
    text = json.dumps(arguments, ensure_ascii=ascii_only)[:260_000]
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]

    def append() -> None:
        whole = Appending()
        for piece in pieces:
            whole.feed(piece)

    def scan() -> None:
        scanner = PartialJson()
        for piece in pieces:
            scanner.feed(piece)

    floor, ours = medians(append, scan)
    detail = f"{len(text):,} characters in {len(pieces):,} pieces, {1e3 * ours:.0f} ms"
    return Row(f"partial JSON, {name}", ours / floor, "x", LIMIT, detail)
