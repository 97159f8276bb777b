"""Edits back into the bytes of a request: what an edit does not name keeps the bytes that the agent sent.

Which edits are good is decided elsewhere; whether the outcome is a valid request is checked afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from compression.dialects.raw_json import Splice, Value, parse, spliced
from compression.dialects.request import SYSTEM, Request

NOTE = -2
"""The origin of a message, or of a part of one, that was in no request before."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a request. ``texts``: (engine message, part) -> what stands there now; ``left``: engine
    messages that go; ``note``: the text of a user message that stands before engine message ``note_before``."""

    texts: Mapping[tuple[int, int], str] = field(default_factory=dict)
    left: Sequence[int] = ()
    note: str | None = None
    note_before: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The new messages array, and which items of the old one each of its messages comes from: NOTE for a note,
    several where user messages became one."""

    body: bytes
    origins: tuple[tuple[int, ...], ...]


@dataclass
class _Piece:
    separator: bytes
    body: bytes
    role: str
    origins: tuple[int, ...]


def write(request: Request, change: Change) -> Written:
    """The messages array after a change; without one the very bytes that came."""
    splices: dict[int, list[Splice]] = {}
    for (m, p), text in change.texts.items():
        if m not in change.left:
            _replace(request, m, p, text, splices)
    gone = _leave(request, change.left, splices)
    pieces = []
    note_at = _note_item(request, change) if change.note is not None else None
    for i, item in enumerate(request.items):
        separator = request.raw[request.items[i - 1].end : item.start] if i else b","
        if i == note_at:
            pieces.append(_note(change.note or "", separator))
        if i not in gone:
            body = spliced(request.raw, splices.get(i, ()), item.start, item.end)
            pieces.append(_Piece(separator, body, request.roles[i], (i,)))
    if note_at == len(request.items):
        pieces.append(_note(change.note or "", b","))
    pieces = _without_new_neighbours(pieces)
    array = request.array
    head = request.raw[array.start : request.items[0].start]
    tail = request.raw[request.items[-1].end : array.end]
    rows = b"".join((piece.separator if n else b"") + piece.body for n, piece in enumerate(pieces))
    return Written(head + rows + tail, tuple(piece.origins for piece in pieces))


def _replace(request: Request, m: int, p: int, text: str, splices: dict[int, list[Splice]]) -> None:
    place = request.places.get((m, p))
    if place is None or text == request.messages[m].parts[p].text:
        return
    own = splices.setdefault(place.source, [])
    own.append(Splice(place.value.start, place.value.end, text.encode() if place.json else orjson.dumps(text)))
    own.extend(_Dropped(block.start, block.end, b"") for block in place.also)


class _Dropped(Splice):
    """A block that goes; the comma beside it goes too."""


def _leave(request: Request, left: Sequence[int], splices: dict[int, list[Splice]]) -> set[int]:
    """Note which blocks go with messages that leave; the items that go as a whole."""
    going = set(left)
    stay = {source for m, source in enumerate(request.sources) if m not in going}
    gone = {request.sources[m] for m in left} - stay - {SYSTEM}
    for m in left:
        blocks = request.blocks[m]
        if request.sources[m] not in gone and blocks is not None:
            own = splices.setdefault(request.sources[m], [])
            own.extend(_Dropped(block.start, block.end, b"") for block in blocks)
    for source, own in splices.items():
        if source not in gone and any(isinstance(splice, _Dropped) for splice in own):
            splices[source] = _with_commas(request.items[source], own)
    return gone


def _with_commas(item: Value, own: Sequence[Splice]) -> list[Splice]:
    """Dropped blocks widened by the comma that belongs to them. Other edits inside a dropped block go with it."""
    done = [splice for splice in own if not isinstance(splice, _Dropped)]
    dropped = {(splice.start, splice.end) for splice in own if isinstance(splice, _Dropped)}
    for array in _arrays(item):
        blocks = array.items()
        kept = False
        for n, block in enumerate(blocks):
            if (block.start, block.end) not in dropped:
                kept = True
            elif kept:
                done.append(Splice(blocks[n - 1].end, block.end, b""))
            else:
                following = blocks[n + 1].start if n + 1 < len(blocks) else block.end
                done.append(Splice(block.start, following, b""))
    wide = [splice for splice in done if not splice.new]
    return [s for s in done if not s.new or not any(w.start <= s.start and s.end <= w.end for w in wide)]


def _arrays(item: Value) -> Iterable[Value]:
    """The content of a message, and the contents of the results in it."""
    content = item.members().get("content")
    if content is not None and content.kind == "array":
        yield content
        for block in content.items():
            inner = block.members().get("content")
            if inner is not None and inner.kind == "array":
                yield inner


def _note_item(request: Request, change: Change) -> int:
    """The item before which the note stands: never between a call and its results."""
    m = len(request.messages) if change.note_before is None else change.note_before
    while m < len(request.messages) and request.messages[m].role == "tool":
        m += 1
    # What follows in the same item (text after results) keeps its place in that item.
    while 0 < m < len(request.messages) and request.sources[m] == request.sources[m - 1]:
        m += 1
    return request.sources[m] if m < len(request.messages) else len(request.items)


def _note(text: str, separator: bytes) -> _Piece:
    return _Piece(separator, orjson.dumps({"role": "user", "content": text}), "user", (NOTE,))


def _without_new_neighbours(pieces: Sequence[_Piece]) -> list[_Piece]:
    """User messages that were no neighbours before become one, so that roles alternate where they did."""
    done: list[_Piece] = []
    for piece in pieces:
        last = done[-1] if done else None
        were = last is not None and last.origins[-1] == piece.origins[0] - 1
        if last is not None and last.role == piece.role == "user" and not were:
            body = _merged(last.body, piece.body)
            done[-1] = _Piece(last.separator, body, "user", last.origins + piece.origins)
        else:
            done.append(piece)
    return done


def _merged(first: bytes, second: bytes) -> bytes:
    """Two user messages as one: the first, with the content of the second after its own."""
    content = parse(first).members()["content"]
    more = parse(second).members()["content"]
    blocks = b", ".join(filter(None, (_blocks(content), _blocks(more))))
    return spliced(first, [Splice(content.start, content.end, b"[" + blocks + b"]")])


def _blocks(content: Value) -> bytes:
    """The blocks of a content without their brackets; text becomes a block of its own."""
    if content.kind == "array":
        return content.source[1:-1].strip()
    return b'{"type": "text", "text": ' + content.source + b"}"
