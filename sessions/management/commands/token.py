"""Makes API tokens. The text of a token is printed once and kept nowhere."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from sessions.models import ApiToken, Project
from sessions.terminal import TerminalCommand
from sessions.tokens import create_token


class Command(TerminalCommand):
    help = "Make an API token for one project; it is shown once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create")
        create.add_argument("--project", required=True, metavar="SLUG")
        create.add_argument("--scope", required=True, choices=ApiToken.Scope.values)
        create.add_argument("--name", default="", help="what it is for")
        create.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.", returncode=2)
        stored, text = create_token(project=project, scope=options["scope"], name=options["name"])
        self.stdout.write(json.dumps({"token": text, "id": stored.pk}) if options["json"] else text)
