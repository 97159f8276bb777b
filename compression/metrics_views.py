"""``/metrics``: for who brings the token of the server, and without one for this host alone."""

from __future__ import annotations

from hmac import compare_digest
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from compression.metrics import exposition

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BY_WAY_OF = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")


@login_not_required
@require_GET
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    if settings.HERMES_METRICS_TOKEN:
        if not _brings(request, settings.HERMES_METRICS_TOKEN):
            answer = HttpResponse("Send Authorization: Bearer and HERMES_METRICS_TOKEN.\n", "text/plain", 401)
            answer["WWW-Authenticate"] = "Bearer"
            return answer
    elif not _is_of_this_host(request):
        words = "Metrics are for this host alone until the server has a HERMES_METRICS_TOKEN.\n"
        return HttpResponse(words, "text/plain", 403)
    return HttpResponse(exposition(), CONTENT_TYPE)


def _brings(request: HttpRequest, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and compare_digest(given.strip().encode(), token.encode())


def _is_of_this_host(request: HttpRequest) -> bool:
    """Whether it came from here. What a proxy on this host brings came from elsewhere."""
    try:
        address = ip_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:
        return False
    return address.is_loopback and not any(name in request.headers for name in _BY_WAY_OF)
