"""What an administrator may see of stored replays: which there are, and deleting them."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from compression.models import StoredReplay
from sessions.admin import ReadOnly


@admin.register(StoredReplay)
class StoredReplayAdmin(ReadOnly):
    list_display = ["__str__", "session", "revision", "history", "engine_version", "created_at"]
    list_select_related = ["session"]
    fields = ["session", "revision", "policy_digest", "history", "engine_version", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[StoredReplay]:
        return super().get_queryset(request).defer("body")
