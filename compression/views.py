"""The session page and its fragments.

A view finds the session, checks access and asks for one context. A session that the user may not see is
404, as if it did not exist; a query that makes no sense is 400 with a page that says what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from compression.cost_comparison import ways
from compression.cost_timeline import money_timeline
from compression.engine.snapshots import UnknownAddress
from compression.figures import timeline as timeline_figure
from compression.forms import LARGEST, PageState, StateForm
from compression.message_texts import TextSlice, departed_slice, part_slice
from compression.own_compactions import left_page, own_compactions
from compression.policy_menu import PolicyMenu
from compression.replay_document import Departure, ReplayDocument
from compression.replays import stored_replay
from compression.session_facts import events_page, turns_page
from compression.session_page import address, compactions_context, fills, page_context, search_context, window_context
from compression.warm_sessions import warm_session
from compression.what_if import what_if
from sessions.models import Session
from sessions.projects import owns


class PageRequest(HttpRequest):
    """What LoginRequiredMiddleware and HtmxMiddleware make sure of."""

    htmx: HtmxDetails


def visible_session(request: HttpRequest, slug: str, pk: int) -> Session:
    sessions = Session.objects.visible_to(request.user).select_related("project__prices").defer("tools_json")
    return get_object_or_404(sessions, project__slug=slug, pk=pk)


def refused(request: HttpRequest, session: Session, form: StateForm) -> HttpResponse:
    context = {"session": session, "project": session.project, "faults": form.faults()}
    return render(request, "compression/bad_state.html", context, status=400)


@dataclass(frozen=True, slots=True)
class Opened:
    """The state that a query asks for and the replay under its policy."""

    state: PageState
    document: ReplayDocument
    menu: PolicyMenu


def opened(request: HttpRequest, session: Session) -> Opened | StateForm:
    """What the query asks for; the form when the query is wrong."""
    menu = PolicyMenu(session.project)
    form = StateForm(request.GET, turns=session.turn_count, menu=menu)
    if not form.is_valid():
        return form
    state = form.state(session.get_absolute_url())
    return Opened(state, stored_replay(session, state.policy), menu)


def first_of(request: HttpRequest) -> int:
    """Where a paged list begins; nonsense begins at 0."""
    text = request.GET.get("first", "0")
    return min(int(text), LARGEST) if text.isascii() and text.isdigit() and len(text) < 12 else 0


@require_GET
@vary_on_headers("HX-Request")
def session_detail(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    state, document = found.state, found.document
    if request.htmx and not request.htmx.history_restore_request and document.turns:
        context = window_context(session, document, state, found.menu)
        response = render(request, "compression/window.html", context | {"is_fragment": True})
        response["HX-Replace-Url"] = state.url(open=state.open)
        return response
    context = page_context(session, document, state, found.menu)
    context["is_owner"] = owns(request.user, session.project)
    return render(request, "compression/session.html", context)


@require_GET
def timeline(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """The figure of the timeline as JSON; in tokens where no dollars are known."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return JsonResponse({"error": "; ".join(found.faults())}, status=400)
    state, document = found.state, found.document
    if state.in_money and (figure := money_timeline(document, ways(session, document, state), state.along)):
        return JsonResponse(figure)
    return JsonResponse(timeline_figure(document, state.policy, state.along, own_compactions(session, state)))


