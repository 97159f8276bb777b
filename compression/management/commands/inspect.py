"""Reads session files and says what is in them. Parse only: nothing is stored."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from compression.command_line import EngineCommand, shown
from compression.engine.history import source_of
from compression.transcripts import from_parsed, measure
from sessions.describe import describe, turns_of_messages
from sessions.importers import read_sessions
from sessions.importers.parsed import ImportFailure, ParsedSession
from sessions.measures import MESSAGE_OVERHEAD_TOKENS


class Command(EngineCommand):
    help = "Say what session files hold, without storing anything."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--format", metavar="NAME", help="do not detect the format, read this one")
        parser.add_argument("--messages", action="store_true", help="the normalised messages instead")
        parser.add_argument("--session", metavar="KEY", help="only this session of a file that holds several")
        parser.add_argument("--json", action="store_true", help="one JSON document a line")

    def handle(self, *args: Any, **options: Any) -> None:
        failures = 0
        for path in options["files"]:
            try:
                sessions = read_sessions(path, format=options["format"])
                if options["session"] is not None:
                    sessions = [s for s in sessions if s.key == options["session"]]
                    if not sessions:
                        raise ImportFailure(f"{path.name} has no session {options['session']!r}.")
            except ImportFailure as failure:
                failures += 1
                error = " ".join(filter(None, (failure.message, failure.hint)))
                if options["json"]:
                    self.write_json({"path": str(path), "error": error})
                else:
                    self.stderr.write(f"{path}: {error}")
                continue
            for parsed in sessions:
                if options["messages"]:
                    for row in message_rows(parsed):
                        self._say(row, message_line(row), as_json=options["json"])
                else:
                    row = describe(parsed, measure(parsed), path=str(path))
                    self._say(row, session_line(row), as_json=options["json"])
        if failures:
            raise CommandError(f"{failures} of the files could not be read as sessions.", returncode=2)

    def _say(self, row: dict[str, Any], line: str, *, as_json: bool) -> None:
        if as_json:
            self.write_json(row)
        else:
            self.stdout.write("\n".join(shown(row) for row in line.split("\n")))


def message_rows(parsed: ParsedSession) -> Iterator[dict[str, Any]]:
    """One row for each normalised message."""
    subject = from_parsed(parsed)
    owners = turns_of_messages(parsed)
    for message, counts, turn in zip(subject.transcript.messages, subject.transcript.counts, owners, strict=True):
        parts = [
            {name: value for name in part.__slots__ if (value := getattr(part, name))}
            | {"source": source_of(message, j), "tokens": tokens}
            for j, (part, tokens) in enumerate(zip(message.parts, counts, strict=True))
        ]
        yield {
            "index": message.index,
            "role": message.role,
            "turn": turn,
            "parts": parts,
            "tokens": sum(counts) + MESSAGE_OVERHEAD_TOKENS,
            "flags": sorted(message.flags),
        }


def message_line(row: dict[str, Any]) -> str:
    """A message in one line, for people."""
    parts = ", ".join(part["kind"] + (f" {part['name']}" if part.get("name") else "") for part in row["parts"])
    return f"{row['index']:>6} {row['role']:<9} {row['tokens']:>8,} tokens  {parts}"


def session_line(row: dict[str, Any]) -> str:
    """A session in a few lines, for people."""
    fit = row["calibration"]
    lines = [
        f"{row['path']}: {row['format']} ({row['detection']['why']})",
        f"  {row['title'] or row['key']}",
        f"  {row['messages']} messages, {row['turns']} turns, {row['tool_calls']} tool calls, "
        f"{row['tool_results']} results, {row['counted_tokens']:,} tokens counted",
        f"  hidden prefix {fit.get('hidden', 0):,} tokens, k {fit.get('k', 1):.3f} (from {fit.get('basis', 'none')})",
    ]
    lines += [f"  turn {b['turn']}: {b['kind']} boundary" for b in row["boundaries"]]
    lines += [f"  skipped {s['count']}: {s['reason']}" for s in row["skipped"]]
    lines += [f"  warning: {warning}" for warning in row["warnings"]]
    return "\n".join(lines)
