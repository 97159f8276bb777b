"""What is done to sessions that were chosen in the table: deleting and moving them, and filters that are kept.

Each asks on a page of its own before it does anything, so that it works without any script.
Only owners of the project delete and move; a saved filter belongs to the user who saved it.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from sessions.deletion import delete_sessions
from sessions.forms import MoveForm, SavedFilterForm, SessionFilterForm
from sessions.models import Project, SavedFilter, Session
from sessions.moving import KeysCollide, move_sessions, with_sub_agents
from sessions.saved_filters import MOST, save_filter
from sessions.views import SignedInRequest, owned_project, visible_project

MOST_CHOSEN = 1000


def chosen_sessions(request: SignedInRequest, project: Project) -> Sequence[Session]:
    """The sessions that the request names; 404 when one of them is no session of the project."""
    named = (request.POST if request.method == "POST" else request.GET).getlist("session")
    if len(named) > MOST_CHOSEN or not all(text.isascii() and text.isdigit() and len(text) < 19 for text in named):
        raise Http404
    keys = {int(text) for text in named}
    found = Session.objects.filter(project=project, pk__in=keys).order_by("pk")
    rows = list(found.only("key", "title", "message_count", "counted_tokens", "project"))
    if len(rows) != len(keys):
        raise Http404
    return rows


@require_http_methods(["GET", "POST"])
def sessions_delete(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    sessions = chosen_sessions(request, project)
    if request.method == "POST":
        count = delete_sessions(project=project, sessions=[session.pk for session in sessions])
        words = ngettext("%(count)d session was deleted.", "%(count)d sessions were deleted.", count)
        messages.success(request, words % {"count": count})
        return redirect(project)
    keys = [session.pk for session in sessions]
    children = Session.objects.filter(project=project, parent__in=keys).exclude(pk__in=keys).count()
    context = {"project": project, "chosen": sessions, "children_left": children}
    return render(request, "sessions/sessions_delete.html", context)


@require_http_methods(["GET", "POST"])
def sessions_move(request: SignedInRequest, slug: str) -> HttpResponse:
    project = owned_project(request, slug)
    sessions = chosen_sessions(request, project)
    others = Project.objects.visible_to(request.user).exclude(pk=project.pk).order_by("name", "pk")
    form = MoveForm(request.POST if request.method == "POST" else None, projects=others)
    keys = [session.pk for session in sessions]
    taken: Sequence[Session] = ()
    if form.is_valid():
        target = form.cleaned_data["target"]
        try:
            count = move_sessions(project=project, target=target, sessions=keys)
        except KeysCollide as collision:
            taken = collision.taken
        else:
            words = ngettext("%(count)d session moved to %(name)s.", "%(count)d sessions moved to %(name)s.", count)
            messages.success(request, words % {"count": count, "name": target.name})
            return redirect(project)
    context = {
        "project": project,
        "chosen": sessions,
        "others": others,
        "form": form,
        "taken": taken,
        "children_too": len(with_sub_agents(project, keys)) - len(keys),
    }
    status = 409 if taken else 422 if form.is_bound else 200
    return render(request, "sessions/sessions_move.html", context, status=status)


@require_POST
def filter_save(request: SignedInRequest, slug: str) -> HttpResponse:
    project = visible_project(request, slug)
    form = SavedFilterForm(request.POST)
    query = SessionFilterForm(QueryDict(request.POST.get("query", ""))).query()
    if not form.is_valid() or not query or len(query) > 1000:
        messages.error(request, _("The filter was not saved: give it a name, and filter or sort by something."))
    elif not save_filter(user=request.user, project=project, name=form.cleaned_data["name"], query=query):
        messages.error(request, _("The filter was not saved: there are %(most)d already.") % {"most": MOST})
    return redirect(f"{project.get_absolute_url()}?{query}" if query else project.get_absolute_url())


@require_POST
def filter_delete(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    project = visible_project(request, slug)
    get_object_or_404(SavedFilter, user=request.user, project=project, pk=pk).delete()
    return redirect(project)
