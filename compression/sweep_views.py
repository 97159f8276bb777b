"""The pages of sweeps: start one, watch it, read what it found, adopt a policy of it.

A view finds objects, checks access and calls one verb. A sweep that the user may not see is 404, as if it did not
exist. Members tune, whatever their role.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from compression import sweeps
from compression.engine.policy import InvalidPolicy
from compression.models import Sweep, Trial
from compression.runs import NothingToRun
from compression.sweep_figures import heat_figure, scatter
from compression.sweep_forms import StateForm, SweepForm
from compression.sweep_page import heat_context, list_context, progress_context, sweep_context, trial_context
from compression.sweep_results import findings_of, trial_of
from compression.sweep_space import InvalidSpace
from sessions.models import Project
from sessions.views import SignedInRequest, visible_project

LARGEST_NUMBER = 2**31 - 1


def visible_sweep(request: SignedInRequest, slug: str, pk: int) -> Sweep:
    """One query."""
    mine = Sweep.objects.filter(project__in=Project.objects.visible_to(request.user))
    return get_object_or_404(mine.select_related("project__prices", "started_by"), project__slug=slug, pk=pk)


def visible_trial(request: SignedInRequest, slug: str, pk: int, number: int) -> Trial:
    sweep = visible_sweep(request, slug, pk)
    trial = trial_of(sweep, number) if number <= LARGEST_NUMBER else None
    if trial is None:
        raise Http404
    return trial


@require_http_methods(["GET", "POST"])
def project_sweeps(request: SignedInRequest, slug: str) -> HttpResponse:
    """The sweeps of a project and the form that starts one."""
    project = visible_project(request, slug)
    form = SweepForm(request.POST if request.method == "POST" else None, project=project)
    faults: list[str] = []
    if request.method == "POST":
        if form.is_valid():
            try:
                return redirect(started(form, request))
            except (InvalidSpace, NothingToRun) as error:
                faults = error.faults if isinstance(error, InvalidSpace) else [str(error)]
        else:
            faults = form.faults()
    context = list_context(project, form, faults)
    return render(request, "compression/sweeps.html", context, status=422 if faults else 200)


def started(form: SweepForm, request: SignedInRequest) -> Sweep:
    """The sweep that a valid form asks for."""
    given = form.cleaned_data
    part = given["held_out"]
    return sweeps.start(
        project=form.project,
        base=form.base.policy,
        label=form.base.label,
        space=given["space"],
        trials=given["trials"] if given["kind"] == "search" else None,
        seed=given["seed"] or 0,
        held_out=0.25 if part is None else part / 100,
        by=request.user,
    )


@require_GET
@vary_on_headers("HX-Request")
def sweep_detail(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """The sweep's page; what it found alone for htmx."""
    sweep = visible_sweep(request, slug, pk)
    state = StateForm(request.GET).state()
    if request.htmx and not request.htmx.history_restore_request:
        sweeps.progress(sweep)
        return render(request, "compression/sweep.html#found", sweep_context(sweep, state))
    sweeps.take_up()
    context = progress_context(sweep) | sweep_context(sweep, state)
    return render(request, "compression/sweep.html", context)


@require_GET
def sweep_progress(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Where the sweep stands; once it is over the page is loaded anew."""
    sweep = visible_sweep(request, slug, pk)
    sweeps.take_up()
    context = progress_context(sweep)
    response = render(request, "compression/sweep_progress.html", context)
    response["Cache-Control"] = "no-store"
    if context["progress"].is_over:
        response["HX-Refresh"] = "true"
    return response


@require_GET
def sweep_scatter(request: SignedInRequest, slug: str, pk: int) -> JsonResponse:
    return JsonResponse(scatter(findings_of(visible_sweep(request, slug, pk))))


@require_GET
def sweep_heat(request: SignedInRequest, slug: str, pk: int) -> JsonResponse:
    sweep = visible_sweep(request, slug, pk)
    context = heat_context(sweep, findings_of(sweep), StateForm(request.GET).state())
    return JsonResponse(
        heat_figure(context["heat"], context["show"]) if context["heat"] else {"data": [], "layout": {}}
    )


@require_POST
def sweep_cancel(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Cancelling what is over changes nothing."""
    sweep = visible_sweep(request, slug, pk)
    sweeps.cancel(sweep)
    return redirect(sweep)


@require_POST
def sweep_resume(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    sweep = visible_sweep(request, slug, pk)
    if not sweeps.resume(sweep):
        messages.warning(request, _("Only a cancelled sweep, of this engine and these prices, can be resumed."))
    return redirect(sweep)


@require_GET
@vary_on_headers("HX-Request")
def trial_detail(request: SignedInRequest, slug: str, pk: int, number: int) -> HttpResponse:
    """One trial: a card for htmx, a page for everybody else."""
    trial = visible_trial(request, slug, pk, number)
    is_card = request.htmx and not request.htmx.history_restore_request
    template = "compression/sweep_trial.html#card" if is_card else "compression/sweep_trial.html"
    return render(request, template, trial_context(trial.sweep, trial))


@require_POST
def trial_adopt(request: SignedInRequest, slug: str, pk: int, number: int) -> HttpResponse:
    """The policy of a trial becomes a version in force."""
    trial = visible_trial(request, slug, pk, number)
    seen = request.POST.get("seen", "")
    is_number = seen.isascii() and seen.isdigit() and len(seen) < 10
    try:
        version = sweeps.adopt_trial(trial=trial, by=request.user, seen=int(seen) if is_number else 0)
    except InvalidPolicy as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("v%(number)s is in force.") % {"number": version.number})
        return redirect("compression:policy", slug)
    return redirect(trial.sweep)
