"""The worst sessions of a project by cause, and the run that works out those that are missing."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from compression import runs
from compression.policies import in_force
from compression.policy_menu import PolicyMenu
from compression.worst_sessions import CAUSES, LISTED, looked_at, not_worked_out, worst_sessions
from sessions.models import Project


def visible_project(request: HttpRequest, slug: str) -> Project:
    return get_object_or_404(Project.objects.visible_to(request.user).select_related("prices"), slug=slug)


@require_GET
def worst(request: HttpRequest, slug: str) -> HttpResponse:
    """One cause at a time; an unknown one is the first."""
    project = visible_project(request, slug)
    policy = in_force(project)
    asked = request.GET.get("cause", "")
    cause = next((cause for cause in CAUSES if cause.name == asked), CAUSES[0])
    found = worst_sessions(project, policy.policy, cause)
    context = {
        "project": project,
        "in_force": policy,
        "worst": found,
        "causes": [(cause, found.counts[cause.name]) for cause in CAUSES],
        "listed": LISTED,
        "waiting_more": found.waiting_total - len(found.waiting),
    }
    return render(request, "compression/worst.html", context)


@require_POST
def worst_run(request: HttpRequest, slug: str) -> HttpResponse:
    """Start a run of the policy in force over the sessions that are missing, and go to it."""
    project = visible_project(request, slug)
    choice = PolicyMenu(project).default
    known = looked_at(project, choice.policy)
    missing = list(not_worked_out(project, choice.policy, known).values_list("pk", flat=True))
    if not missing:
        messages.info(request, _("Every session has been worked out already."))
        return redirect(reverse("compression:worst", args=[project.slug]))
    run = runs.start(
        project=project,
        policy=choice.policy,
        label=choice.label,
        sessions=missing,
        version=choice.version,
        by=cast("User", request.user),
    )
    return redirect(run)
