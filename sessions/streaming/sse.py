"""Server-sent events: bytes in, events out, cut wherever the network cut them.

Lines are split on bytes (CR, LF, CRLF) and decoded afterwards, so that neither U+2028 inside JSON nor a character cut
in two does harm. Lines that are no field of SSE but begin like JSON are events too: some recordings and some error
bodies are bare JSON lines. What the data mean is no subject of this module.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_EVENT = 16 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class SseEvent:
    """``name`` is empty where there was no ``event:`` line; ``id`` is the last one that the stream gave."""

    name: str
    data: str
    id: str = ""
    terminated: bool = True


class SseReader:
    """Memory is bounded by ``longest_event`` bytes; a longer event is dropped and counted as ``oversized_event``."""

    def __init__(self, longest_event: int = LONGEST_EVENT) -> None:
        self.bytes = 0
        self.reads = 0
        self.events = 0
        self.comments = 0
        self.retry_ms: int | None = None
        self.notes: Counter[str] = Counter()
        self._longest = longest_event
        self._line = bytearray()
        self._line_bytes = 0
        self._blank = True
        self._event_bytes = 0
        self._dropping = False
        self._dropping_bare = False
        self._swallow_lf = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []
        self._id = ""

    def feed(self, data: bytes) -> Iterator[SseEvent]:
        """Every event that ``data`` completes; the iterator must be exhausted before the next call."""
        if not data:
            return
        self.bytes += len(data)
        self.reads += 1
        if self._swallow_lf and data[:1] == b"\n":
            data = data[1:]
        # A CR ends its line at once: nobody knows whether an LF will ever follow.
        self._swallow_lf = data[-1:] == b"\r" if data else False
        *ends, rest = _LINE_END.split(data)
        for piece in ends:
            self._keep(piece)
            line, blank = bytes(self._line), self._blank
            self._line.clear()
            self._line_bytes = 0
            self._blank = True
            yield from self._take(line, blank=blank)
        self._keep(rest)

    def finish(self) -> Iterator[SseEvent]:
        """What stands unfinished at the end. Servers do omit the last blank line, so it is given, marked as such."""
        line = bytes(self._line)
        self._line.clear()
        if line:
            yield from self._take(line, blank=False)
        if self._data and not self._dropping:
            yield self._event(terminated=False)

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._blank = False
        if self._dropping:
            return
        self._line_bytes += len(piece)
        if self._event_bytes + self._line_bytes > self._longest:
            self._dropping = True
            self._dropping_bare = bytes((self._line or piece)[:1]) in (b"{", b"[")
            self.notes["oversized_event"] += 1
            self._line.clear()
            self._data = []
            return
        self._line += piece

    def _take(self, line: bytes, *, blank: bool) -> Iterator[SseEvent]:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(codecs.BOM_UTF8)
        if blank or (self._dropping and self._dropping_bare):  # a bare JSON line is an event by itself
            if self._data and not self._dropping:
                yield self._event(terminated=True)
            self._forget()
            return
        if self._dropping or not line:
            return
        if line[:1] == b":":
            self.comments += 1
            return
        if line[:1] in (b"{", b"[") or line[:1].isspace():
            yield from self._bare(line)
            return
        field, _, raw = line.partition(b":")
        value = self._text(raw[1:] if raw[:1] == b" " else raw)
        match field:
            case b"data":
                self._event_bytes += len(line)
                self._data.append(value)
            case b"event":
                self._name = value
            case b"id" if "\0" not in value:
                self._id = value
            case b"retry" if value.isascii() and value.isdigit():
                self.retry_ms = int(value[:12])
            case b"id" | b"retry":
                self.notes["bad_field"] += 1
            case _:
                self.notes["unknown_line"] += 1

    def _bare(self, line: bytes) -> Iterator[SseEvent]:
        text = self._text(line).strip()
        if text[:1] in ("{", "["):
            self.events += 1
            self.notes["bare_json_line"] += 1
            yield SseEvent("", text, self._id)
        elif text:
            self.notes["unknown_line"] += 1

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.notes["invalid_utf8"] += 1
            return raw.decode(errors="replace")

    def _event(self, *, terminated: bool) -> SseEvent:
        self.events += 1
        event = SseEvent(self._name, "\n".join(self._data), self._id, terminated)
        self._forget()
        return event

    def _forget(self) -> None:
        self._name = ""
        self._data = []
        self._event_bytes = 0
        self._dropping = False
