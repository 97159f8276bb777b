"""Recorded sessions in, plain data out: ``read_sessions`` reads a file of any supported format.

Imports no Django and no app code, opens no network connection and runs nothing of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sessions.importers.assembly import make_keys_distinct
from sessions.importers.detect import FORMATS, NOT_READ_YET, detect
from sessions.importers.parsed import Detection, ImportFailure, ParsedSession
from sessions.importers.reader import Progress, Reader
from sessions.importers.regular_file import require_regular_file
from sessions.importers.signatures import HEAD_BYTES, SQLITE_MAGIC, recognise_bytes, refuse_what_is_no_text

__all__ = ["FORMATS", "ImportFailure", "ParsedSession", "read_sessions"]

_SNIFFED = 50
_SNIFFED_AT_MOST = 1000
_SURE_ENOUGH = 0.35

_Importer = Callable[[Iterator[Any], Reader, Detection], list[ParsedSession]]


def _importer(format_name: str) -> _Importer:
    """``read`` of the module that is called like the format, which only a file of that format has to wait for."""
    read: _Importer = import_module(f"{__name__}.{format_name.replace('-', '_')}").read
    return read


def read_sessions(
    path: Path, *, format: str | None = None, progress: Progress | None = None, name: str = ""
) -> list[ParsedSession]:
    """Every session of a file, in file order; sub-agents follow the session that called them.

    ``format`` overrides detection. ``progress`` is told the bytes read so far, about once a megabyte.
    ``name`` is what messages call the file where ``path`` says nothing to its sender.
    Raises ImportFailure for everything that is no session, and nothing else.
    """
    name = name or path.name
    if format is not None and format not in FORMATS:
        raise ImportFailure(f"Unknown format {format!r}", f"Known formats: {', '.join(FORMATS)}.")
    try:
        return _read(path, format, progress, name)
    except OSError as error:
        raise ImportFailure(f"{name} cannot be read: {error.strerror or error}", "Check the path.") from error


def _read(path: Path, format_name: str | None, progress: Progress | None, name: str) -> list[ParsedSession]:
    require_regular_file(path, name)
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if head.startswith(SQLITE_MAGIC):
        from sessions.importers import hermes_database  # brings the database driver along

        sessions = hermes_database.read(path, name)
    else:
        by_bytes = recognise_bytes(head)
        if by_bytes is not None and format_name is None:
            raise _not_read_yet(name, [by_bytes])
        refuse_what_is_no_text(name, head)
        sessions = _read_text(format_name, Reader(path, progress, name))
    make_keys_distinct(sessions)
    return sessions


def _read_text(format_name: str | None, reader: Reader) -> list[ParsedSession]:
    values = reader.values()
    first = list(islice(values, _SNIFFED))
    guesses = detect(first)
    while (not guesses or guesses[0].score < 0.5) and len(first) < _SNIFFED_AT_MOST:
        more = list(islice(values, _SNIFFED))
        if not more:
            break
        first.extend(more)
        guesses = detect(first)
    chosen = _choose(reader.name, format_name, guesses, first)
    sessions = _importer(chosen.format)(chain(first, values), reader, chosen)
    sessions = [session for session in sessions if session.messages]
    if not sessions:
        raise ImportFailure(
            f"{reader.name} was read as {chosen.format}, and no message was found in its {reader.records} records",
            "Name the format if this one is wrong, or export the session again.",
            guesses,
        )
    sessions[0].warnings.extend(reader.warnings)
    return sessions


def _choose(name: str, format_name: str | None, guesses: list[Detection], first: list[Any]) -> Detection:
    if format_name is not None:
        fitting = next((guess for guess in guesses if guess.format == format_name), None)
        return fitting or Detection(format_name, 0.0, "named by the user; its content does not look like it")
    if not guesses or guesses[0].score < _SURE_ENOUGH:
        what = "an empty list" if first and first[0] == [] else "JSON, but of no known session format"
        raise ImportFailure(f"{name} is {what}", f"Formats that are read: {', '.join(FORMATS)}.", guesses)
    if guesses[0].format not in FORMATS:
        raise _not_read_yet(name, guesses)
    return guesses[0]


def _not_read_yet(name: str, guesses: list[Detection]) -> ImportFailure:
    best = guesses[0]
    return ImportFailure(
        f"{name} looks like {NOT_READ_YET[best.format]} ({best.format}: {best.why}), which is not read yet",
        f"Formats that are read: {', '.join(FORMATS)}.",
        guesses,
    )
