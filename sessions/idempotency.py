"""A request that is sent again, because its answer got lost, gets the first answer again.

An answer belongs to one project and key. The same key with another body is refused. Answers
are kept for a day; errors are not kept, so that trying again can succeed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from sessions.api_errors import ApiError
from sessions.models import KEY_LENGTH, KeptAnswer, Project

KEPT_FOR = timedelta(days=1)


def answer_once(
    project: Project, *, key: str, fingerprint: str, work: Callable[[], tuple[int, dict[str, Any]]]
) -> tuple[int, dict[str, Any]]:
    """The status and body that ``work`` gives, or gave when this key came first."""
    if not key:
        return work()
    if len(key) > KEY_LENGTH or not key.isprintable():
        message = f"Idempotency-Key is not a text of at most {KEY_LENGTH} printable characters."
        raise ApiError(422, "invalid", message, "Send a UUID.")
    now = timezone.now()
    KeptAnswer.objects.filter(created_at__lt=now - KEPT_FOR).delete()
    kept = KeptAnswer.objects.filter(project=project, key=key).first()
    if kept is None:
        status, body = work()
        # Two at once did the same work, and ingest is idempotent: whoever is first here answers for both.
        kept, _ = KeptAnswer.objects.get_or_create(
            project=project, key=key, defaults={"fingerprint": fingerprint, "status": status, "body": body}
        )
    if kept.fingerprint != fingerprint:
        raise ApiError(
            409, "key_reused", "This Idempotency-Key came with another body before.", "Use a new key for each file."
        )
    return kept.status, kept.body
