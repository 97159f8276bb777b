"""Texts of a few messages for the page: bounded previews, and slices of a whole text on demand.

Two queries for any number of messages. A body that runs to megabytes is cut inside the database, so that
a page never loads more than it shows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Length, Substr

from compression.engine.rendering import rendered
from compression.replay_document import Departure
from compression.transcripts import engine_messages
from sessions.models import Message, Original, Session

PREVIEW_CHARS, PREVIEW_LINES = 1_200, 8
DIFF_CHARS = 24_000
SLICE_CHARS, SLICE_LINES = 64_000, 400
PARTS_SHOWN = 3

_Starts = dict[str, tuple[str, int]]
"""Beginning and number of lines of originals, by their sha256."""


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part with the beginning of its text; ``is_cut`` when there is more. ``lines`` of the whole text."""

    number: int
    kind: str
    name: str
    tokens: int
    text: str
    is_cut: bool
    is_error: bool
    start: str
    lines: int


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as a block shows it; ``more_parts`` were left out."""

    index: int
    role: str
    turn: int | None
    flags: tuple[str, ...]
    parts: tuple[ShownPart, ...]
    more_parts: int

    @property
    def tool(self) -> str:
        return next((part.name for part in self.parts if part.kind == "tool_result"), "")

    @property
    def is_result(self) -> bool:
        return any(part.kind == "tool_result" for part in self.parts)

    @property
    def is_error(self) -> bool:
        return any(part.is_error for part in self.parts)


def shown_messages(
    session: Session,
    indexes: Collection[int],
    *,
    chars: int = PREVIEW_CHARS,
    first: Mapping[int, Collection[int]] | None = None,
) -> dict[int, ShownMessage]:
    """The messages of a session at ``indexes``. Each part's ``start`` holds up to ``chars`` characters of it.

    ``first``: by message, the parts that are shown before others where a message has too many.
    """
    rows = list(session.messages.filter(index__in=indexes).only("index", "role", "turn", "flags", "parts"))
    wanted = {part["original"] for row in rows for part in row.parts if "original" in part}
    starts: _Starts = {}
    if wanted:
        found = Original.objects.filter(sha256__in=wanted).annotate(start=Substr("text", 1, chars + 1))
        starts = {sha: (start, lines) for sha, start, lines in found.values_list("sha256", "start", "lines")}
    return {row.index: _shown(row, starts, chars, (first or {}).get(row.index, ())) for row in rows}


def _shown(row: Message, starts: _Starts, chars: int, first: Collection[int]) -> ShownMessage:
    says = [j for j, part in enumerate(row.parts) if part["kind"] != "text" or part.get("text", "").strip()]
    chosen = sorted(sorted(says, key=lambda j: j not in first)[:PARTS_SHOWN])
    parts = tuple(_part(j, row.parts[j], starts, chars) for j in chosen)
    return ShownMessage(row.index, row.role, row.turn, tuple(row.flags), parts, len(says) - len(chosen))


def _part(number: int, stored: Mapping[str, Any], starts: _Starts, chars: int) -> ShownPart:
    if "original" in stored:
        text, lines = starts.get(stored["original"], ("", 0))
    else:
        whole = readable(stored)
        text, lines = whole[: chars + 1], whole.count("\n") + 1
    preview = clipped(text)
    return ShownPart(
        number=number,
        kind=stored["kind"],
        name=stored.get("name", ""),
        tokens=stored.get("tokens", 0),
        text=preview,
        is_cut=len(preview) < len(text),
        is_error=bool(stored.get("is_error")),
        start=text[:chars],
        lines=lines,
    )


def readable(stored: Mapping[str, Any]) -> str:
    """What a reader sees of a stored part that is no tool result."""
    kind, size = stored["kind"], stored.get("size", 0)
    if kind == "media":
        shape = f", {stored['width']} × {stored['height']}" if stored.get("width") else ""
        return f"[{stored.get('media_type') or 'media'}{shape}, {size:,} bytes; pictures are not shown]"
    if kind == "opaque":
        return f"[not readable: {size:,} bytes kept by the provider]"
    if kind == "thinking" and not stored.get("text"):
        return "[thinking without its text; the provider has it]"
    return str(stored.get("text", ""))


def clipped(text: str, chars: int = PREVIEW_CHARS, lines: int = PREVIEW_LINES) -> str:
    """The beginning of a text, at most so many characters and lines."""
    return "\n".join(text[:chars].split("\n", lines)[:lines])


@dataclass(frozen=True, slots=True)
class TextSlice:
    """Characters ``at`` .. ``end`` of a text of ``length`` characters."""

    text: str
    at: int
    end: int
    length: int

    @property
    def has_more(self) -> bool:
        return self.end < self.length


def part_slice(session: Session, index: int, number: int, at: int) -> TextSlice | None:
    """A slice of one part's text from character ``at``; None when there is no such part."""
    row = session.messages.filter(index=index).only("parts").first()
    if row is None or number >= len(row.parts):
        return None
    part = row.parts[number]
    if "original" in part:
        return original_slice(part["original"], at)
    text = readable(part)
    return _slice(text[at : at + SLICE_CHARS], at, len(text))


def original_slice(sha256: str, at: int) -> TextSlice | None:
    """A slice of an original from character ``at``; None when it is no longer stored."""
    found = (
        Original.objects.filter(sha256=sha256)
        .annotate(length=Length("text"), piece=Substr(F("text"), Value(at + 1), Value(SLICE_CHARS)))
        .values_list("piece", "length")
        .first()
    )
    return None if found is None else _slice(found[0], at, found[1])


def departed_slice(session: Session, departure: Departure, at: int) -> TextSlice:
    """A slice of the messages that left a window together, as the address of their note means them."""
    text = departed_text(session, departure)
    return _slice(text[at : at + SLICE_CHARS], at, len(text))


def departed_text(session: Session, departure: Departure) -> str:
    """All of it. Two queries."""
    rows = list(session.messages.filter(index__in=departure.left))
    found = {message.index: message for message, _ in engine_messages(rows)}
    return rendered((found[i] for i in departure.left if i in found), departure.before)


def _slice(piece: str, at: int, length: int) -> TextSlice:
    rows = piece.split("\n", SLICE_LINES)
    if len(rows) > SLICE_LINES:
        piece = "\n".join(rows[:SLICE_LINES]) + "\n"
    return TextSlice(piece, at, at + len(piece), length)
