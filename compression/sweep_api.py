"""The API of sweeps: start one, ask where it stands and what it recommends.

Everything is looked up inside the token's project.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.shortcuts import get_object_or_404
from ninja import Field, Router, Schema, Status
from pydantic import ConfigDict

from compression import sweeps
from compression.models import Sweep
from compression.policy_keys import UnknownKey
from compression.runs import NothingToRun
from compression.sweep_document import sweep_document
from compression.sweep_space import InvalidSpace, space_of
from compression.sweep_starting import plan_of
from sessions.api_auth import ApiRequest, Bearer, project_of
from sessions.api_errors import ApiError

router = Router(tags=["sweeps"])


class SweepRequest(Schema):
    """A ``grid`` of fields with their values, or a search with ``trials`` policies, in ``space`` if it is given.

    ``policy`` is what the values are put into: a preset, a version (``v3``) or ``in-force``.
    """

    model_config = ConfigDict(extra="forbid")

    project: str | None = Field(default=None, max_length=100)
    policy: str = Field(default="", max_length=100)
    grid: dict[str, Any] | None = None
    trials: int | None = None
    space: dict[str, Any] | None = None
    seed: int = 0
    held_out: float = 0.25
    sessions: list[Annotated[int, Field(ge=1, lt=2**63)]] | None = Field(default=None, max_length=10_000)


@router.post("sweeps", auth=Bearer("write"), response={201: dict[str, Any]}, summary="Start a sweep")
def start_sweep(request: ApiRequest, wanted: SweepRequest) -> Status[Any]:
    """The policies are tried in the background; `GET sweeps/{id}` says how far it is and what was found."""
    project = project_of(request, wanted.project) if wanted.project is not None else request.auth.project
    if (wanted.grid is None) == (wanted.trials is None) or (wanted.grid is not None and wanted.space is not None):
        hint = 'Such as {"grid": {"trigger_ratio": [0.7, 0.8]}} or {"trials": 40}.'
        raise ApiError(422, "invalid_sweep", "A sweep is either a grid, or a number of trials with a space.", hint)
    given = wanted.grid if wanted.grid is not None else wanted.space
    try:
        space = None if given is None else space_of(given, is_grid=wanted.grid is not None)
        plan = plan_of(project, wanted.policy, space)
        sweep = sweeps.start(
            project=project,
            base=plan.base.policy,
            label=plan.base.label,
            space=plan.space,
            trials=wanted.trials,
            sessions=wanted.sessions,
            seed=wanted.seed,
            held_out=wanted.held_out,
        )
    except InvalidSpace as error:
        hint = "`manage.py policy schema` prints the fields with their bounds."
        raise ApiError(422, "invalid_space", str(error), hint) from None
    except UnknownKey as error:
        raise ApiError(422, "unknown_policy", str(error)) from None
    except NothingToRun as error:
        raise ApiError(422, "no_sessions", str(error), "Sessions of other projects do not count.") from None
    return Status(201, sweep_document(sweep))


@router.get("sweeps/{id:sweep_id}", auth=Bearer("read"), response=dict[str, Any], summary="One sweep")
def read_sweep(request: ApiRequest, sweep_id: int) -> dict[str, Any]:
    """Progress, points, Pareto front and recommendation."""
    return sweep_document(sweep_of(request, sweep_id))


@router.post("sweeps/{id:sweep_id}/cancel", auth=Bearer("write"), response=dict[str, Any], summary="Cancel a sweep")
def cancel_sweep(request: ApiRequest, sweep_id: int) -> dict[str, Any]:
    """No further trial is taken; cancelling what is over changes nothing."""
    sweep = sweep_of(request, sweep_id)
    sweeps.cancel(sweep)
    return sweep_document(sweep)


@router.post("sweeps/{id:sweep_id}/resume", auth=Bearer("write"), response=dict[str, Any], summary="Resume a sweep")
def resume_sweep(request: ApiRequest, sweep_id: int) -> dict[str, Any]:
    """A cancelled sweep goes on where it was left; any other one stays as it is."""
    sweep = sweep_of(request, sweep_id)
    sweeps.resume(sweep)
    return sweep_document(sweep)


def sweep_of(request: ApiRequest, sweep_id: int) -> Sweep:
    return get_object_or_404(Sweep.objects.select_related("project"), project=request.auth.project, pk=sweep_id)
