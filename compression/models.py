"""What is kept of compression: replays that were worked out once.

A stored replay is a cache. It can be deleted at any time and is worked out again from the session.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from sessions.models import Session


class StoredReplay(models.Model):
    """One policy on one version of one session; ``body`` is zlib-compressed JSON (``replay_document``)."""

    session = models.ForeignKey(Session, models.DB_CASCADE, related_name="replays", db_index=False)
    revision = models.PositiveIntegerField()
    policy_digest = models.CharField(max_length=64)
    history = models.CharField(max_length=20)
    engine_version = models.PositiveSmallIntegerField()
    body = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("stored replay")
        verbose_name_plural = _("stored replays")
        constraints = [
            models.UniqueConstraint(
                fields=["session", "policy_digest", "history", "engine_version", "revision"],
                name="one_replay_per_session_and_policy",
            )
        ]

    def __str__(self) -> str:
        return f"{self.policy_digest[:8]} on session {self.session_id}, revision {self.revision}"
