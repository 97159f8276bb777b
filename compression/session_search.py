"""Search in one session: which messages fit, a page of them with what was found, and how many at each turn.

One query, whatever the session's size: rows come in the order of the log and are never all in memory. Bounded
by time and by characters a text; where a bound was met, the result says so. Changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from compression.forms import PageState
from compression.message_texts import readable
from compression.replay_document import ReplayDocument
from compression.search_query import MOST_COUNTED, SearchQuery
from compression.window_zones import WindowZones
from sessions.models import Session

HITS_PAGE = 6
MARKS_SHOWN = 2_000
TIME_LIMIT = 2.0
"""Seconds; then the result is what was found so far."""

CHARS_SEARCHED = 2_000_000
AROUND = 70
ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Snippet:
    """What was found with a little of the text around it, on one line."""

    before: str
    found: str
    after: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One message. ``turn`` is the first whose request held it, None where none did; ``times`` counts its
    occurrences, up to ``MOST_COUNTED``."""

    message: int
    role: str
    tool: str
    kind: str
    zone: str
    is_error: bool
    turn: int | None
    url: str
    times: int
    snippet: Snippet

    @property
    def is_more(self) -> bool:
        return self.times >= MOST_COUNTED


@dataclass(slots=True)
class Found:
    """A page of hits behind message ``after``. ``marks`` = (turn, messages that fit) for the timeline."""

    query: SearchQuery
    hits: list[Hit] = field(default_factory=list)
    total: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    first: int = 0
    next_after: int | None = None
    stopped_at: int | None = None  # the message that was looked at when the time was up
    cut: int = 0  # texts that were searched in part

    @property
    def last(self) -> int:
        return self.first + len(self.hits)


def search(session: Session, document: ReplayDocument, state: PageState, after: int | None = None) -> Found:
    """The messages that fit a state's search. Every one is looked at, for the marks; one page is kept."""
    query = state.search
    result = Found(query)
    if not query:
        return result
    zones = WindowZones(document, state.turn) if document.turns else None
    turns: Counter[int] = Counter()
    deadline = monotonic() + TIME_LIMIT
    for row in _rows(session, query):
        if monotonic() > deadline:
            result.stopped_at = row["index"]
            break
        i = row["index"]
        if zones is not None and not zones.matches(i, query.zone):
            continue
        is_shown = len(result.hits) < HITS_PAGE and (after is None or i > after)
        found = _in_message(row, query, result, most=MOST_COUNTED if is_shown else 1)
        if found is None:
            continue
        result.total += 1
        turn = _first_turn(document, i)
        if turn is not None:
            turns[turn] += 1
        if after is not None and i <= after:
            result.first += 1
        elif is_shown:
            result.hits.append(_hit(row, found, zones, turn, state))
        elif result.next_after is None:
            result.next_after = result.hits[-1].message
    result.marks = _bounded_marks(turns)
    return result


def _rows(session: Session, query: SearchQuery) -> Iterator[dict[str, Any]]:
    rows = session.messages.order_by("index")
    if query.role:
        rows = rows.filter(role=query.role)
    if query.errors_only:
        rows = rows.filter(original__isnull=False)
    columns = ["index", "role", "turn", "parts"]
    if query.q:
        columns.append("original__text")
    found: Iterator[dict[str, Any]] = rows.values(*columns).iterator(chunk_size=ROWS_AT_ONCE)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    stored: Mapping[str, Any]
    text: str
    places: list[tuple[int, int]]


def _in_message(row: Mapping[str, Any], query: SearchQuery, result: Found, *, most: int) -> _Part | None:
    """The first part that fits; its places also count those of the parts behind it, ``most`` in all."""
    wanted, first = query.tool.lower(), None
    for part in row["parts"]:
        if wanted and wanted not in part.get("name", "").lower():
            continue
        if query.errors_only and not part.get("is_error"):
            continue
        text = row.get("original__text") or "" if "original" in part else readable(part)
        if not query.q:
            return _Part(part, text, [])
        if len(text) > CHARS_SEARCHED:
            text = text[:CHARS_SEARCHED]
            result.cut += 1
        places = query.places(text, most - len(first.places) if first else most)
        if first is not None:
            first.places.extend(places)
        elif places:
            first = _Part(part, text, places)
        if first is not None and len(first.places) >= most:
            break
    return first


def _first_turn(document: ReplayDocument, i: int) -> int | None:
    turn = bisect_right(document.table.request_end, i)
    return turn if turn < document.turns else None


def _hit(row: Mapping[str, Any], found: _Part, zones: WindowZones | None, turn: int | None, state: PageState) -> Hit:
    part, i = found.stored, row["index"]
    last = row["turn"] if row["turn"] is not None else state.turn
    return Hit(
        message=i,
        role=row["role"],
        tool=part.get("name", ""),
        kind=part["kind"],
        zone="" if zones is None else "compressed" if i in zones.changed else zones.of(i),
        is_error=bool(part.get("is_error")),
        turn=turn,
        url=state.url(turn=turn if turn is not None else last, open=i),
        times=len(found.places),
        snippet=snippet(found.text, found.places),
    )


def snippet(text: str, places: list[tuple[int, int]]) -> Snippet:
    """The first place with ``AROUND`` characters on both sides; the beginning of the text where there is none."""
    if not places:
        return Snippet("", "", _line(text[: 3 * AROUND]))
    start, end = places[0]
    end = min(end, start + 2 * AROUND)
    lead, rest = ("…" if start > AROUND else ""), ("…" if end + AROUND < len(text) else "")
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    return Snippet(lead + _line(before), _line(text[start:end]), _line(after) + rest)


def _line(text: str) -> str:
    return text.replace("\r\n", "⏎").replace("\n", "⏎").replace("\t", " ")


def _bounded_marks(turns: Counter[int]) -> list[tuple[int, int]]:
    """At most ``MARKS_SHOWN`` of them: neighbours are added up where there are more."""
    marks = sorted(turns.items())
    width = -(-len(marks) // MARKS_SHOWN)
    groups = [marks[at : at + width] for at in range(0, len(marks), max(1, width))]
    return [(group[0][0], sum(count for _, count in group)) for group in groups]
