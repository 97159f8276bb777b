"""Reads back the original behind an address, or a slice of it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from compression.command_line import EngineCommand, add_store, bad_input_exits_with_2, store_of
from compression.engine.snapshots import SCHEME, Slice, UnknownAddress, read_slice
from compression.engine.tokens import default_counter
from compression.recall import stored_original
from compression.subjects import NoSubject, a_reachable_database


class Command(EngineCommand):
    help = "Read the original of a stub back, whole or in part."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", metavar="ADDRESS", help="hermes: and 12 or more hex digits")
        parser.add_argument("--lines", default="", metavar="A-B", help="these lines, counted from 1")
        parser.add_argument("--grep", default="", metavar="RE", help="lines that match (RE2), with their numbers")
        parser.add_argument("--json-path", default="", metavar="P", help="values of a JSON original")
        parser.add_argument("--max-tokens", type=int, metavar="N", help="stop after whole lines of so many tokens")
        parser.add_argument("--project", metavar="SLUG", help="only among the originals of this project")
        add_store(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["max_tokens"] is not None and options["max_tokens"] < 1:
            raise CommandError("--max-tokens must be 1 or more", returncode=2)
        part = Slice(options["lines"], options["grep"], options["json_path"], options["max_tokens"])
        with bad_input_exits_with_2():
            sha, body = found(options)
            text = read_slice(body.decode("utf-8", "surrogatepass"), part, default_counter().count)
        if options["json"]:
            self.write_json({"address": SCHEME + sha, "bytes": len(body), "text": text})
        elif self.stdout.isatty():
            self.write_shown(text)
        else:
            self.stdout.write(text)


def found(options: dict[str, Any]) -> tuple[str, bytes]:
    """The original: of a project where one is named, else of the folder, else of any stored session."""
    address, project, folder = options["address"], options["project"], store_of(options)
    if not project:
        try:
            return folder.get(address)
        except UnknownAddress as error:
            if options["store"]:
                raise
            unknown = error
    try:
        with a_reachable_database():
            return stored_original(project, address)
    except (UnknownAddress, NoSubject) as error:
        if project:
            raise
        hint = "`manage.py replay FILE` keeps the originals of a file"
        raise UnknownAddress(f"{unknown}. Of the stored sessions: {error}. {hint}") from None
