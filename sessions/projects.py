"""Projects: how one is made, which one takes files that were dropped before there was any, and their totals."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Count, F, FloatField, Max, QuerySet, Sum, Value
from django.db.models.functions import Cast, Coalesce, NullIf
from django.utils.text import slugify
from django.utils.translation import gettext as _

from sessions.models import RESERVED_SLUGS, Membership, Project

SLUG_LENGTH = 70  # leaves room for a number at the end


@transaction.atomic
def create_project(*, name: str, owner: AbstractBaseUser) -> Project:
    """The slug comes from the name and gets a number when it is taken, also by a project that the owner cannot see."""
    project = Project.objects.create(name=name, slug=free_slug(name))
    Membership.objects.create(project=project, user_id=owner.pk, role=Membership.Role.OWNER)
    return project


def free_slug(name: str) -> str:
    """A name without any Latin letter or digit gives "project"."""
    base = slugify(name)[:SLUG_LENGTH].strip("-_") or "project"
    taken = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    number, slug = 1, base
    while slug in taken or slug in RESERVED_SLUGS:
        number += 1
        slug = f"{base}-{number}"
    return slug


def first_project_of(user: AbstractBaseUser) -> Project:
    """Where files go that were dropped on the empty list of projects; made on first use."""
    mine = Project.objects.filter(memberships__user=user.pk).order_by("pk").first()
    return mine or create_project(name=_("My sessions"), owner=user)


def owns(user: AbstractBaseUser | AnonymousUser, project: Project) -> bool:
    """Whether the user may change members and tokens."""
    if getattr(user, "is_superuser", False):
        return True
    return project.memberships.filter(user=user.pk, role=Membership.Role.OWNER).exists()


def add_member(project: Project, *, username: str) -> bool:
    """False when nobody of that name may sign in. Somebody who is a member already keeps the role."""
    user = get_user_model().objects.filter(username=username, is_active=True).first()
    if user is None:
        return False
    Membership.objects.get_or_create(project=project, user=user)
    return True


def with_totals(projects: QuerySet[Project]) -> QuerySet[Project]:
    """Adds ``session_count``, ``total_tokens``, ``peak_share`` (of the window, 0..1) and ``last_started_at``."""
    return projects.annotate(
        session_count=Count("sessions"),
        total_tokens=Sum("sessions__counted_tokens"),
        total_turns=Sum("sessions__turn_count"),
        peak_tokens=Max("sessions__peak_context_tokens"),
        peak_share=Max(
            Cast(F("sessions__peak_context_tokens"), FloatField())
            / Cast(NullIf(Coalesce("sessions__window_tokens", "sessions__context_window"), Value(0)), FloatField())
        ),
        last_started_at=Max("sessions__started_at"),
    )
