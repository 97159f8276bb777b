"""The API of runs: start one, ask where it stands and what it found.

Everything is looked up inside the token's project.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Field, Router, Schema, Status
from pydantic import ConfigDict

from compression import runs
from compression.engine.policy import InvalidPolicy, build
from compression.models import Run
from compression.policy_keys import Choice, UnknownKey, chosen
from compression.run_exports import plain_row, run_row
from compression.run_progress import progress_row
from compression.run_results import found, page_of
from compression.run_totals import totals_of
from sessions.api_auth import ApiRequest, Bearer, project_of
from sessions.api_errors import ApiError
from sessions.models import Project
from sessions.site_address import site_url

router = Router(tags=["runs"])


class RunRequest(Schema):
    """What to run: a preset, a version (``v3``) or the fields of a policy; on all sessions unless some are named."""

    model_config = ConfigDict(extra="forbid")

    policy: str | dict[str, Any] = "hermes"
    sessions: list[Annotated[int, Field(ge=1, lt=2**63)]] | None = Field(default=None, max_length=10_000)


def choice_of(project: Project, given: str | dict[str, Any]) -> Choice:
    try:
        if isinstance(given, str):
            return chosen(project, given)
        policy = build(given, "policy")
    except UnknownKey as error:
        raise ApiError(422, "unknown_policy", str(error), "Or give the fields of a policy.") from None
    except InvalidPolicy as error:
        hint = "`manage.py policy schema` prints the fields."
        raise ApiError(422, "invalid_policy", "; ".join(error.faults), hint) from None
    return Choice("", policy.name, policy)


@router.post("projects/{slug}/runs", auth=Bearer("write"), response={201: dict[str, Any]}, summary="Start a run")
def start_run(request: ApiRequest, slug: str, wanted: RunRequest) -> Status[Any]:
    """The sessions are replayed in the background; `GET runs/{id}` says how far it is."""
    project = project_of(request, slug)
    choice = choice_of(project, wanted.policy)
    try:
        run = runs.start(
            project=project,
            policy=choice.policy,
            label=choice.label,
            version=choice.version,
            sessions=wanted.sessions,
        )
    except runs.NothingToRun as error:
        raise ApiError(422, "no_sessions", str(error), "Sessions of other projects do not count.") from None
    return Status(201, document(run))


@router.get("runs/{id:run_id}", auth=Bearer("read"), response=dict[str, Any], summary="One run")
def read_run(request: ApiRequest, run_id: int) -> dict[str, Any]:
    """Progress and totals."""
    return document(run_of(request, run_id))


@router.get("runs/{id:run_id}/results", auth=Bearer("read"), response=dict[str, Any], summary="The results of a run")
def read_results(
    request: ApiRequest, run_id: int, sort: str = "", only: str = "", q: str = "", after: str = ""
) -> dict[str, Any]:
    """A page of the table, the worst sessions first; `after` of one page asks for the next."""
    page = page_of(run_of(request, run_id), text=q[:200], only=only, sort=sort, after=after)
    return {"results": [plain_row(result) for result in page.rows], "sort": page.sort, "after": page.after}


def run_of(request: ApiRequest, run_id: int) -> Run:
    return get_object_or_404(Run.objects.select_related("project"), project=request.auth.project, pk=run_id)


def document(run: Run) -> dict[str, Any]:
    progress = progress_row(runs.progress(run))
    return {
        **run_row(run),
        "url": site_url() + run.get_absolute_url(),
        "results_url": site_url() + reverse("api:read_results", args=[run.pk]),
        "progress": progress,
        "totals": totals_of(found(run)).as_dict(),
    }
