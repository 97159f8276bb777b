"""The policy page of a project: the form with its consequences, versions, diff, import and export.

Members tune, whatever their role. A preview writes nothing; only save, restore, adopt and undo do, by POST.
A form that no policy can mean is answered 422 with every fault named and the last valid figures marked stale.
"""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from compression import policies, policy_drafts, runs
from compression.engine.policy import InvalidPolicy, Policy, parse
from compression.models import PolicyVersion
from compression.policies import in_force as in_force_of
from compression.policy_files import MEDIA_TYPES, Format, download, read
from compression.policy_form import PolicyForm
from compression.policy_history import change_rows
from compression.policy_keys import Choice, UnknownKey, chosen, offered
from compression.policy_page import chosen_session, page_context, preview_context, sample_context, tried
from sessions.models import Project
from sessions.views import SignedInRequest, visible_project

IN_FORCE = "in-force"


@require_GET
def policy_page(request: SignedInRequest, slug: str) -> HttpResponse:
    project = visible_project(request, slug)
    key = request.GET.get("from") or IN_FORCE
    start = named(project, key)
    origin = "" if key == IN_FORCE else f"version {start.version.number}" if start.version else start.label
    return page(request, project, PolicyForm.of(start.policy), origin=origin)


@require_POST
@vary_on_headers("HX-Request")
def preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """The consequences of what the form says now: fragments for the page's script, the page for everybody else."""
    project = visible_project(request, slug)
    in_force = in_force_of(project)
    form = PolicyForm(request.POST.dict(), in_force.policy)
    if not request.htmx:
        return page(request, project, form, origin=request.POST.get("origin", ""))
    session = chosen_session(project, request.POST.get("session", ""))
    found = tried(project, session, form.policy, in_force) if session and form.policy else None
    context = preview_context(project, form, in_force, found, valid=form.policy) | {"session": session}
    response = render(request, "compression/policy_preview.html", context, status=200 if form.policy else 422)
    if found is None:
        response["HX-Reswap"] = "none"
    return response


