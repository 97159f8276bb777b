"""What an administrator may look at and mend: projects, members, sessions and tokens, never session text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from sessions.models import ApiToken, Membership, Project, Session

# Only the type checker knows these classes with parameters.
if TYPE_CHECKING:
    MembershipTable = admin.TabularInline[Membership, Project]
    Admin = admin.ModelAdmin[Any]
else:
    MembershipTable, Admin = admin.TabularInline, admin.ModelAdmin


class MembershipInline(MembershipTable):
    model = Membership
    extra = 0


@admin.register(Project)
class ProjectAdmin(Admin):
    list_display = ["name", "slug", "created_at"]
    search_fields = ["name", "slug"]
    inlines = [MembershipInline]


class ReadOnly(Admin):
    """Rows that only ingest or a command may write; deleting them is fine."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Session)
class SessionAdmin(ReadOnly):
    list_display = ["__str__", "project", "format", "message_count", "turn_count", "started_at"]
    list_filter = ["format"]
    list_select_related = ["project"]
    search_fields = ["title", "key"]
    fields = ["project", "key", "title", "agent", "format", "model", "started_at", "file_name", "revision"]


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    list_display = ["__str__", "project", "scope", "created_at", "last_used_at"]
    list_select_related = ["project"]
    fields = ["project", "name", "scope", "created_at", "last_used_at"]
