"""The site around the apps: the settings that are printed, the policy of every page, sockets and files."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings as django_settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

MANAGE = [sys.executable, str(django_settings.BASE_DIR / "manage.py")]


def test_the_settings_in_force_are_printed_without_secrets() -> None:
    out = StringIO()

    call_command("settings", "--json", stdout=out)

    printed = json.loads(out.getvalue())
    assert printed["HERMES_MAX_UPLOAD_BYTES"] == 209715200
    assert printed["HERMES_RUN_LEASE_SECONDS"] == 60
    assert printed["HERMES_SECRET_KEY"] == "***"
    assert django_settings.SECRET_KEY not in out.getvalue()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HERMES_DEBUG", "maybe", "HERMES_DEBUG='maybe' is not usable: write 1 or 0"),
        ("HERMES_TIME_ZONE", "Mars/Base", "HERMES_TIME_ZONE='Mars/Base' is not usable: write a name of the IANA list"),
        ("HERMES_SECRET_KEY", "short", "HERMES_SECRET_KEY='***' is not usable: write at least 32 characters"),
        ("DATABASE_URL", "mysql://u:pw@h/d", "DATABASE_URL='mysql://u:***@h/d' is not usable"),
    ],
)
def test_nonsense_stops_every_command_in_one_line(name: str, value: str, words: str) -> None:
    done = subprocess.run(
        [*MANAGE, "settings"], env=os.environ | site_environment() | {name: value}, capture_output=True, text=True
    )

    assert done.returncode == 2
    assert done.stderr.startswith(words)
    assert done.stderr.count("\n") == 1


def test_every_page_carries_the_policy(client: Client, db: None) -> None:
    policy = client.get("/signin/")["Content-Security-Policy"]

    directives = dict(directive.split(" ", 1) for directive in policy.split("; "))
    assert directives["default-src"] == "'self'"
    assert directives["style-src"] == "'self'"
    assert directives["style-src-attr"] == "'unsafe-inline'"
    assert directives["img-src"] == "'self' data: blob:"
    assert directives["frame-ancestors"] == "'none'"
    assert directives["script-src"].startswith("'self'")
    assert "unsafe" not in directives["script-src"]


@pytest.mark.parametrize("path", ["/", "/projects/apollo/", "/api/v1/docs"])
def test_strangers_are_sent_to_sign_in(client: Client, db: None, path: str) -> None:
    assert client.get(path)["Location"] == f"/signin/?next={path}"


def test_lazy_addresses_can_be_reversed() -> None:
    assert reverse("api:openapi-view") == "/api/v1/docs"
    assert reverse("admin:agent_sessions_project_changelist") == "/admin/agent_sessions/project/"


@pytest.mark.asyncio
async def test_a_socket_that_does_not_exist_is_closed() -> None:
    from hermes_site.asgi import application

    socket = WebsocketCommunicator(application, "/ws/nothing/", headers=[(b"origin", b"http://localhost")])

    assert await socket.connect() == (False, 4404)


@pytest.mark.asyncio
async def test_a_socket_from_another_site_is_refused() -> None:
    from hermes_site.asgi import application

    socket = WebsocketCommunicator(application, "/ws/nothing/", headers=[(b"origin", b"http://evil.example")])

    assert await socket.connect() == (False, 1000)


def site_environment() -> dict[str, str]:
    """The real settings in place of those of the tests."""
    return {"DJANGO_SETTINGS_MODULE": "hermes_site.settings"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def installation(tmp_path: Path) -> dict[str, str]:
    environment = os.environ | site_environment() | {"HERMES_DATA_DIR": str(tmp_path), "PORT": str(free_port())}
    environment.pop("DATABASE_URL", None)
    subprocess.run([*MANAGE, "migrate", "--skip-checks", "-v0"], env=environment, check=True)
    subprocess.run(
        [
            *MANAGE,
            "shell",
            "-v0",
            "-c",
            "from django.contrib.auth.models import User; User.objects.create_superuser('a')",
        ],
        env=environment,
        check=True,
    )
    return environment


@pytest.fixture
def server(installation: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*MANAGE, "serve"], env=installation, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield process
    process.terminate()
    process.communicate(timeout=20)


def test_serving_prints_one_link_and_ends_cleanly(installation: dict[str, str], server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    link = server.stdout.readline().strip()
    base = f"http://127.0.0.1:{installation['PORT']}"
    assert link.startswith(f"{base}/signin/")

    with urllib.request.urlopen(link) as page:
        assert page.headers["Referrer-Policy"] == "no-referrer"
    with urllib.request.urlopen(f"{base}/static/plotly/plotly.min.js") as script:
        assert script.headers["Cache-Control"] == "no-cache"
        assert script.read(3) == b"/**"
    second = subprocess.run([*MANAGE, "serve"], env=installation, capture_output=True, text=True)
    assert second.returncode == 2
    assert second.stderr == (
        f"CommandError: Cannot listen on 127.0.0.1, port {installation['PORT']} (Address already in use): "
        "choose another with PORT= or HOST=.\n"
    )
    server.send_signal(signal.SIGINT)
    rest, errors = server.communicate(timeout=20)

    assert (server.returncode, rest, errors) == (0, "", "")
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", int(installation["PORT"]))):
        pass
