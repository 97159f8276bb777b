"""Saving, restoring and undoing from a page: pressing twice does it once, also when both presses arrive together.

Each verb is told what the page had seen and does nothing more when that is no longer so. The rest is ``policies``.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from compression import policies
from compression.engine.policy import Policy
from compression.models import Adoption, PolicyVersion
from sessions.models import Project


def save_once(
    *, project: Project, policy: Policy, author: User, seen: int, note: str = "", origin: str = ""
) -> PolicyVersion:
    """Append a version, unless the author has saved the same one since the version ``seen``."""
    with transaction.atomic():
        _lock(project)
        twin = PolicyVersion.objects.filter(
            project=project, number__gt=seen, author=author, name=policy.name, digest=policy.digest, note=note[:300]
        ).first()
        return twin or policies.save_version(project=project, policy=policy, author=author, note=note, origin=origin)


def restore_once(*, version: PolicyVersion, author: User) -> PolicyVersion:
    """The same policy as the newest version; the newest one itself when it is that already."""
    with transaction.atomic():
        _lock(version.project)
        newest = PolicyVersion.objects.filter(project=version.project).first()
        if newest is not None and (newest.digest, newest.name) == (version.digest, version.name):
            return newest
        return policies.restore(version=version, author=author)


def undo_once(*, project: Project, by: User, seen: int) -> Adoption | None:
    """Take back the adoption ``seen``; None when it no longer stands or something else came into force since."""
    with transaction.atomic():
        _lock(project)
        standing = policies.standing_adoptions(project)
        if not standing or standing[0].pk != seen:
            return None
        return policies.undo(project=project, by=by)


def _lock(project: Project) -> None:
    Project.objects.select_for_update().get(pk=project.pk)
