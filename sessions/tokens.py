"""API tokens: made once, shown once, kept as a hash, each good for one project and one scope."""

from __future__ import annotations

import secrets
from datetime import timedelta
from hashlib import sha256

from django.utils import timezone

from sessions.models import NAME_LENGTH, ApiToken, Project

PREFIX = "hermes_"
# How exact ``last_used_at`` is: a write per request would cost more than it tells.
USE_NOTED_EVERY = timedelta(minutes=1)

# What each scope lets a program do.
GRANTS: dict[str, frozenset[str]] = {
    ApiToken.Scope.INGEST: frozenset({"ingest"}),
    ApiToken.Scope.READ: frozenset({"read"}),
    ApiToken.Scope.WRITE: frozenset({"ingest", "read", "write"}),
}


def create_token(*, project: Project, scope: str, name: str = "") -> tuple[ApiToken, str]:
    """The stored token and its text, which nobody can read again."""
    text = PREFIX + secrets.token_urlsafe(32)
    stored = ApiToken.objects.create(
        project=project, scope=ApiToken.Scope(scope), name=name[:NAME_LENGTH], token=hashed(text)
    )
    return stored, text


def find_token(text: str) -> ApiToken | None:
    """The token of this text, with its project; notes that it was used."""
    token = ApiToken.objects.select_related("project").filter(token=hashed(text)).first()
    now = timezone.now()
    if token is not None and (token.last_used_at is None or now - token.last_used_at > USE_NOTED_EVERY):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def hashed(text: str) -> str:
    """A plain hash is enough: the text is 256 random bits, which no dictionary holds."""
    return sha256(text.encode()).hexdigest()
