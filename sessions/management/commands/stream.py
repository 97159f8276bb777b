"""Runs a recorded body of a streamed answer through the live state machine: events as NDJSON, then the profile."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from sessions.streaming.detect import PROTOCOLS
from sessions.streaming.machine import Stream, UnknownProtocol
from sessions.terminal import TerminalCommand, shown_path

READ_BYTES = 64 * 1024


class Command(TerminalCommand):
    help = "Print what a recorded stream says, event by event, and what it shows of its endpoint."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--protocol", default="auto", choices=["auto", *PROTOCOLS], help="auto looks at the events")
        parser.add_argument("--read-bytes", type=int, default=READ_BYTES, metavar="N", help="feed N bytes at a time")
        parser.add_argument("--json", action="store_true", help="the output is NDJSON in any case")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if options["read_bytes"] < 1:
            raise CommandError("--read-bytes must be at least 1.", returncode=2)
        try:
            for row in rows_of(path, options["protocol"], options["read_bytes"]):
                self.write_json(row)
        except OSError as error:
            raise CommandError(f"{shown_path(path)}: {error.strerror or error}.", returncode=2) from error
        except UnknownProtocol as error:
            raise CommandError(f"{shown_path(path)}: {error}", returncode=2) from error


def rows_of(path: Path, protocol: str, read_bytes: int) -> Iterator[dict[str, Any]]:
    """The events in order, then the profile. A file holds no arrival times, so ``at`` and all times are null."""
    stream = Stream(protocol)
    seq = 0
    with path.open("rb") as body:
        while data := body.read(read_bytes):
            for fact in stream.feed(data):
                yield fact.as_row(seq, None)
                seq += 1
    for fact in stream.finish():
        yield fact.as_row(seq, None)
        seq += 1
    yield stream.profile_row()
