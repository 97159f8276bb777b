"""Shows a policy whole, checks a policy file, or prints the schema of both."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from compression.command_line import EngineCommand, bad_input_exits_with_2
from compression.engine.policy import Policy, load


class Command(EngineCommand):
    help = "Show a policy, or validate a policy file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="show|validate|schema")
        show = actions.add_parser("show", help="every field of a policy")
        show.add_argument("name", metavar="NAME|FILE")
        show.add_argument("--json", action="store_true", help="one JSON document")
        validate = actions.add_parser("validate", help="check a policy file; exit status 2 names every fault")
        validate.add_argument("name", metavar="FILE")
        validate.add_argument("--json", action="store_true", help="one JSON document")
        actions.add_parser("schema", help="the JSON schema of a policy file")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "schema":
            self.write_json(Policy.model_json_schema())
            return
        with bad_input_exits_with_2():
            policy = load(options["name"])
        if options["action"] == "validate":
            if options["json"]:
                self.write_json({"valid": True, "name": policy.name, "digest": policy.digest})
            else:
                self.write_shown(f"{options['name']}: a valid policy, {policy.name!r}")
            return
        fields = policy.model_dump(mode="json")
        if options["json"]:
            self.write_json(fields)
            return
        for name, value in fields.items():
            unit = (Policy.model_fields[name].json_schema_extra or {}).get("unit", "")  # type: ignore[union-attr]  # a dict in every field of ours
            self.write_shown(f"{name:<22} {value!r:<24} {unit:<10} {Policy.model_fields[name].description}")
