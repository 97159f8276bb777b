"""The views of the card "Losses" on a session page: the names and figures, and the lifeline of one name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from compression.engine.presets import PRESETS
from compression.forms import PageState, StateForm
from compression.lifeline_page import lifeline_context
from compression.losses_page import Whose, losses_context
from compression.replays import stored_replay
from compression.views import PageRequest, first_of, opened, refused, visible_session
from sessions.models import Session


@require_GET
@vary_on_headers("HX-Request")
def losses(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """What left and was needed later: ``of`` the policy or the agent's ``own`` compactions, ``by`` names or figures."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    state = replace(found.state, name="")
    whose: Whose = "own" if request.GET.get("of") == "own" else "policy"
    context = losses_context(
        session,
        stored_replay(session, PRESETS["recorded"]) if whose == "own" else found.document,
        state,
        whose=whose,
        face="figures" if request.GET.get("by") == "figures" else "names",
        sort=request.GET.get("sort", ""),
        first=first_of(request),
    )
    return _card(request, session, state, context)


@require_GET
@vary_on_headers("HX-Request")
def lifeline(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """The turns where a name was seen, stubbed, gone, recalled and used."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    if not found.document.turns:
        raise Http404
    context = lifeline_context(session, found.document, found.state, first_of(request))
    return _card(request, session, found.state, context)


def _card(request: PageRequest, session: Session, state: PageState, context: dict[str, Any]) -> HttpResponse:
    context |= {
        "session": session,
        "project": session.project,
        "fragment": "compression/retention.html",
        "is_alone": not request.htmx,
    }
    if not request.htmx:
        return render(request, "compression/fragment_page.html", context)
    response = render(request, "compression/retention.html", context)
    if state.name or "name=" in (request.htmx.current_url or ""):
        response["HX-Replace-Url"] = state.url(open=state.open)
    return response
