"""The proportional strip of a window: its zones in order, each as wide as its calibrated tokens.

At most some twenty pieces: small changes between the shown ones count as what surrounds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest

from compression.replay_document import ReplayDocument

CHANGES_SHOWN, PINS_SHOWN = 6, 3


@dataclass(frozen=True, slots=True)
class Piece:
    """``look`` is sacred, pinned, compressible or compressed; ``tokens`` are calibrated."""

    look: str
    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Strip:
    """One side. ``limit`` = where the context window ends as a share of the strip, None when the window fits."""

    pieces: tuple[Piece, ...]
    tokens: int
    usage: float
    free: int
    limit: float | None


def strip(document: ReplayDocument, turn: int, *, after: bool, reserve: int = 0) -> Strip:
    """The strip of one side at a turn."""
    table = document.table
    total = (table.after if after else table.before)[turn]
    recent = min(table.zones["recent"][turn], total)
    head = max(0, min(table.zones["head"][turn] - table.hidden, total - table.hidden - recent))
    middle = max(0, total - table.hidden - head - recent)
    marks = _marks(document, turn, after=after)
    pieces = [Piece("sacred", "system and tools, not in the log", table.hidden), Piece("sacred", "head", head)]
    pieces += _middle(document, turn, middle, marks)
    pieces.append(Piece("sacred", "recent", recent))
    window = document.context_window
    return Strip(
        pieces=tuple(piece for piece in pieces if piece.tokens > 0),
        tokens=total,
        usage=(total + reserve) / window,
        free=max(0, window - total),
        limit=window / total if total > window else None,
    )


def _marks(document: ReplayDocument, turn: int, *, after: bool) -> list[tuple[int, Piece]]:
    request, k = document.request(turn), document.k
    first = request[document.table.head_at[turn]] if document.table.head_at[turn] < len(request) else request.end
    last = request[document.table.recent_at[turn]] if document.table.recent_at[turn] < len(request) else request.end
    found: list[tuple[int, Piece]] = []
    if after:
        edits = {i: e for i, (_, e) in document.edits(turn).items() if first <= i < last}
        for i, edit in nlargest(CHANGES_SHOWN, edits.items(), key=lambda row: row[1].tokens_after):
            found.append((i, Piece("compressed", "compressed", round(k * edit.tokens_after))))
    pins = [i for i in document.pinned(turn) if first <= i < last]
    for i in nlargest(PINS_SHOWN, pins, key=lambda i: document.sizes[i]):
        found.append((i, Piece("pinned", document.pinned(turn)[i], round(k * document.sizes[i]))))
    return sorted(found, key=lambda row: row[0])


def _middle(document: ReplayDocument, turn: int, tokens: int, marks: list[tuple[int, Piece]]) -> list[Piece]:
    """The pieces between head and recent: marks where they lie, what is between them as compressible."""
    request, running = document.request(turn), document.running
    at_head = document.table.head_at[turn]
    start = request[at_head] if at_head < len(request) else request.end
    last = document.table.recent_at[turn]
    end = request[last] if last < len(request) else request.end
    gaps, at = [], start
    for i, _ in [*marks, (end, None)]:
        gaps.append(max(0, running[max(i, at)] - running[at]))
        at = max(at, i + 1)
    left = max(0, tokens - sum(piece.tokens for _, piece in marks))
    whole = sum(gaps) or 1
    pieces: list[Piece] = []
    for gap, (_, piece) in zip(gaps, marks, strict=False):
        pieces += [Piece("compressible", "compressible", round(left * gap / whole)), piece]
    rest = left - sum(piece.tokens for piece in pieces if piece.look == "compressible")
    return [*pieces, Piece("compressible", "compressible", rest)]
