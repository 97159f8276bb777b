"""Serves ``recall`` to an agent over stdin and stdout, for one project."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from compression.command_line import EngineCommand, bad_input_exits_with_2
from compression.mcp_server import server_of
from compression.subjects import a_reachable_database
from sessions.models import Project


class Command(EngineCommand):
    help = "Serve the MCP tool recall over stdio: what an agent's stubs of one project stand for."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="SLUG", required=True, help="whose originals are served")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["project"]
        with bad_input_exits_with_2(), a_reachable_database():
            known = Project.objects.filter(slug=slug).exists()
        if not known:
            raise CommandError(f"there is no project {slug!r}; the dashboard lists them", returncode=2)
        asyncio.run(server_of(slug).run_stdio_async())
