"""The lab: one tool output, its stub, what is kept and dropped, and what other policies would leave of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from compression.engine.lab import EXCHANGE_TOKENS, EXCHANGES, WINDOW, tried
from compression.lab_forms import LabForm
from compression.lab_page import Output, picked, picks, rows, session_of, sessions_offered, stub_context, stubber
from compression.policy_menu import PolicyMenu
from compression.views import PageRequest
from compression.worst_views import visible_project
from sessions.models import Project, Session

SETTINGS = ("kind", "budget", "allocation", "policy")


@require_http_methods(["GET", "POST"])
@vary_on_headers("HX-Request")
def lab(request: PageRequest, slug: str) -> HttpResponse:
    """A picked output has an address of its own; a pasted one is posted and stored nowhere.

    With ``others`` the table of the other policies comes too; htmx gets it alone.
    """
    project = visible_project(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    form = LabForm(given, menu=PolicyMenu(project))
    valid = form.is_valid()
    session = _session(project, form)
    output = _output(form, session) if valid else None
    context: dict[str, Any] = {
        "project": project, "form": form, "given": given, "session": session, "output": output,
        "exchanges": EXCHANGES, "exchange_tokens": EXCHANGE_TOKENS, "window": WINDOW,
    }  # fmt: skip
    if output is None:
        context |= _choices(project, session, form, given)
    else:
        context |= _shown(project, form, output)
        if form.cleaned_data["others"]:
            context["rows"] = rows(output, form.choice, context["tried"].tokens)
            if request.htmx:
                return render(request, "compression/lab_others.html", context)
    return render(request, "compression/lab.html", context, status=200 if valid else 422)


def _session(project: Project, form: LabForm) -> Session | None:
    """The session that the address names; 404 when the project has none such."""
    pk = form.cleaned_data.get("session")
    if pk is None:
        return None
    found = session_of(project, pk)
    if found is None:
        raise Http404("no such session here")
    return found


def _output(form: LabForm, session: Session | None) -> Output | None:
    """What is to be looked at; None when nothing was given. 404 for a message that is no result."""
    asked = form.cleaned_data
    if asked["text"].strip():
        return Output(asked["text"], asked["tool"], asked["arguments"])
    if session is None or asked["message"] is None:
        return None
    found = picked(session, asked["message"])
    if found is None:
        raise Http404("no tool result there")
    return found


def _choices(project: Project, session: Session | None, form: LabForm, given: Any) -> dict[str, Any]:
    """What to pick from while there is nothing to look at."""
    sessions = sessions_offered(project)
    if session is None:
        return {"sessions": sessions}
    query = {name: given[name] for name in SETTINGS if given.get(name)}
    return {"sessions": sessions, "picks": picks(project, session, {"session": str(session.pk), **query})}


def _shown(project: Project, form: LabForm, output: Output) -> dict[str, Any]:
    """The stub's cards, and where the rest of the page is fetched from."""
    asked = form.cleaned_data
    found = tried(
        output.text,
        tool=output.tool,
        arguments=output.arguments,
        kind=asked["kind"],
        budget=asked["budget"],
        allocation=asked["allocation"] or None,
        policy=form.choice.policy,
        stubber=stubber(),
    )
    query: dict[str, Any] = {}
    if output.session is not None:
        query = {"session": output.session.pk, "message": output.message}
        query |= {name: form.data[name] for name in SETTINGS if form.data.get(name)}
    return {
        **stub_context(found),
        "recall_command": f"python manage.py recall {found.stub.address} --project {project.slug}"
        if found.stub
        else "",
        "others_query": urlencode({**query, "others": "1"}),
        "pick_query": urlencode({"session": query["session"]} if query else {}),
    }
