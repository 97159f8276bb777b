"""What fills the window at one turn: the sources, and the results of the tools that fill most of it."""

from __future__ import annotations

from dataclasses import dataclass

from compression.engine.history import SOURCES
from compression.figures import SOURCE_NAMES
from compression.replay_document import ReplayDocument
from compression.treemap import Tile, tiles

NOTE_NAMES = {"marker": "Note for what left", "state": "State of the work", "summary": "Summary of what left"}


@dataclass(frozen=True, slots=True)
class Share:
    """One tile: calibrated tokens and their share of the window."""

    name: str
    source: str
    tokens: int
    share: float
    tile: Tile

    @property
    def is_small(self) -> bool:
        """Too small for its words."""
        return self.tile.width < 10 or self.tile.height < 13


def composition(document: ReplayDocument, turn: int, *, after: bool) -> list[Share]:
    """The shares of a turn's window, the largest first; they add up to it."""
    table = document.table
    columns = table.sources_after if after else table.sources
    total = (table.after if after else table.before)[turn]
    rows = [("hidden", SOURCE_NAMES["hidden"], table.hidden)]
    rows += [
        (name, SOURCE_NAMES[name], columns[name][turn]) for name in SOURCES if name not in ("tool_result", "memory")
    ]
    rows += _memory(document, turn, columns["memory"][turn], after=after)
    rows += _results(document, turn, columns["tool_result"][turn], after=after)
    rows = sorted((row for row in rows if row[2] > 0), key=lambda row: -row[2])
    boxes = tiles([tokens for _, _, tokens in rows]) if rows else []
    return [
        Share(name, "system" if source == "hidden" else source, tokens, tokens / total, box)
        for (source, name, tokens), box in zip(rows, boxes, strict=True)
    ]


def _memory(document: ReplayDocument, turn: int, whole: int, *, after: bool) -> list[tuple[str, str, int]]:
    """The note that stands for what left counts as memory."""
    note = document.note(turn) if after else None
    tokens = 0 if note is None else min(whole, round(document.k * note.tokens))
    name = NOTE_NAMES[note.kind if note else "marker"]
    return [("memory", SOURCE_NAMES["memory"], whole - tokens), ("memory", name, tokens)]


def _results(document: ReplayDocument, turn: int, whole: int, *, after: bool) -> list[tuple[str, str, int]]:
    columns = document.tool_tokens["after" if after else "before"]
    rows = [("tool_result", tool, round(document.k * column[turn])) for tool, column in columns.items()]
    rest = whole - sum(tokens for _, _, tokens in rows)
    if rest < 0 and rows:  # rounding
        at = max(range(len(rows)), key=lambda i: rows[i][2])
        rows[at] = (*rows[at][:2], rows[at][2] + rest)
    return [*rows, ("tool_result", "other tools", max(0, rest))]
