"""The byte layer: a file to JSON values, one at a time, in bounded memory, with everything counted.

Lines end at ``\\n`` and nothing else. A line may be as long as a value may be; a longer one costs
itself, never the session. A file whose first line is no complete value is tried as one document.
Knows no format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from sessions.importers import large_values
from sessions.importers.decoding import decode_text, recover, values_of
from sessions.importers.fields import JsonObject, tally
from sessions.importers.parsed import ImportFailure

LARGEST_VALUE = 256 * 1024 * 1024
_PIECE = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_REPAIRED = "text repaired (NUL or broken UTF-8)"
_PATIENCE_LINES = 1000
_PATIENCE_BYTES = 16 * 1024 * 1024

Progress = Callable[[int], None]


class Reader:
    """Reads one file once. ``skipped`` and ``warnings`` are complete when ``values`` has ended."""

    def __init__(self, path: Path, progress: Progress | None = None, name: str = "") -> None:
        self.path = path
        self.name = name or path.name
        self.records = 0
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []
        self._progress = progress
        self._bytes_read = 0
        self._containers = 0
        self._failed_lines = 0
        self._document_error = ""
        self._is_too_large = False
        self._first_place: dict[str, int] = {}

    def values(self) -> Iterator[Any]:
        """Every JSON value in file order. Raises ImportFailure when the file holds none worth the name."""
        is_first = True
        with self.path.open("rb", buffering=_PIECE) as stream:
            for number, line in enumerate(self._lines(stream), 1):
                if len(line) > _PIECE:
                    if b"\x00" in line:  # before anything makes a copy of them
                        line = line.replace(b"\x00", b"")
                        self._note(_REPAIRED, number)
                    if self._is_refused(line):
                        continue
                try:
                    value = orjson.loads(line)
                except ValueError:
                    if not line.strip(b" \t\r\n\x00"):
                        self._count_nul_line(line, number)
                        continue
                    document = self._document(line) if is_first else None
                    if document is not None:
                        for value in document:
                            yield self._counted(value)
                        break
                    is_first = False
                    for value in self._recovered(line, number):
                        yield self._counted(value)
                    continue
                is_first = False
                yield self._counted(value)
        self._conclude()

    def objects(self, values: Iterator[Any]) -> Iterator[JsonObject]:
        """The objects among ``values``; a document that is one array gives its elements, other values are skipped."""
        for position, value in enumerate(values):
            if isinstance(value, dict):
                yield value
            elif position == 0 and isinstance(value, list) and any(isinstance(item, dict) for item in value):
                self.records += len(value) - 1
                for item in value:
                    if isinstance(item, dict):
                        yield item
                    else:
                        self.skip("not an object")
            else:
                self.skip("not an object")

    def skip(self, reason: str, count: int = 1) -> None:
        """Count records that are used for nothing."""
        tally(self.skipped, reason, count)

    def _counted(self, value: Any) -> Any:
        self.records += 1
        if isinstance(value, dict | list):
            self._containers += 1
        return value

    def _lines(self, stream: BinaryIO) -> Iterator[bytes]:
        reported = 0
        first = True
        while line := stream.readline(_PIECE):
            self._bytes_read += len(line)
            if len(line) == _PIECE and not line.endswith(b"\n"):
                line = self._long_line(line, stream)
            if first:
                line = line.removeprefix(_BOM)
                first = False
            if self._progress and self._bytes_read - reported >= _PIECE:
                reported = self._bytes_read
                self._progress(reported)
            yield line
        if self._progress and reported != self._bytes_read:
            self._progress(self._bytes_read)

    def _long_line(self, start: bytes, stream: BinaryIO) -> bytes:
        """The rest of a line longer than one piece; empty, and counted, when it cannot be one value."""
        begins_value = start.removeprefix(_BOM).lstrip(b" \t\r\x00")[:1] in (b"{", b"[", b"")
        is_kept, kept, size = begins_value, BytesIO(), len(start)
        kept.write(start)
        has_known_field = large_values.has_known_field(start)
        while piece := stream.readline(_PIECE):
            self._bytes_read += len(piece)
            size += len(piece)
            is_kept = is_kept and size <= LARGEST_VALUE and (size < large_values.LARGE or has_known_field)
            if is_kept:
                kept.write(piece)
            else:
                kept = BytesIO()
            if piece.endswith(b"\n"):
                break
        if is_kept:
            return kept.getvalue()
        if not begins_value:
            self._lose("line that is not JSON", 0)
        else:
            self._lose("line over 256 MB" if size > LARGEST_VALUE else f"line {large_values.NO_KNOWN_FIELD}", 0)
        return b""

    def _is_refused(self, line: bytes) -> bool:
        """Whether a long line would take more memory than it is worth; it is counted then."""
        why = large_values.refusal(line)
        if why:
            self._lose(f"line {why}", 0)
        return bool(why)

    def _document(self, first_line: bytes) -> list[Any] | None:
        """The file as one pretty-printed document (or several in a row), None when it is lines after all."""
        if first_line.lstrip(b" \t\r\x00")[:1] not in (b"{", b"["):
            return None
        raw = self._whole(first_line)
        if raw is None:
            return None
        if raw is not first_line:
            try:
                return [orjson.loads(raw)]
            except ValueError:
                pass  # several values, or bytes that orjson does not take
        try:
            text = decode_text(raw)
            del raw
            return list(values_of(text)) or None
        except ValueError as error:
            self._document_error = f"is not complete JSON: {error}"
            return None

    def _whole(self, first_line: bytes) -> bytes | None:
        """All bytes of the file; None, and an error, where they are not worth their memory."""
        size = self.path.stat().st_size
        if size > LARGEST_VALUE:
            self._document_error = (
                "is not complete JSON: it is over 256 MB and its first line is not a complete JSON value"
            )
            self._is_too_large = True
            return None
        if size <= self._bytes_read:
            return first_line
        with self.path.open("rb") as stream:
            head = stream.read(large_values.HEAD_BYTES).removeprefix(_BOM)
            if size < large_values.LARGE or large_values.has_known_field(head):
                raw = head + stream.read()
                why = large_values.refusal(raw)
            else:
                raw, why = b"", large_values.NO_KNOWN_FIELD
        if why:
            self._document_error = f"is a document {why}"
            self._is_too_large = True
            return None
        return raw

    def _recovered(self, line: bytes, number: int) -> Iterator[Any]:
        found = recover(line)
        if found.repaired_text:
            self._note(_REPAIRED, number)
        for reason in found.lost:
            is_cut_off = not line.endswith(b"\n") and reason == "damaged record" and not found.values
            self._lose("truncated last line" if is_cut_off else reason, number)
        self._failed_lines += not found.values
        if not self._containers and not found.values:
            hopeless = self._failed_lines >= _PATIENCE_LINES or self._bytes_read >= _PATIENCE_BYTES
            if hopeless:
                self._conclude()
        yield from found.values

    def _count_nul_line(self, line: bytes, number: int) -> None:
        if b"\x00" in line:
            self._lose("only NUL bytes", number)

    def _lose(self, reason: str, number: int) -> None:
        self.records += 1
        self.skip(reason)
        self._note(reason, number)

    def _note(self, reason: str, number: int) -> None:
        if reason not in self._first_place:
            self._first_place[reason] = number
            where = f"line {number}" if number else "the file"
            self.warnings.append(f"{reason}: first in {where}")

    def _conclude(self) -> None:
        if self._containers:
            return
        if self._document_error:
            raise ImportFailure(
                f"{self.name} {self._document_error}",
                "Split it, or export it as JSONL."
                if self._is_too_large
                else "Export the session again; the file may have been cut off while it was written.",
            )
        found = f" ({'; '.join(self.warnings[:3])})" if self.warnings else ""
        raise ImportFailure(
            f"{self.name} holds no JSON object or array{found}",
            "A session is a JSON document or one JSON object a line (JSONL).",
        )
