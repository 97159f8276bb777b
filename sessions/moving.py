"""Moving sessions to another project, all of them or none.

Sub-agents go with the session that called them. Keys are unique in a project, so that a session whose key
the other project holds already stays where it is, and with it all the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from sessions.models import Project, Session


class KeysCollide(Exception):
    """The other project holds these sessions already; ``taken`` are the ones there."""

    def __init__(self, taken: Sequence[Session]) -> None:
        super().__init__(", ".join(session.key for session in taken))
        self.taken = taken


def move_sessions(*, project: Project, target: Project, sessions: Collection[int]) -> int:
    """Move ``sessions`` (primary keys in ``project``) and their sub-agents; how many went."""
    chosen = Session.objects.filter(project=project, pk__in=with_sub_agents(project, sessions))
    try:
        with transaction.atomic():
            keys = dict(chosen.select_for_update().order_by("pk").values_list("pk", "key"))
            if taken := held_by(target, keys.values()):
                raise KeysCollide(taken)
            moved = Session.objects.filter(pk__in=keys)
            moved.exclude(parent__in=list(keys)).update(parent=None)
            moved.update(project=target, updated_at=timezone.now())
            find_parents(target, keys.values())
    except IntegrityError:
        # An import that ran at the same moment was first.
        raise KeysCollide(held_by(target, list(chosen.values_list("key", flat=True)))) from None
    return len(keys)


def with_sub_agents(project: Project, sessions: Collection[int]) -> set[int]:
    found: set[int] = set()
    new = set(Session.objects.filter(project=project, pk__in=sessions).values_list("pk", flat=True))
    while new:
        found |= new
        children = Session.objects.filter(project=project, parent__in=new).values_list("pk", flat=True)
        new = set(children) - found
    return found


def held_by(target: Project, keys: Collection[str]) -> list[Session]:
    return list(Session.objects.filter(project=target, key__in=list(keys)).order_by("key").only("key", "title"))


def find_parents(target: Project, keys: Collection[str]) -> None:
    """Tie what came to what was there, in both directions, as an import would have."""
    here = Session.objects.filter(project=target)
    came = list(keys)
    orphans = here.filter(parent=None).exclude(parent_key="")
    wanted = orphans.filter(key__in=came) | orphans.filter(parent_key__in=came)
    parents = dict(here.filter(key__in=wanted.values("parent_key")).values_list("key", "pk"))
    for session in wanted.only("key", "parent_key"):
        if (parent := parents.get(session.parent_key)) not in (None, session.pk):
            Session.objects.filter(pk=session.pk).update(parent=parent)
