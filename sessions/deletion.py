"""Deleting sessions, and the originals that nobody needs afterwards.

Everything that hangs on a session goes with it, in the database. A sub-agent that is not chosen
stays; it remembers its parent's key, and finds the parent again should that be imported once more.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from sessions.models import Project, Session
from sessions.originals import sweep_originals


@transaction.atomic
def delete_sessions(*, project: Project, sessions: Collection[int]) -> int:
    """Delete those of ``sessions`` (primary keys) that are in the project; how many they were."""
    chosen = Session.objects.select_for_update().filter(project=project, pk__in=sessions)
    found = list(chosen.order_by("pk").values_list("pk", flat=True))
    Session.objects.filter(pk__in=found).delete()
    sweep_originals()
    return len(found)
