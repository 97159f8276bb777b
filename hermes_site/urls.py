"""Where every page of the site hangs."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path

from hermes_site.lazy_urls import lazily
from sessions import signin

signin_urls = [
    path("", signin.needed, name="needed"),
    re_path(r"^(?P<token>[A-Za-z0-9_-]{1,200})/\Z", signin.confirm, name="confirm"),
]

handler400 = "hermes_site.refusals.bad_request"

urlpatterns: list[URLPattern | URLResolver] = [
    path("signin/", include((signin_urls, "signin"))),
    path("signout/", signin.leave, name="signout"),
    lazily("api/v1/", "hermes_site.api", namespace="api"),
    lazily("admin/", "hermes_site.admin_urls", namespace="admin"),
    lazily("", "compression.urls", namespace="compression"),
    lazily("", "sessions.urls", namespace="sessions"),
]
