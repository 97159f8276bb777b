"""Databases of the benchmarks' own: no installation is read or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def use(database: Path) -> None:
    """Point this process at a database."""
    from django.db import connection

    connection.close()
    connection.settings_dict["NAME"] = str(database)


def fresh(database: Path) -> Any:
    """An empty database with one project."""
    from django.core.management import call_command

    use(database)
    call_command("migrate", verbosity=0, skip_checks=True)
    from sessions.models import Project

    return Project.objects.create(name="Bench", slug="bench")
