"""The comparison pages: two to six policies on one session, or on the project.

A view finds what is compared, checks access and asks for one context. What the user may not see is 404; a
query that makes no sense is 400 with a page that says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from compression.compare_figure import comparison, cumulative
from compression.compare_forms import CompareForm
from compression.compare_page import Lineup, project_context, session_context, window_context
from compression.policy_keys import offered
from compression.replay_document import ReplayDocument
from compression.replays import stored_replay
from compression.run_forms import TableForm
from compression.run_views import PageRequest, visible_project
from sessions.models import Project, Session


def asked_for(project: Project, form: CompareForm) -> Lineup:
    """What a valid form compares."""
    given = form.cleaned_data
    choices = given["choices"]
    beside = form.beside_of(len(choices))
    if given["session"] is None:
        return Lineup(project, choices, None, beside)
    sessions = Session.objects.select_related("project__prices").defer("tools_json")
    return Lineup(project, choices, get_object_or_404(sessions, project=project, pk=given["session"]), beside)


def replays_of(lineup: Lineup) -> list[ReplayDocument]:
    assert lineup.session is not None
    return [stored_replay(lineup.session, choice.policy) for choice in lineup.choices]


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
    lineup = asked_for(project, form)
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    if lineup.session is None:
        context = project_context(lineup, TableForm(request.GET).state(), request.GET.get("by", ""))
        template = "compression/compare_project.html" + ("#table" if is_part and "page" in context else "")
        return render(request, template, context | {"policies": offered(project)})
    documents = replays_of(lineup)
    turn = form.turn_of(documents[0].turns)
    if form.errors:
        return refused(request, project, form)
    if is_part and documents[0].turns:
        response = render(request, "compression/compare_window.html", window_context(lineup, documents, turn))
        response["HX-Replace-Url"] = lineup.url(turn=turn)
        return response
    context = session_context(lineup, documents, turn) | {"policies": offered(project)}
    return render(request, "compression/compare_session.html", context)


def drawn(
    request: PageRequest, slug: str, draw: Callable[[Sequence[ReplayDocument], Sequence[str]], dict[str, Any]]
) -> HttpResponse:
    project = visible_project(request, slug)
    form = CompareForm(request.GET, project=project)
    if not form.is_valid() or form.cleaned_data["session"] is None:
        return JsonResponse({"error": "; ".join(form.faults()) or "session: which one?"}, status=400)
    lineup = asked_for(project, form)
    return JsonResponse(draw(replays_of(lineup), [side.name for side in lineup.sides]))


@require_GET
def timeline(request: PageRequest, slug: str) -> HttpResponse:
    """The windows under all policies, as a figure in JSON."""
    return drawn(request, slug, comparison)


@require_GET
def dollars(request: PageRequest, slug: str) -> HttpResponse:
    """Dollars so far under all policies, as a figure in JSON."""
    return drawn(request, slug, cumulative)