@require_GET
@vary_on_headers("HX-Request")
def turns(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """The table twin of the timeline."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    state, document = found.state, found.document
    in_money = state.in_money and document.cost.costs
    shown = [way for way in ways(session, document, state) if way.with_cache] if in_money else []
    context = {"state": state, "turns_page": turns_page(document, state, first_of(request), shown)}
    return fragment(request, session, "compression/turns.html", context)


@require_GET
@vary_on_headers("HX-Request")
def events(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    context = {"state": found.state, "events": events_page(found.document, found.state, first_of(request))}
    return fragment(request, session, "compression/events.html", context)


@require_GET
@vary_on_headers("HX-Request")
def window_composition(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """What fills the window: ``of`` before or after, ``as`` a table or the picture."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    if not found.document.turns:
        raise Http404
    shown = fills(
        session,
        found.document,
        found.state,
        after=request.GET.get("of") != "before",
        as_table=request.GET.get("as") == "table",
    )
    return fragment(request, session, "compression/composition.html", {"state": found.state, "fills": shown})


@require_GET
@vary_on_headers("HX-Request")
def compactions(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """The agent's own compactions, a page at a time."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    context = compactions_context(session, found.state, first_of(request))
    return fragment(request, session, "compression/compactions.html", context | {"state": found.state})


@require_GET
@vary_on_headers("HX-Request")
def compaction(request: PageRequest, slug: str, pk: int, number: int) -> HttpResponse:
    """What one of them took out of the window, a page at a time."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    own = own_compactions(session, found.state)
    if number >= len(own):
        raise Http404
    context = {
        "state": found.state,
        "left": left_page(session, found.state, own[number], first_of(request)),
        "compactions_url": address(session, "compactions", found.state),
    }
    return fragment(request, session, "compression/compaction.html", context)


@require_GET
@vary_on_headers("HX-Request")
def eater_what_if(request: PageRequest, slug: str, pk: int, message: int) -> HttpResponse:
    """What the session would have sent if only this message had been compressed."""
    session = visible_session(request, slug, pk)
    if message > LARGEST:
        raise Http404
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    answer = what_if(warm_session(session), found.state.policy, message)
    if answer is None:
        raise Http404
    context = {"state": found.state, "what_if": answer, "url": found.state.url(turn=found.state.turn, open=message)}
    return fragment(request, session, "compression/what_if.html", context)


def fragment(request: PageRequest, session: Session, template: str, context: dict[str, Any]) -> HttpResponse:
    """A piece of the page for htmx, a page of its own for everybody else."""
    context |= {"session": session, "project": session.project, "fragment": template}
    return render(request, template if request.htmx else "compression/fragment_page.html", context)


@require_GET
@vary_on_headers("HX-Request")
def search_hits(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """The messages that fit the search of the address, a page at a time.

    A search that makes no sense is an answer like any other for htmx: half an expression is on its way to a whole one.
    """
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    context: dict[str, Any] = {"session": session, "project": session.project, "fragment": "compression/hits.html"}
    if isinstance(found, StateForm):
        if not request.htmx:
            return refused(request, session, found)
        return render(request, "compression/hits.html", context | {"faults": found.faults()})
    after = request.GET.get("after", "")
    after_message = int(after) if after.isascii() and after.isdigit() and len(after) < 12 else None
    context |= {"state": found.state, **search_context(session, found.document, found.state, after_message)}
    response = render(request, "compression/hits.html" if request.htmx else "compression/fragment_page.html", context)
    if request.htmx and after_message is None:
        response["HX-Replace-Url"] = found.state.url(open=found.state.open)
    return response


@require_GET
@vary_on_headers("HX-Request")
def message_text(request: PageRequest, slug: str, pk: int, index: int, part: int) -> HttpResponse:
    """The text of one part, a slice at a time."""
    session = visible_session(request, slug, pk)
    if index > LARGEST:
        raise Http404
    found = part_slice(session, index, part, first_of(request))
    return text_response(request, session, found, heading=f"Message {index}")


@require_GET
@vary_on_headers("HX-Request")
def recall(request: PageRequest, slug: str, pk: int, address: str) -> HttpResponse:
    """The original that an address of this session's replay leads to, a slice at a time."""
    session = visible_session(request, slug, pk)
    found = opened(request, session)
    if isinstance(found, StateForm):
        return refused(request, session, found)
    try:
        source = found.document.source_of(address)
    except UnknownAddress as error:
        raise Http404(str(error)) from None
    if isinstance(source, Departure):
        piece: TextSlice | None = departed_slice(session, source, first_of(request))
        return text_response(request, session, piece, heading=source.note.address, sha256=source.note.sha256)
    piece = part_slice(session, source.message, source.part, first_of(request))
    return text_response(request, session, piece, heading=source.address, sha256=source.sha256)


def text_response(
    request: PageRequest, session: Session, found: TextSlice | None, *, heading: str, sha256: str = ""
) -> HttpResponse:
    if found is None:
        raise Http404
    more = request.GET.copy()
    more["first"] = str(found.end)
    context = {
        "session": session,
        "project": session.project,
        "fragment": "compression/text.html",
        "slice": found,
        "heading": heading,
        "sha256": sha256,
        "more_url": f"{request.path}?{more.urlencode()}",
    }
    return render(request, "compression/text.html" if request.htmx else "compression/fragment_page.html", context)
