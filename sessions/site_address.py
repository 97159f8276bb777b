"""How this server is reached from outside; kept apart from its pages, which a command need not import to ask.

A server that runs leaves its address in the data folder, so that a command in another shell, which was not
told its PORT, prints links that work.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings


def site_url() -> str:
    """How a browser reaches this server: HERMES_PUBLIC_URL, else HOST and PORT, else where the running one listens."""
    if settings.HERMES_PUBLIC_URL:
        return str(settings.HERMES_PUBLIC_URL)
    if not {"HOST", "PORT"} & os.environ.keys() and (running := _left_by_the_running_server()):
        return running
    host = settings.HERMES_HOST
    if host in {"0.0.0.0", "::"}:  # noqa: S104  # compared, not bound: no browser can open these
        host = "127.0.0.1"
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"http://{host}:{settings.HERMES_PORT}"


@contextmanager
def known_address() -> Iterator[None]:
    """While the block runs, other commands on the same data folder know where the server listens."""
    path = _address_file()
    path.write_text(site_url(), encoding="utf-8")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _address_file() -> Path:
    return Path(settings.HERMES_DATA_DIR) / "address"


def _left_by_the_running_server() -> str:
    try:
        text = _address_file().read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    return text if text.startswith("http://") else ""
