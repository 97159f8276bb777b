"""Shows the whole window of one turn, as it was and as a policy would have left it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from compression.command_line import EngineCommand, add_subject, bad_input_exits_with_2, replay_of, turn_of
from compression.engine.document import window_document
from sessions.terminal import shown


class Command(EngineCommand):
    help = "Show the window at a turn, before and after a policy."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_subject(parser)
        parser.add_argument("--turn", type=int, required=True, metavar="N", help="the turn, counted from 0")
        parser.add_argument("--side", choices=["before", "after", "both"], default="both")
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        with bad_input_exits_with_2():
            done, _ = replay_of(options)
            turn_of(done, options["turn"])
        document = window_document(done, options["turn"], options["side"])
        if options["json"]:
            self.write_json(document)
            return
        for side in ("before", "after"):
            if side in document:
                self.stdout.write(f"== {side}: {document['tokens'][side]:,} tokens ==")
                for block in document[side]:
                    self.stdout.write(block_line(block))


def block_line(block: dict[str, Any]) -> str:
    """A block in one line, for people; control characters of the session are not passed to the terminal."""
    number = "-" if block["message"] is None else block["message"]
    what = block["tool"] or block["kind"]
    text = shown(block["text"][:200])
    edited = " *" if block["edit"] else ""
    return shown(
        f"{number:>6} {block['role']:<9} {what:<14.14} {block['zone']:<12} {block['tokens']:>8,}{edited}  {text[:90]}"
    )
