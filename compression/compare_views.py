"""The comparison pages: two policies on one session, or on the project.

A view finds what is compared, checks access and asks for one context. What the user may not see is 404; a
query that makes no sense is 400 with a page that says what is wrong.
"""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from compression.compare_figure import comparison
from compression.compare_forms import CompareForm
from compression.compare_page import Pair, project_context, session_context, window_context
from compression.policy_keys import offered
from compression.replay_document import ReplayDocument
from compression.replays import stored_replay
from compression.run_forms import TableForm
from compression.run_views import PageRequest, visible_project
from sessions.models import Project, Session


def asked_for(project: Project, form: CompareForm) -> Pair:
    """What a valid form compares."""
    given = form.cleaned_data
    if given["session"] is None:
        return Pair(project, given["a"], given["b"])
    sessions = Session.objects.select_related("project").defer("tools_json")
    return Pair(project, given["a"], given["b"], get_object_or_404(sessions, project=project, pk=given["session"]))


def replays_of(pair: Pair) -> tuple[ReplayDocument, ReplayDocument]:
    assert pair.session is not None
    return stored_replay(pair.session, pair.a.policy), stored_replay(pair.session, pair.b.policy)


def refused(request: PageRequest, project: Project, form: CompareForm) -> HttpResponse:
    return render(
        request, "compression/compare_refused.html", {"project": project, "faults": form.faults()}, status=400
    )


@require_GET
@vary_on_headers("HX-Request")
def compare(request: PageRequest, slug: str) -> HttpResponse:
    project = visible_project(request, slug)
    form = CompareForm(request.GET, project=project)
    if not form.is_valid():
        return refused(request, project, form)
    pair = asked_for(project, form)
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    if pair.session is None:
        context = project_context(pair, TableForm(request.GET).state())
        template = "compression/compare_project.html" + ("#table" if is_part and "page" in context else "")
        return render(request, template, context | {"policies": offered(project)})
    a, b = replays_of(pair)
    turn = form.turn_of(a.turns)
    if form.errors:
        return refused(request, project, form)
    if is_part and a.turns:
        response = render(request, "compression/compare_window.html", window_context(pair, a, b, turn))
        response["HX-Replace-Url"] = pair.url(turn=turn)
        return response
    context = session_context(pair, a, b, turn) | {"policies": offered(project)}
    return render(request, "compression/compare_session.html", context)


@require_GET
def timeline(request: PageRequest, slug: str) -> HttpResponse:
    """Both timelines as a figure in JSON."""
    project = visible_project(request, slug)
    form = CompareForm(request.GET, project=project)
    if not form.is_valid() or form.cleaned_data["session"] is None:
        return JsonResponse({"error": "; ".join(form.faults()) or "session: which one?"}, status=400)
    pair = asked_for(project, form)
    a, b = replays_of(pair)
    return JsonResponse(comparison(a, b, (pair.a.label, pair.b.label)))
