"""Loads the example project: a few sessions of our own in real formats. Loading it again changes nothing."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from sessions.example.loading import load_example
from sessions.importers.parsed import ImportFailure
from sessions.models import Project
from sessions.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Load the example project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", default="example", metavar="SLUG", help="where to load it (default: example)")
        parser.add_argument("--if-empty", action="store_true", help="do nothing when there is any project")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["if_empty"] and Project.objects.exists():
            return
        slug = options["project"]
        try:
            Project(name=slug, slug=slug).clean_fields()
            Project(name=slug, slug=slug).clean()
        except ValidationError as error:
            message = f"{slug!r} is no slug that can be used: {' '.join(error.messages)}"
            raise CommandError(message, returncode=2) from None
        try:
            rows = load_example(slug=slug)
        except ImportFailure as failure:
            raise CommandError(f"The example could not be read: {failure.sentences}") from failure
        for row in rows:
            self.write_shown(f"{row['status']:<9} {row['title'] or row['key']}  {row['url']}")
