"""The API of the policy in force, for agents that follow it, and for scripts that set it.

Asked with its ETag it answers 304 until it changes; set with ``If-Match`` it is not set over another's change. The
webhook of a project says when to ask.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, cast

import orjson
from django.db import transaction
from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from ninja import Field, Router, Schema
from pydantic import ConfigDict

from compression.policies import adopt, in_force, save_version
from compression.run_api import choice_of
from sessions.api_auth import ApiRequest, Bearer, project_of
from sessions.api_errors import ApiError
from sessions.models import Project

router = Router(tags=["policies"])


class PolicyChange(Schema):
    """What shall be in force: a version (``v3``), a preset, or the fields of a policy; these two become a version."""

    model_config = ConfigDict(extra="forbid")

    policy: str | dict[str, Any]
    note: str = Field(default="", max_length=300)


@router.get("projects/{slug}/policy", auth=Bearer("read"), response=dict[str, Any], summary="The policy in force")
def read_policy(request: ApiRequest, slug: str) -> HttpResponse:
    """Every field of it. `version` is null while it is the preset that each project starts with.

    Send `If-None-Match` with the ETag of the last answer: 304 and no body while it is the same.
    """
    body, etag = _told(project_of(request, slug))
    whole = HttpResponse(body, content_type="application/json")
    return _tagged(cast("HttpResponse", get_conditional_response(request, etag=etag, response=whole)), etag)


@router.put("projects/{slug}/policy", auth=Bearer("write"), response=dict[str, Any], summary="Put a policy in force")
def set_policy(request: ApiRequest, slug: str, change: PolicyChange) -> HttpResponse:
    """Saved as a version and adopted; what is in force already stays, and no version is made.

    Send `If-Match` with the ETag of the answer that you have seen: 412 if somebody changed the policy since.
    """
    project = project_of(request, slug)
    choice = choice_of(project, change.policy)
    seen = request.headers.get("If-Match", "").strip()
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        if seen not in ("", "*", _told(project)[1]):
            hint = "GET the policy again, and send the new ETag."
            raise ApiError(412, "policy_changed", "The policy was changed since it was read.", hint)
        current = in_force(project)
        if choice.version is not None:
            adopt(version=choice.version, by=None)
        elif current.version is None or current.policy.digest != choice.policy.digest:
            version = save_version(
                project=project, policy=choice.policy, author=None, note=change.note, origin="the API"
            )
            adopt(version=version, by=None)
    body, etag = _told(project)
    return _tagged(HttpResponse(body, content_type="application/json"), etag)


def _told(project: Project) -> tuple[bytes, str]:
    """The policy in force as the API tells it, with its tag."""
    current = in_force(project)
    body = orjson.dumps(
        {
            "project": project.slug,
            "version": current.version.number if current.version else None,
            "since": current.adoption.at.isoformat() if current.adoption else None,
            "digest": current.policy.digest,
            "policy": current.policy.model_dump(mode="json"),
        }
    )
    return body, f'"{sha256(body).hexdigest()}"'


def _tagged(answer: HttpResponse, etag: str) -> HttpResponse:
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    return answer
