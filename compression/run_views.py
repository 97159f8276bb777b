"""The pages of runs: start one, watch it, cancel it, read its results and its compression logs.

A view finds objects, checks access and calls one verb. A run that the user may not see is 404, as if it
did not exist.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from compression import runs
from compression.compression_log import CompressionLog, compression_log, csv_rows
from compression.csv_rows import csv_text
from compression.engine.policy import InvalidPolicy, build
from compression.event_words import ladder_steps
from compression.models import Run, RunResult
from compression.policy_keys import key_in_force, key_of, offered
from compression.project_prices import digest_of
from compression.replays import stored_replay
from compression.run_exports import csv_pieces, download, json_pieces
from compression.run_forms import MOST_CHOSEN, RunForm, TableForm
from compression.run_results import FILTERS, PAGE_SIZE, found, is_moved, page_of, turn_to_look_at
from compression.run_totals import totals_of
from compression.saved_names import SAVED_NAMES
from sessions.models import Project, Session
from sessions.session_list import choices_of

RUNS_SHOWN = 20
SESSIONS_OFFERED = 200


class PageRequest(HttpRequest):
    """What LoginRequiredMiddleware and HtmxMiddleware make sure of."""

    user: User
    htmx: HtmxDetails


# Sort name, heading, first sorted downwards, holds figures, what it is a share of.
COLUMNS = [
    ("title", _("Session"), False, False, ""),
    ("turns", _("Turns"), True, True, ""),
    ("sent", _("Sent without"), True, True, _("tokens of all requests had no policy acted, calibrated")),
    ("session", SAVED_NAMES["session_saved"], False, True, _("tokens of all requests, hidden included")),
    ("request", SAVED_NAMES["request_saved"], False, True, _("hidden tokens excluded")),
    ("tool", SAVED_NAMES["tool_saved"], False, True, _("of those in the windows at events")),
    ("retained", _("Still in view"), False, True, _("of the names that were used after they had left or been stubbed")),
    ("overflow", _("Overflow"), False, True, _("first turn that does not fit: without the policy, then under it")),
    ("events", _("Events"), True, True, _("compressions that changed something")),
    ("cost", _("Cost"), True, True, _("dollars of all calls under the policy: input read, written, plain; output")),
    ("dollars", _("$ saved"), False, True, _("dollars without a policy, with the same cache, minus those under it")),
    ("hit", _("Hit rate"), False, True, _("read from the cache, of all input: read, written and plain")),
    ("rewrites", _("Rewrites"), True, True, _("calls that sent a living cached prefix anew, of all calls")),
    ("even", _("Break-even"), True, True, _("further calls until an event has paid, median of the session's events")),
    ("violations", _("Violations"), True, True, _("broken invariants; must be 0")),
    ("counter", _("Counter error"), True, True, _("median of (estimate - recorded) / recorded over the turns")),
    ("state", _("State"), False, False, ""),
]  # fmt: skip


def visible_project(request: PageRequest, slug: str) -> Project:
    return get_object_or_404(Project.objects.visible_to(request.user).select_related("prices"), slug=slug)


def visible_run(request: PageRequest, slug: str, pk: int) -> Run:
    """The run, its project and what it was of. One query."""
    mine = Run.objects.filter(project__in=Project.objects.visible_to(request.user))
    return get_object_or_404(mine.select_related("project__prices", "version", "started_by"), project__slug=slug, pk=pk)


@require_http_methods(["GET", "POST"])
def project_runs(request: PageRequest, slug: str) -> HttpResponse:
    """The runs of a project and the form that starts one. The number of queries does not depend on the sessions."""
    project = visible_project(request, slug)
    faults: list[str] = []
    form = RunForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST":
        if form.is_valid():
            try:
                return redirect(started(form, request.user))
            except runs.NothingToRun as nothing:
                faults = [str(nothing)]
        else:
            faults = form.faults()
    context = runs_context(request, project, form, faults)
    return render(request, "compression/runs.html", context, status=422 if faults else 200)


def started(form: RunForm, by: User) -> Run:
    """The run that a valid form asks for."""
    choice, sessions = form.cleaned_data["policy"], form.sessions()
    keys = None if sessions is None else sessions.values_list("pk", flat=True)
    return runs.start(
        project=form.project, policy=choice.policy, label=choice.label, version=choice.version, sessions=keys, by=by
    )


def runs_context(request: PageRequest, project: Project, form: RunForm, faults: list[str]) -> dict[str, Any]:
    mine = Session.objects.filter(project=project)
    formats, models = choices_of(mine)
    offer = mine.order_by("-pk").only("pk", "title", "key", "turn_count")
    picked = {int(key) for key in form.picked[:MOST_CHOSEN] if key.isascii() and key.isdigit() and len(key) < 19}
    newest = list(offer[:SESSIONS_OFFERED])
    older = picked - {session.pk for session in newest}
    given = request.POST or request.GET
    key = given.get("policy", "")
    return {
        "project": project,
        "runs": with_counts(project),
        "runs_shown": RUNS_SHOWN,
        "policies": offered(project),
        "faults": faults,
        "given": given,
        "picked": set(form.picked),
        "scope": given.get("scope") or ("chosen" if picked else "all"),
        "policy_key": key or key_in_force(project),
        "formats": formats,
        "models": models,
        "sessions": [*newest, *(offer.filter(pk__in=older) if older else ())],
        "session_count": mine.count(),
    }


def with_counts(project: Project) -> list[dict[str, Any]]:
    """The newest runs, each with its counts by state. Two queries, answered from an index."""
    newest = list(Run.objects.filter(project=project).select_related("project", "started_by", "version")[:RUNS_SHOWN])
    counted = RunResult.objects.filter(run__in=newest).values("run").annotate(
        total=Count("pk"),
        done=Count("pk", filter=Q(state=RunResult.State.DONE)),
        failed=Count("pk", filter=Q(state=RunResult.State.FAILED)),
    )  # fmt: skip
    counts = {row["run"]: row for row in counted.order_by()}
    nothing = {"total": 0, "done": 0, "failed": 0}
    return [{**counts.get(run.pk, nothing), "run": run} for run in newest]


@require_GET
@vary_on_headers("HX-Request")
def run_detail(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """The run's page; its table alone for htmx."""
    run = visible_run(request, slug, pk)
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "compression/run.html#results", results_context(request, run) | {"is_fragment": True})
    runs.take_up()
    context = progress_context(run) | results_context(request, run)
    return render(request, "compression/run.html", context)


