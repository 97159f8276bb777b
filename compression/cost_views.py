"""The views of the card "Cost" on a session page, and of its picture."""

from __future__ import annotations

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from compression.cost_comparison import ways
from compression.cost_figure import ways_figure
from compression.cost_page import FACES, Face, cost_context
from compression.forms import StateForm
from compression.views import PageRequest, first_of, opened, refused, visible_session


@require_GET
@vary_on_headers("HX-Request")
def cost(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """What the session costs; ``by`` its ways, the breaks of its cache, the stability of its prefix and so on."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    if not found.document.turns:
        raise Http404
    asked = request.GET.get("by", "")
    face: Face = next((name for name in FACES if name == asked), "ways")
    is_alone = not request.htmx
    context = cost_context(session, found.document, found.state, face, first_of(request), is_alone=is_alone)
    context |= {"session": session, "project": session.project, "fragment": "compression/cost.html"}
    return render(request, "compression/cost_page.html" if is_alone else "compression/cost.html", context)


@require_GET
def cost_figure(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """The bars of the ways as JSON."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return JsonResponse({"error": "; ".join(found.faults())}, status=400)
    if not found.document.turns:
        raise Http404
    return JsonResponse(ways_figure(ways(session, found.document, found.state)))
