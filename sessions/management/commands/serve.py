"""Runs the web server and the background worker together until it is told to stop.

Both are processes of their own; when one ends, the other is stopped too. Prints one
sign-in link, once the port answers.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from sessions.site_address import known_address
from sessions.terminal import TerminalCommand

SECONDS_TO_START = 60
SECONDS_TO_STOP = 2


class Stop(Exception):
    """Ctrl-C, or the polite signal of whoever started us."""


class Command(TerminalCommand):
    help = "Run the web server and the background worker; HOST and PORT say where."

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = settings.HERMES_HOST, settings.HERMES_PORT
        refuse_taken_port(host, port)
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
        try:
            with running(commands(host, port)) as processes:
                wait_for_port(host, port, processes)
                with known_address():
                    call_command("signin-url", stdout=self.stdout)
                    self.stdout.flush()
                    raise CommandError(f"The {first_to_end(processes)} ended by itself; stopped the rest.")
        except Stop:
            pass


def commands(host: str, port: int) -> dict[str, list[str]]:
    # -v 0: no access log, which would hold sign-in links.
    server = [
        sys.executable,
        "-m",
        "hermes_site.server",
        "-v",
        "0",
        "-b",
        host,
        "-p",
        str(port),
        "hermes_site.asgi:application",
    ]
    manage = str(settings.BASE_DIR / "manage.py")
    return {
        "web server": server,
        "background worker": [sys.executable, manage, "db_worker", "-v", "0", "--no-startup-delay", "--no-reload"],
    }


def stop(signum: int, frame: FrameType | None) -> None:
    raise Stop


def refuse_taken_port(host: str, port: int) -> None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {host}, port {port} ({error.strerror}): choose another with PORT= or HOST=.",
            returncode=2,
        ) from None


@contextmanager
def running(named: dict[str, list[str]]) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """The processes, which get Ctrl-C from us alone (they have sessions of their own) and never outlive the block."""
    processes: dict[str, subprocess.Popen[bytes]] = {}
    environment = os.environ | {"HERMES_ALLOWED_HOSTS": ",".join(reachable_as())}
    try:
        for name, command in named.items():
            processes[name] = subprocess.Popen(  # noqa: S603  # our own fixed commands
                command, cwd=settings.BASE_DIR, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
            )
        yield processes
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for process in processes.values():
            process.terminate()
        deadline = time.monotonic() + SECONDS_TO_STOP
        for process in processes.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def reachable_as() -> list[str]:
    """The allowed hosts, and the HOST that was asked for in so many words."""
    hosts = list(settings.ALLOWED_HOSTS)
    host = f"[{settings.HERMES_HOST}]" if ":" in settings.HERMES_HOST else settings.HERMES_HOST
    if host in {"0.0.0.0", "[::]"}:  # noqa: S104  # compared, not bound
        host = socket.gethostname()
    return hosts if host in hosts else [*hosts, host]


def wait_for_port(host: str, port: int, processes: dict[str, subprocess.Popen[bytes]]) -> None:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # where a listener on all is found
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        for name, process in processes.items():
            if process.poll() is not None:
                raise CommandError(f"The {name} did not start; its own words are above.")
        try:
            with socket.create_connection((reachable, port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise CommandError(f"Nothing answered on {host}, port {port}, for {SECONDS_TO_START} seconds.")


def first_to_end(processes: dict[str, subprocess.Popen[bytes]]) -> str:
    while True:
        for name, process in processes.items():
            if process.poll() is not None:
                return name
        time.sleep(0.3)
