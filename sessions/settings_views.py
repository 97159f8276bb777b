"""The settings page of a project: who is a member, which programs may come in.

Members see the page; owners change it. A new token's text is on the answer to the form that
made it, and nowhere else.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from sessions import projects as verbs
from sessions.forms import MemberForm, TokenForm
from sessions.models import Membership, Project
from sessions.tokens import create_token
from sessions.views import SignedInRequest, owned_project, visible_project


@require_GET
def project_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    return page(request, visible_project(request, slug))


@require_POST
def member_add(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    form = MemberForm(request.POST)
    if form.is_valid() and not verbs.add_member(project, username=form.cleaned_data["username"]):
        form.add_error("username", _("Nobody of this name may sign in here."))
    if not form.is_valid():
        return page(request, project, status=422, member_form=form)
    return redirect("sessions:project-settings", project.slug)


@require_POST
def member_remove(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Owners stay: a project without one could not be changed by anybody."""
    project = owned_project(request, slug)
    get_object_or_404(project.memberships.filter(role=Membership.Role.MEMBER), pk=pk).delete()
    return redirect("sessions:project-settings", project.slug)


@require_POST
@never_cache
def token_create(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    form = TokenForm(request.POST)
    if not form.is_valid():
        return page(request, project, status=422, token_form=form)
    _stored, text = create_token(project=project, scope=form.cleaned_data["scope"], name=form.cleaned_data["name"])
    return page(request, project, status=201, new_token=text)


@require_POST
def token_revoke(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    project = owned_project(request, slug)
    get_object_or_404(project.tokens, pk=pk).delete()
    return redirect("sessions:project-settings", project.slug)


def page(request: SignedInRequest, project: Project, *, status: int = 200, **changes: Any) -> HttpResponse:
    context: dict[str, Any] = {
        "project": project,
        "memberships": project.memberships.select_related("user").order_by("user__username"),
        "tokens": project.tokens.order_by("-pk"),
        "is_owner": verbs.owns(request.user, project),
        "token_form": TokenForm(),
        "member_form": MemberForm(),
        **changes,
    }
    return render(request, "sessions/project_settings.html", context, status=status)
