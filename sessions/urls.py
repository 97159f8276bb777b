"""Addresses of the pages of projects. A session's own page belongs to ``compression``."""

from __future__ import annotations

from django.urls import path

from sessions import views

app_name = "sessions"

urlpatterns = [
    path("", views.project_list, name="projects"),
    path("projects/new/", views.project_create, name="project-create"),
    path("projects/upload/", views.upload_first, name="upload-first"),
    path("projects/<slug:slug>/", views.project_detail, name="project"),
    path("projects/<slug:slug>/upload/", views.upload, name="upload"),
    path("projects/<slug:slug>/settings/", views.project_settings, name="project-settings"),
]
