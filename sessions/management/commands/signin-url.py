"""Prints a link that signs a user in: ten minutes, one use."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from sessions.signin import create_link
from sessions.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Print a link that signs a user in: ten minutes, one use."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", metavar="NAME", help="the first administrator when not given")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["user"]
        wanted = {"username": name} if name else {"is_superuser": True}
        user = User.objects.filter(is_active=True, **wanted).order_by("pk").first()
        if user is None:
            whom = f"There is no active user {name!r}" if name else "There is no user yet"
            raise CommandError(f"{whom}; `manage.py bootstrap` makes the first one.", returncode=2)
        self.stdout.write(create_link(user))
