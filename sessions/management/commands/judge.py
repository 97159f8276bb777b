"""Judges one tool call by the danger rules. Nothing is executed.

"allow" says that no rule fired, not that the call is safe.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from sessions.streaming.partial_json import PartialJson
from sessions.streaming.rules.judging import judge_call
from sessions.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Judge one tool call by the danger rules; prints a JSON document."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tool", required=True, metavar="NAME")
        parser.add_argument("--arguments", required=True, metavar="JSON", help="the call's arguments; - reads stdin")
        parser.add_argument("--root", metavar="FOLDER", help="the session's folder: writes outside it are questions")

    def handle(self, *args: Any, **options: Any) -> None:
        text = options["arguments"]
        if text == "-":
            text = sys.stdin.buffer.read().decode("utf-8", "replace")
        scanner = PartialJson()
        scanner.feed(text)
        ending = scanner.finish()
        if not ending.whole:
            where = f" at character {scanner.broken.at}" if scanner.broken else ""
            raise CommandError(f"--arguments is no whole JSON document: {ending.why}{where}.", returncode=2)
        judge = judge_call(options["tool"], scanner.value, root=options["root"])
        self.write_json({"level": judge.level, "rules": [finding.as_dict() for finding in judge.findings]})
