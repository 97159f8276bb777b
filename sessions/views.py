"""The pages of projects: the list, one project with its sessions and uploads, its settings.

A view finds objects, checks access and calls one verb. What a user may not see is 404, as if it
did not exist. ``HX-Request`` gets the fragment that changed, everybody else the page.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from sessions import projects as verbs
from sessions.forms import ProjectForm, SessionFilterForm, UploadForm
from sessions.models import Project, Session
from sessions.outcomes import outcomes
from sessions.saved_filters import saved_filters
from sessions.session_list import DEFAULT_SORT, PAGE_SIZE, choices_of, page_of
from sessions.uploads import nothing_chosen, receive, too_large, unknown_format


class SignedInRequest(HttpRequest):
    """What LoginRequiredMiddleware and HtmxMiddleware make sure of."""

    user: User
    htmx: HtmxDetails
    upload_too_large: bool


def visible_project(request: SignedInRequest, slug: str) -> Project:
    return get_object_or_404(Project.objects.visible_to(request.user), slug=slug)


def owned_project(request: SignedInRequest, slug: str) -> Project:
    """404 for strangers, 403 for members who do not own it."""
    project = visible_project(request, slug)
    if not verbs.owns(request.user, project):
        raise PermissionDenied
    return project


@require_GET
def project_list(request: SignedInRequest) -> HttpResponse:
    found = verbs.with_totals(Project.objects.visible_to(request.user))
    known = outcomes().of_projects(found)
    context = {"projects": found, "cards": [(project, known[project.pk]) for project in found], **upload_context()}
    return render(request, "sessions/projects.html", context)


@require_http_methods(["GET", "POST"])
def project_create(request: SignedInRequest) -> HttpResponse:
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return redirect(verbs.create_project(name=form.cleaned_data["name"], owner=request.user))
    return render(request, "sessions/project_form.html", {"form": form}, status=422 if form.is_bound else 200)


@require_GET
@vary_on_headers("HX-Request")
def project_detail(request: SignedInRequest, slug: str) -> HttpResponse:
    project = visible_project(request, slug)
    totals = verbs.with_totals(Project.objects.filter(pk=project.pk)).get()
    context: dict[str, Any] = {"project": project, "totals": totals, **table_context(request, project)}
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "sessions/project.html#sessions", {**context, "is_fragment": True})
    return render(request, "sessions/project.html", {**context, **upload_context()})


def table_context(request: SignedInRequest, project: Project) -> dict[str, Any]:
    sessions = Session.objects.filter(project=project)
    form = SessionFilterForm(request.GET)
    state, query = form.state(), form.query()
    formats, models = choices_of(sessions)
    known = outcomes()
    page = page_of(
        sessions,
        text=state["q"],
        format_name=state["format"],
        model=state["model"],
        since=state["since"],
        until=state["until"],
        failures=state["failures"],
        boundaries=state["boundaries"],
        sort=state["sort"],
        after=state["after"],
        more_sorts=known.sorts(project) if state["sort"].removeprefix("-") in OUTCOME_SORTS else None,
    )
    found = known.of_sessions(project, page.rows)
    return {
        "state": {**state, "sort": state["sort"] or DEFAULT_SORT},
        "page": page,
        "rows": [(session, found.get(session.pk)) for session in page.rows],
        "page_size": PAGE_SIZE,
        "columns": COLUMNS,
        "formats": formats,
        "models": models,
        "filter_form": form,
        "query": query,
        "saved_filters": saved_filters(request.user, project),
        "is_owner": verbs.owns(request.user, project),
        "is_filtered": any(state[name] for name in FILTERS),
        "has_more_filters": any(state[name] for name in FILTERS[3:]),
    }


FILTERS = ("q", "format", "model", "since", "until", "failures", "boundaries")

OUTCOME_SORTS = ("cost", "dollars")

# Sort name, heading, sorted first downwards, holds figures.
COLUMNS = [
    ("title", _("Session"), False, False),
    ("agent", _("Agent"), False, False),
    ("model", _("Model"), False, False),
    ("turns", _("Turns"), True, True),
    ("messages", _("Messages"), True, True),
    ("tokens", _("Tokens"), True, True),
    ("recorded", _("Peak"), True, True),
    ("peak", _("of window"), True, True),
    ("cost", _("Cost"), True, True),
    ("dollars", _("$ saved"), False, True),
    ("started", _("Started"), True, True),
]


def upload_context() -> dict[str, Any]:
    return {"upload_form": UploadForm(), "max_bytes": settings.HERMES_MAX_UPLOAD_BYTES}


@require_POST
def upload(request: SignedInRequest, slug: str) -> HttpResponse:
    return received(request, visible_project(request, slug))


@require_POST
def upload_first(request: SignedInRequest) -> HttpResponse:
    """Files dropped on the list of projects before there is any."""
    return received(request, verbs.first_project_of(request.user))


def received(request: SignedInRequest, project: Project) -> HttpResponse:
    """The script of the page sends one file a request and takes the list items; a plain form gets a page."""
    form = UploadForm(request.POST)
    files = [file for file in request.FILES.getlist("files") if isinstance(file, TemporaryUploadedFile)]
    if getattr(request, "upload_too_large", False):
        refusal = too_large(settings.HERMES_MAX_UPLOAD_BYTES)
        if not request.htmx:
            return render(request, "413.html", {"message": refusal.message, "hint": refusal.hint}, status=413)
        outcomes = [refusal]
    elif not files:
        outcomes = [nothing_chosen()]
    elif not form.is_valid():
        outcomes = [unknown_format()]
    else:
        outcomes = [receive(file, project=project, format_name=form.cleaned_data["format"]) for file in files]
    status = 200 if any(outcome.status == 200 for outcome in outcomes) else outcomes[0].status
    template = "sessions/upload_results.html" + ("#items" if request.htmx else "")
    return render(request, template, {"project": project, "outcomes": outcomes}, status=status)
