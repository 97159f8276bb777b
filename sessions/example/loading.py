"""Puts the example sessions into a project, by the same way as every other file.

Loading twice changes nothing. Files are written to a folder of their own that is gone afterwards.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.module_loading import import_string

from sessions.example.writing import write_example
from sessions.import_file import import_file
from sessions.models import Membership, Project

NAME = "Example"


def load_example(*, slug: str) -> list[dict[str, Any]]:
    """Write, import, and return a row per session; all superusers own the project, without any the first user."""
    project, _ = Project.objects.get_or_create(slug=slug, defaults={"name": NAME})
    for owner in owners():
        Membership.objects.get_or_create(project=project, user=owner, defaults={"role": Membership.Role.OWNER})
    with tempfile.TemporaryDirectory(prefix="hermes-example-") as folder:
        rows = [row for path in write_example(Path(folder)) for row in import_file(path, project=project)]
    import_string(settings.AGENT_SESSIONS_EXAMPLE_LOADED)(project)
    return rows


def owners() -> list[User]:
    """Who shall see the example: superusers that may sign in, else whoever was there first."""
    active = User.objects.filter(is_active=True).order_by("pk")
    return list(active.filter(is_superuser=True)) or list(active[:1])
