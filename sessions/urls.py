"""Addresses of the pages of projects. A session's own page belongs to ``compression``."""

from __future__ import annotations

from django.contrib.auth.views import LoginView
from django.urls import path

from sessions import chosen_views, settings_views, views

app_name = "sessions"

urlpatterns = [
    path("login/", LoginView.as_view(), name="login"),
    path("", views.project_list, name="projects"),
    path("projects/new/", views.project_create, name="project-create"),
    path("projects/upload/", views.upload_first, name="upload-first"),
    path("projects/<slug:slug>/", views.project_detail, name="project"),
    path("projects/<slug:slug>/upload/", views.upload, name="upload"),
    path("projects/<slug:slug>/sessions/delete/", chosen_views.sessions_delete, name="sessions-delete"),
    path("projects/<slug:slug>/sessions/move/", chosen_views.sessions_move, name="sessions-move"),
    path("projects/<slug:slug>/filters/", chosen_views.filter_save, name="filter-save"),
    path("projects/<slug:slug>/filters/<id:pk>/delete/", chosen_views.filter_delete, name="filter-delete"),
    path("projects/<slug:slug>/settings/", settings_views.project_settings, name="project-settings"),
    path("projects/<slug:slug>/settings/members/", settings_views.member_add, name="member-add"),
    path("projects/<slug:slug>/settings/members/<id:pk>/remove/", settings_views.member_remove, name="member-remove"),
    path("projects/<slug:slug>/settings/tokens/", settings_views.token_create, name="token-create"),
    path("projects/<slug:slug>/settings/tokens/<id:pk>/revoke/", settings_views.token_revoke, name="token-revoke"),
]
