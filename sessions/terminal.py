"""What commands print: hostile text made harmless and short for a terminal, JSON as bytes that no encoding refuses.

Titles, file names and field names come from strangers, and file names need not be UTF-8.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from sessions.storable import storable_json

LONGEST_LINE = 1_000
LONGEST_COMPLAINT = 2_000


def shown(text: str, limit: int = LONGEST_LINE) -> str:
    """One line of at most ``limit`` characters; what is not printable (controls, bidi marks) becomes a blank."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return cut if cut.isprintable() else "".join(c if c.isprintable() else " " for c in cut)


def shown_path(path: Path) -> str:
    """The path as UTF-8 can say it, the bytes that are not UTF-8 as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class TerminalCommand(BaseCommand):
    """A command whose complaints are one harmless line."""

    requires_system_checks = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            raise CommandError(shown(str(error), LONGEST_COMPLAINT), returncode=error.returncode) from error.__cause__

    def write_json(self, document: Any) -> None:
        """One JSON document, as bytes, so that no terminal's encoding can refuse it."""
        text = json_bytes(document)
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None or id(self.stdout._out) != id(sys.stdout):  # the caller has put another in its place
            self.stdout.write(text.decode())
        else:
            sys.stdout.flush()
            stream.write(text + b"\n")
            stream.flush()

    def write_shown(self, text: str) -> None:
        """Hostile text on stdout, each of its lines by itself."""
        self.stdout.write("\n".join(map(shown, text.split("\n"))))


def json_bytes(document: object) -> bytes:
    """Halves of surrogate pairs, which some logs and file names hold, are replaced where UTF-8 cannot write them."""
    try:
        return orjson.dumps(document, default=_plain)
    except TypeError:
        plain = json.loads(json.dumps(document, default=_plain))
        return orjson.dumps(storable_json(plain))


def _plain(value: object) -> object:
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
