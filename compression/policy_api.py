"""The API of the policy in force, for agents that follow it: asked with its ETag, it answers 304 until it changes.

Reads only; a policy is saved and adopted by people. The webhook of a project says when to ask.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, cast

import orjson
from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from ninja import Router

from compression.policies import in_force
from sessions.api_auth import ApiRequest, Bearer, project_of

router = Router(tags=["policies"])


@router.get("projects/{slug}/policy", auth=Bearer("read"), response=dict[str, Any], summary="The policy in force")
def read_policy(request: ApiRequest, slug: str) -> HttpResponse:
    """Every field of it. `version` is null while it is the preset that each project starts with.

    Send `If-None-Match` with the ETag of the last answer: 304 and no body while it is the same.
    """
    project = project_of(request, slug)
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
    etag = f'"{sha256(body).hexdigest()}"'
    whole = HttpResponse(body, content_type="application/json")
    answer = cast("HttpResponse", get_conditional_response(request, etag=etag, response=whole))
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    return answer