@require_POST
@vary_on_headers("HX-Request")
def sample(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the form says now, tried on a few sessions of the project: lines at the fields and the sums."""
    project = visible_project(request, slug)
    in_force = in_force_of(project)
    form = PolicyForm(request.POST.dict(), in_force.policy)
    if not request.htmx or form.policy is None:
        answer = page(request, project, form, origin=request.POST.get("origin", ""), with_sample=True)
        answer["HX-Reswap"] = "none"
        return answer
    return render(request, "compression/policy_sample.html", sample_context(project, in_force, form.policy))


@require_POST
def dry_run(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the form says now, replayed on every session of the project in the background; saves no version."""
    project = visible_project(request, slug)
    form = PolicyForm(request.POST.dict(), in_force_of(project).policy)
    origin = request.POST.get("origin", "")
    if form.policy is None:
        return page(request, project, form, origin=origin)
    label = _("draft of %(name)s") % {"name": form.policy.name}
    try:
        run = runs.start(project=project, policy=form.policy, label=label, by=request.user)
    except runs.NothingToRun as error:
        return page(request, project, form, origin=origin, faults=[str(error)])
    return redirect(run)


def page(
    request: SignedInRequest,
    project: Project,
    form: PolicyForm,
    *,
    origin: str = "",
    faults: list[str] | None = None,
    with_sample: bool = False,
) -> HttpResponse:
    """The whole page around a form; 422 when something in it, or in an imported file, is wrong."""
    in_force = in_force_of(project)
    session = chosen_session(project, request.POST.get("session") or request.GET.get("session", ""))
    valid = form.policy or last_valid(request) or in_force.policy
    found = tried(project, session, valid, in_force) if session else None
    below = request.GET.get("below", "")
    sampled = sample_context(project, in_force, form.policy) if with_sample and form.policy else {}
    lines = sampled.get("sample_lines")
    context = preview_context(project, form, in_force, found, valid=valid, sampled=lines) | sampled
    context |= page_context(
        project,
        session,
        in_force,
        form,
        origin=origin[:100],
        note=request.POST.get("note", "")[:300],
        below=int(below) if below.isascii() and below.isdigit() and len(below) < 10 else None,
    )
    context["file_faults"] = faults or []
    return render(request, "compression/policy.html", context, status=422 if faults or form.policy is None else 200)


def last_valid(request: SignedInRequest) -> Policy | None:
    """The last draft that the page had figures of, which it sends along."""
    text = request.POST.get("valid", "")
    if not text:
        return None
    try:
        return parse(text, "draft.json")
    except InvalidPolicy:
        return None


@require_POST
def save(request: SignedInRequest, slug: str) -> HttpResponse:
    project = visible_project(request, slug)
    form = PolicyForm(request.POST.dict(), in_force_of(project).policy)
    origin = request.POST.get("origin", "")
    if form.policy is None:
        return page(request, project, form, origin=origin)
    seen = request.POST.get("seen", "")
    version = policy_drafts.save_once(
        project=project,
        policy=form.policy,
        author=request.user,
        seen=int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 10 else 0,
        note=request.POST.get("note", ""),
        origin=origin,
    )
    messages.success(request, _("Saved as v%(number)s.") % {"number": version.number})
    return back(request, project, start=f"v{version.number}")


def back(request: SignedInRequest, project: Project, start: str = "") -> HttpResponse:
    """To the page, on the session that it was on."""
    address = reverse("compression:policy", args=[project.slug])
    query = {"from": start, "session": request.POST.get("session", "")}
    kept = "&".join(f"{name}={value}" for name, value in query.items() if value and value.isascii() and value.isalnum())
    return redirect(f"{address}?{kept}" if kept else address)


@require_POST
def adopt(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    version = version_of(visible_project(request, slug), number)
    policies.adopt(version=version, by=request.user)
    messages.success(request, _("v%(number)s is in force.") % {"number": version.number})
    return back(request, version.project)


@require_POST
def restore(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    version = version_of(visible_project(request, slug), number)
    restored = policy_drafts.restore_once(version=version, author=request.user)
    messages.success(request, _("v%(old)s is restored as v%(new)s.") % {"old": version.number, "new": restored.number})
    return back(request, version.project, start=f"v{restored.number}")


@require_POST
def undo(request: SignedInRequest, slug: str) -> HttpResponse:
    project = visible_project(request, slug)
    seen = request.POST.get("seen", "")
    done = policy_drafts.undo_once(
        project=project, by=request.user, seen=int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else 0
    )
    if done is None:
        messages.warning(request, _("Nothing was taken back: something else came into force in the meantime."))
    else:
        messages.success(request, _("%(policy)s is in force again.") % {"policy": in_force_of(project).label})
    return back(request, project)


def version_of(project: Project, number: int) -> PolicyVersion:
    if number > 2**31 - 1:
        raise Http404
    versions = PolicyVersion.objects.filter(project=project).select_related("project")
    return get_object_or_404(versions, number=number)


@require_GET
def diff(request: SignedInRequest, slug: str) -> HttpResponse:
    """Two policies field by field: versions, presets, or what is in force."""
    project = visible_project(request, slug)
    old = named(project, request.GET.get("old") or IN_FORCE)
    new = named(project, request.GET.get("new") or IN_FORCE)
    context = {
        "project": project,
        "old": old,
        "new": new,
        "rows": change_rows(policies.changes(old.policy, new.policy)),
        "choices": offered(project),
    }
    return render(request, "compression/policy_diff.html", context)


def named(project: Project, key: str) -> Choice:
    """The policy of a key, inside this project; 404 where there is none."""
    try:
        return chosen(project, key)
    except UnknownKey:
        raise Http404 from None


@require_POST
def import_file(request: SignedInRequest, slug: str) -> HttpResponse:
    """A policy file becomes the draft. Nothing is saved until the form is; a bad file leaves the draft as it was."""
    project = visible_project(request, slug)
    file = request.FILES.get("file")
    draft, origin = PolicyForm(request.POST.dict(), in_force_of(project).policy), request.POST.get("origin", "")
    if file is None:
        return page(request, project, draft, origin=origin, faults=[_("Choose a .json or .toml file.")])
    try:
        policy = read(file)
    except InvalidPolicy as error:
        faults = [f"{error.source}: {fault}" for fault in error.faults]
        return page(request, project, draft, origin=origin, faults=faults)
    return page(request, project, PolicyForm.of(policy), origin=f"file {file.name}")


@require_POST
def export_draft(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the form says now, as a file."""
    project = visible_project(request, slug)
    form = PolicyForm(request.POST.dict(), in_force_of(project).policy)
    if form.policy is None:
        return page(request, project, form, origin=request.POST.get("origin", ""))
    return download(
        form.policy, format_of(request.POST.get("format", "json")), f"{project.slug} {form.policy.name} draft"
    )


@require_GET
def export(request: SignedInRequest, slug: str, name: str) -> HttpResponse:
    """A version (``v3``), a preset (``chapter``) or what is in force (``in-force``) as a file."""
    project = visible_project(request, slug)
    start = named(project, name)
    return download(start.policy, format_of(request.GET.get("format", "json")), f"{project.slug} {start.label}")


def format_of(name: str) -> Format:
    if name not in MEDIA_TYPES:
        raise Http404
    return cast("Format", name)
