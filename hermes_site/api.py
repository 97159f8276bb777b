"""The HTTP API: one object that the apps' routers hang on, and its documentation.

Programs bring a token; the documentation is a page like any other, for people who are signed in.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase

from compression.api import router as replays_router
from compression.live_api import router as live_router
from compression.policy_api import router as policy_router
from compression.run_api import router as runs_router
from compression.sweep_api import router as sweeps_router
from sessions.api import router as sessions_router
from sessions.api_errors import answer_errors

PAGES = {"openapi-json", "openapi-view", "api-root"}


class Documentation(DocsBase):
    """Swagger UI from the installed package, without inline script, as our policy wants it."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        settings = {"layout": "BaseLayout", "deepLinking": True, "url": self.get_openapi_url(api, kwargs)}
        return render(request, "api/docs.html", {"api": api, "settings": settings})


api = NinjaAPI(
    title="Hermes",
    version="1",
    description="A token (`manage.py token create`) belongs to one project; what is not in it does not exist.",
    urls_namespace="api",
    docs=Documentation(),
)
answer_errors(api)
api.add_router("", sessions_router)
api.add_router("", replays_router)
api.add_router("", runs_router)
api.add_router("", sweeps_router)
api.add_router("", live_router)
api.add_router("", policy_router)

urlpatterns: list[URLPattern | URLResolver] = api.urls[0]
for pattern in urlpatterns:
    if isinstance(pattern, URLPattern) and pattern.name not in PAGES:
        pattern.callback.login_required = False  # type: ignore[attr-defined]  # what LoginRequiredMiddleware looks for