@require_GET
def run_progress(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Where the run stands, for pages whose socket dropped."""
    run = visible_run(request, slug, pk)
    runs.take_up()
    response = render(request, "compression/run_progress.html", progress_context(run))
    response["Cache-Control"] = "no-store"
    return response


def progress_context(run: Run) -> dict[str, Any]:
    progress = runs.progress(run)
    return {
        "project": run.project,
        "run": run,
        "progress": progress,
        "policy_key": key_of(run),
        "has_other_prices": run.prices_digest != digest_of(run.project),
    }


def results_context(request: PageRequest, run: Run) -> dict[str, Any]:
    state = TableForm(request.GET).state()
    page = page_of(run, text=state["q"], only=state["only"], sort=state["sort"], after=state["after"])
    key = key_of(run)
    return {
        "project": run.project,
        "run": run,
        "policy_key": key,
        "state": state | {"sort": page.sort},
        "page": page,
        "page_size": PAGE_SIZE,
        "rows": [
            {
                "result": row,
                "turn": turn_to_look_at(row),
                "is_moved": is_moved(row),
                "ladder": ladder_steps(row.summary),
            }
            for row in page.rows
        ],
        "columns": COLUMNS,
        "filters": [(name, label) for name, (label, _) in FILTERS.items()],
        "is_filtered": bool(state["q"] or state["only"]),
        "totals": totals_of(found(run, text=state["q"], only=state["only"])),
    }


@require_POST
def run_cancel(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Cancelling what is over changes nothing."""
    run = visible_run(request, slug, pk)
    runs.cancel(run)
    if request.htmx:
        return render(request, "compression/run_progress.html", progress_context(run))
    return redirect(run)


@require_GET
def run_csv(request: PageRequest, slug: str, pk: int) -> HttpResponseBase:
    run, state = visible_run(request, slug, pk), TableForm(request.GET).state()
    pieces = csv_pieces(run, text=state["q"], only=state["only"])
    return download(request, pieces, name=f"run-{run.pk}.csv", content_type="text/csv; charset=utf-8")


@require_GET
def run_json(request: PageRequest, slug: str, pk: int) -> HttpResponseBase:
    run, state = visible_run(request, slug, pk), TableForm(request.GET).state()
    pieces = json_pieces(run, text=state["q"], only=state["only"])
    return download(request, pieces, name=f"run-{run.pk}.json", content_type="application/json")


def logged(request: PageRequest, slug: str, pk: int, session_pk: int) -> tuple[RunResult, CompressionLog | None, str]:
    """A result of a run, its log, and why there is none. A session that was moved away does not exist here."""
    run = visible_run(request, slug, pk)
    results: QuerySet[RunResult] = RunResult.objects.select_related("session__project__prices").filter(run=run)
    result = get_object_or_404(results, session=session_pk, session__project=run.project_id)
    result.run = run
    if result.state != RunResult.State.DONE:
        return result, None, result.error or str(_("This session has not been replayed yet."))
    try:
        policy = build(run.fields, f"run {run.pk}")
    except InvalidPolicy as error:
        return result, None, str(error)
    return result, compression_log(stored_replay(result.session, policy)), ""


@require_GET
def run_log(request: PageRequest, slug: str, pk: int, session_pk: int) -> HttpResponse:
    """What the run's policy did to one session, event by event."""
    result, log, why = logged(request, slug, pk, session_pk)
    context = {
        "project": result.run.project,
        "run": result.run,
        "session": result.session,
        "result": result,
        "log": log,
        "why": why,
        "policy_key": key_of(result.run),
        "is_newer": result.session_revision != result.session.revision,
    }
    return render(request, "compression/run_log.html", context)


@require_GET
def run_log_csv(request: PageRequest, slug: str, pk: int, session_pk: int) -> HttpResponse:
    result, log, why = logged(request, slug, pk, session_pk)
    if log is None:
        return HttpResponse(why, status=409, content_type="text/plain; charset=utf-8")
    response = HttpResponse(csv_text(csv_rows(log)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{result.run_id}-session-{result.session_id}.csv"'
    return response
