"""How this server is reached from outside; kept apart from its pages, which a command need not import to ask."""

from __future__ import annotations

from django.conf import settings


def site_url() -> str:
    """How a browser reaches this server: HERMES_PUBLIC_URL, or HOST and PORT."""
    if settings.HERMES_PUBLIC_URL:
        return str(settings.HERMES_PUBLIC_URL)
    host = settings.HERMES_HOST
    if host in {"0.0.0.0", "::"}:  # noqa: S104  # compared, not bound: no browser can open these
        host = "127.0.0.1"
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"http://{host}:{settings.HERMES_PORT}"
