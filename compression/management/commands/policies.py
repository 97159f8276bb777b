"""Lists the policies that Hermes ships."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from compression.command_line import EngineCommand
from compression.engine.presets import PRESETS


class Command(EngineCommand):
    help = "List the presets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["json"]:
            names = ("name", "about", "strategy", "digest")
            self.write_json([{name: getattr(policy, name) for name in names} for policy in PRESETS.values()])
            return
        for policy in PRESETS.values():
            self.stdout.write(f"{policy.name:<16} {policy.about}")
