"""Who may call the API: the bearer of a token whose scope grants what the operation needs."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from ninja.security import HttpBearer

from sessions.api_errors import ApiError
from sessions.models import ApiToken, Project
from sessions.tokens import GRANTS, find_token


class ApiRequest(HttpRequest):
    """A request that a token was found for."""

    auth: ApiToken


class Bearer(HttpBearer):
    """``need`` is one of ingest, read and write."""

    def __init__(self, need: str) -> None:
        super().__init__()
        self.need = need

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = find_token(token)
        if found is not None and self.need not in GRANTS[found.scope]:
            hint = f"Use a token with a scope that may {self.need}."
            raise ApiError(403, "wrong_scope", f"This token may only {found.scope}.", hint)
        return found


def project_of(request: ApiRequest, slug: str) -> Project:
    """The token's own project; every other one does not exist."""
    if request.auth.project.slug != slug:
        raise Http404
    return request.auth.project
