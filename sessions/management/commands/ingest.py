"""Imports session files, or folders of them, into a project.

A row per session goes to stdout, a row per unreadable file too; exit status 2 says that
there was one, 1 that a file woke a defect. It only reads the files.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from sessions.file_failures import Failures
from sessions.import_file import import_file
from sessions.models import Project
from sessions.terminal import LONGEST_COMPLAINT, TerminalCommand, shown, shown_path

# What a folder is searched for; a file that is named outright may have any name.
SESSION_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".db", ".sqlite", ".sqlite3"})


class Command(TerminalCommand):
    help = "Import recorded sessions from files or folders."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--create-project", action="store_true", help="make the project when there is none")
        parser.add_argument("--format", metavar="NAME", help="do not detect the format, read this one")
        parser.add_argument("--json", action="store_true", help="one JSON document a line")

    def handle(self, *args: Any, **options: Any) -> None:
        project = found_project(options["project"], may_create=options["create_project"])
        failures = Failures()
        for path in session_files(options["paths"]):
            rows: list[dict[str, Any]] = []
            with failures.of(path) as failed:
                rows = import_file(path, project=project, format_name=options["format"])
            if failed.error:
                rows = [{"path": shown_path(path), "error": failed.error}]
            for row in rows:
                if options["json"]:
                    self.write_json(row)
                else:
                    self.stdout.write(shown(as_line(row), LONGEST_COMPLAINT))
        failures.conclude()


def found_project(slug: str, *, may_create: bool) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None and may_create:
        project = Project(name=slug, slug=slug)
        try:
            project.full_clean()
        except ValidationError as error:
            message = f"{slug!r} cannot be the name of a project: {' '.join(error.messages)}"
            raise CommandError(message, returncode=2) from None
        project.save()
    if project is None:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "none yet"
        raise CommandError(f"There is no project {slug!r} (known: {known}). --create-project makes it.", returncode=2)
    return project


def session_files(paths: list[Path]) -> Iterator[Path]:
    """The files named, and those of every folder in the order of their names; links to folders are not followed."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (Path(folder, name) for name in sorted(names) if Path(name).suffix.lower() in SESSION_SUFFIXES)


def as_line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['path']}: {row['error']}"
    return (
        f"{row['status']:<9} {row['url']}  {row['format']}  {row['messages']} messages, {row['turns']} turns, "
        f"{row['counted_tokens']:,} tokens  {row['title']}"
    )
