"""The lab: one tool output, its stub, what is kept and dropped, and what other policies would leave of it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from compression.engine.lab import EXCHANGES, WINDOW, tried
from compression.lab_forms import LabForm
from compression.lab_page import Output, picked, rows, runs, stubber
from compression.policy_menu import PolicyMenu
from compression.worst_views import visible_project
from sessions.models import Project


@require_http_methods(["GET", "POST"])
def lab(request: HttpRequest, slug: str) -> HttpResponse:
    """A picked output has an address of its own; a pasted one is posted and stored nowhere."""
    project = visible_project(request, slug)
    menu = PolicyMenu(project)
    given = request.POST if request.method == "POST" else request.GET
    form = LabForm(given, menu=menu)
    valid = form.is_valid()
    output = _output(project, form) if valid else None
    choice = form.cleaned_data["policy"] if valid else menu.default
    context = {
        "project": project, "form": form, "output": output, "choice": choice, "groups": menu.groups(choice.key),
        "exchanges": EXCHANGES, "window": WINDOW, "given": given,
    }  # fmt: skip
    if output is not None:
        found = tried(
            output.text,
            tool=output.tool,
            arguments=output.arguments,
            kind=form.cleaned_data["kind"],
            budget=form.cleaned_data["budget"],
            policy=choice.policy,
            stubber=stubber(),
        )
        kept, more_runs = runs(found.lines)
        context |= {"tried": found, "runs": kept, "more_runs": more_runs, "rows": rows(output, found)}
    return render(request, "compression/lab.html", context, status=200 if valid else 422)


def _output(project: Project, form: LabForm) -> Output | None:
    """What is to be looked at; None when nothing was given. 404 for a message that is no result here."""
    asked = form.cleaned_data
    if asked["text"]:
        return Output(asked["text"], asked["tool"], asked["arguments"])
    if asked["session"] is None or asked["message"] is None:
        return None
    found = picked(project, asked["session"], asked["message"])
    if found is None:
        raise Http404("no tool result there")
    return found
