"""Makes a new installation usable: the first user, and the example project while there is nothing else.

Does nothing, quietly, when both are there.
"""

from __future__ import annotations

import getpass
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command, get_commands

from sessions.models import Project
from sessions.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Make the first user, and load the example project into an empty database."

    def handle(self, *args: Any, **options: Any) -> None:
        if not User.objects.filter(is_superuser=True, is_active=True).exists():
            user = User.objects.create_superuser(free_username())
            self.stdout.write(f"Made the first user, {user.get_username()}, who signs in by link.")
        if "load_example" in get_commands() and not Project.objects.exists():
            call_command("load_example", stdout=self.stdout)


def free_username() -> str:
    """The name of whoever runs this, or of nobody in particular where the system knows no name."""
    try:
        name = getpass.getuser()[:100]
    except (KeyError, OSError):
        name = "hermes"
    return f"{name}-admin" if User.objects.filter(username=name).exists() else name
