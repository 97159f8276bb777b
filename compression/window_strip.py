"""The proportional strip of a window: its zones in order, each as wide as its calibrated tokens.

At most some twenty pieces: small changes between the shown ones count as what surrounds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from math import ceil

from compression.replay_document import ReplayDocument, freed_by
from compression.window_zones import WindowZones

CHANGES_SHOWN, PINS_SHOWN = 6, 3


@dataclass(frozen=True, slots=True)
class Piece:
    """``look`` is sacred, pinned, compressible, compressed or note; ``tokens`` are calibrated."""

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
    pieces += _middle(document, turn, middle, marks, after=after)
    pieces.append(Piece("sacred", "recent", recent))
    window = document.context_window
    return Strip(
        pieces=tuple(piece for piece in pieces if piece.tokens > 0),
        tokens=total,
        usage=(total + reserve) / window,
        free=max(0, window - total),
        limit=window / total if total > window else None,
    )


def _marks(document: ReplayDocument, turn: int, *, after: bool) -> list[tuple[float, Piece]]:
    """What lies between head and recent and is told apart, by the message where it stands; a note between two."""
    request, k = document.request(turn), document.k
    first, last = _between(document, turn)
    found: list[tuple[float, Piece]] = []
    if after:
        held = WindowZones(document, turn)
        edits = {i: parts for i, parts in document.edits(turn).items() if first <= i < last and held.holds(i)}
        sizes = {i: document.sizes[i] - freed_by(parts) for i, parts in edits.items()}
        for i in nlargest(CHANGES_SHOWN, sizes, key=lambda i: (sizes[i], -i)):
            found.append((i, Piece("compressed", "compressed", round(k * sizes[i]))))
        if (note := document.note(turn)) is not None:
            at = request[note.ordinal] if note.ordinal < len(request) else request.end
            found.append((min(max(at, first), last) - 0.5, Piece("note", note.kind, round(k * note.tokens))))
    pins = [i for i in document.pinned(turn) if first <= i < last]
    for i in nlargest(PINS_SHOWN, pins, key=lambda i: document.sizes[i]):
        found.append((i, Piece("pinned", document.pinned(turn)[i], round(k * document.sizes[i]))))
    return sorted(found, key=lambda row: row[0])


def _between(document: ReplayDocument, turn: int) -> tuple[int, int]:
    """The messages between head and recent: the first, and the first behind them."""
    request, head, recent = document.request(turn), document.table.head_at[turn], document.table.recent_at[turn]
    first = request[head - 1] + 1 if head else 0
    return first, request[recent] if recent < len(request) else request.end


def _middle(
    document: ReplayDocument, turn: int, tokens: int, marks: list[tuple[float, Piece]], *, after: bool
) -> list[Piece]:
    """The pieces between head and recent: marks where they lie, what is between them as compressible."""
    request, running = document.request(turn), document.base_running
    start, end = _between(document, turn)
    gaps, at = [], start
    for place, _ in [*marks, (float(end), None)]:
        here = max(ceil(place), at)
        gaps.append(document.held_tokens(request, at, here) if after else running[here] - running[at])
        at = here + (place == here)
    left = max(0, tokens - sum(piece.tokens for _, piece in marks))
    whole = sum(gaps) or 1
    pieces: list[Piece] = []
    for gap, (_, piece) in zip(gaps, marks, strict=False):
        pieces += [Piece("compressible", "compressible", round(left * gap / whole)), piece]
    rest = left - sum(piece.tokens for piece in pieces if piece.look == "compressible")
    return [*pieces, Piece("compressible", "compressible", rest)]
