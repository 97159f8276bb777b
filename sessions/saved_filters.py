"""Filters of the sessions table that a user keeps: a name and the query string that it stands for."""

from __future__ import annotations

from django.contrib.auth.models import User

from sessions.models import Project, SavedFilter

MOST = 30  # a project: chips are for the few views that are used again


def saved_filters(user: User, project: Project) -> list[SavedFilter]:
    return list(SavedFilter.objects.filter(user=user, project=project)[:MOST])


def save_filter(*, user: User, project: Project, name: str, query: str) -> bool:
    """A name that is taken gets the new query; False when there are too many."""
    mine = SavedFilter.objects.filter(user=user, project=project)
    if not mine.filter(name=name).exists() and mine.count() >= MOST:
        return False
    SavedFilter.objects.update_or_create(user=user, project=project, name=name, defaults={"query": query})
    return True
