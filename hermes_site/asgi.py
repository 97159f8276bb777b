"""What daphne runs: pages, static files and sockets, each behind the checks that it needs."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from django.core.exceptions import SuspiciousFileOperation
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import path, re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")
pages = get_asgi_application()

from compression.consumers import RunProgress  # noqa: E402  # models exist once the line above ran


class StaticFiles(ASGIStaticFilesHandler):
    """Serves files straight from the packages and folders that hold them.

    Browsers ask each time whether a file changed, so that an upgrade is never half seen.
    """

    def serve(self, request: HttpRequest) -> HttpResponse | FileResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        try:
            response = super().serve(request)
        except SuspiciousFileOperation:
            raise Http404("a path that leaves the folder") from None
        response["Cache-Control"] = "no-cache"
        response["X-Content-Type-Options"] = "nosniff"
        return response


async def no_such_socket(scope: Any, receive: Any, send: Any) -> Any:
    await receive()
    await send({"type": "websocket.close", "code": 4404})


async def model_context_protocol(scope: Any, receive: Any, send: Any) -> None:
    # Its library takes two seconds to load, which the first agent that calls waits for, and nobody else.
    server = await asyncio.to_thread(import_module, "compression.mcp_server")
    await server.over_http(scope, receive, send)


async def http(scope: Any, receive: Any, send: Any) -> None:
    is_mcp = scope["path"].rstrip("/") == "/mcp"
    await (model_context_protocol if is_mcp else website)(scope, receive, send)


website = StaticFiles(pages)
sockets = [
    path("ws/runs/<int:run_id>/", RunProgress.as_asgi()),
    re_path("", no_such_socket),
]
application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(sockets))),
    }
)
