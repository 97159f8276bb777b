"""Where every page of the site hangs."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from hermes_site.lazy_urls import lazily
from sessions import signin

signin_urls = [
    path("", signin.needed, name="needed"),
    path("<str:token>/", signin.confirm, name="confirm"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("signin/", include((signin_urls, "signin"))),
    path("signout/", signin.leave, name="signout"),
    lazily("api/v1/", "hermes_site.api", namespace="api"),
    lazily("admin/", "hermes_site.admin_urls", namespace="admin"),
    lazily("", "compression.urls", namespace="compression"),
    lazily("", "sessions.urls", namespace="sessions"),
]
