"""Loads the example project: a few sessions of our own in real formats. Loading it again changes nothing."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from sessions.example.loading import load_example
from sessions.importers.parsed import ImportFailure
from sessions.models import Project


class Command(BaseCommand):
    help = "Load the example project."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", default="example", metavar="SLUG", help="where to load it (default: example)")
        parser.add_argument("--if-empty", action="store_true", help="do nothing when there is any project")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["if_empty"] and Project.objects.exists():
            return
        slug = options["project"]
        try:
            validate_slug(slug)
        except ValidationError:
            raise CommandError(
                f"{slug!r} is no slug. Use letters, digits, hyphens and underscores.", returncode=2
            ) from None
        try:
            rows = load_example(slug=slug)
        except ImportFailure as failure:
            raise CommandError(f"The example could not be read: {failure.message} {failure.hint}") from failure
        for row in rows:
            self.stdout.write(f"{row['status']:<9} {row['title'] or row['key']}  {row['url']}")
