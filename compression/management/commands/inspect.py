"""Reads session files and says what is in them. Parse only: nothing is stored."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compression.command_line import EngineCommand
from compression.engine.history import source_of
from compression.transcripts import from_parsed, measure
from sessions.describe import describe, turns_of_messages
from sessions.file_failures import Failures
from sessions.importers import read_sessions
from sessions.importers.parsed import ImportFailure, ParsedSession
from sessions.measures import MESSAGE_OVERHEAD_TOKENS
from sessions.terminal import LONGEST_COMPLAINT, shown, shown_path


class Command(EngineCommand):
    help = "Say what session files hold, without storing anything."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--format", metavar="NAME", help="do not detect the format, read this one")
        parser.add_argument("--messages", action="store_true", help="the normalised messages instead")
        parser.add_argument("--session", metavar="KEY", help="only this session of a file that holds several")
        parser.add_argument("--json", action="store_true", help="one JSON document a line")

    def handle(self, *args: Any, **options: Any) -> None:
        failures = Failures()
        for path in options["files"]:
            name = shown_path(path)
            rows: list[dict[str, Any]] = []
            with failures.of(path) as failed:
                rows = list(rows_of(path, options))
            if failed.error:
                if options["json"]:
                    self.write_json({"path": name, "error": failed.error})
                else:
                    self.stderr.write(shown(f"{name}: {failed.error}", LONGEST_COMPLAINT))
                continue
            line = message_line if options["messages"] else session_line
            for row in rows:
                if options["json"]:
                    self.write_json(row)
                else:
                    self.write_shown(line(row))
        failures.conclude()


def rows_of(path: Path, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each session, or with ``--messages`` for each of their messages."""
    sessions = read_sessions(path, format=options["format"], name=shown_path(Path(path.name)))
    if options["session"] is not None:
        sessions = [session for session in sessions if session.key == options["session"]]
        if not sessions:
            raise ImportFailure(f"{path.name} has no session {options['session']!r}.")
    for parsed in sessions:
        if options["messages"]:
            yield from message_rows(parsed)
        else:
            yield describe(parsed, measure(parsed), path=shown_path(path))


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
