"""One installation on several machines: processes that share a database and a Redis and nothing else.

Each process has a data folder of its own, as on a machine of its own. What is asked of the database is asked past
Django, so that no process of ours is in the way.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from django.conf import settings as site

from tests.integration.servers import Servers, free_port

LEASE_SECONDS = 2
"""Claims of workers that were killed grow old as fast as a test can wait for."""

WORKER = ["db_worker", "-v", "0", "--no-startup-delay", "--no-reload", "--interval", "0.1"]
WEB = [sys.executable, "-m", "hermes_site.server", "-v", "0", "-b", "127.0.0.1"]
_numbers = count()


@dataclass
class Machines:
    """``database_url`` is that of a database which only this installation uses."""

    database_url: str
    redis_url: str
    folder: Path
    secret_key: str = "the-same-on-every-machine-of-this-installation"
    _started: Iterator[int] = field(default_factory=count)

    @property
    def name(self) -> str:
        """Of the database."""
        return self.database_url.rpartition("/")[2]

    def environment(self) -> dict[str, str]:
        """Of the next machine."""
        inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"}
        own = {
            "DJANGO_SETTINGS_MODULE": "hermes_site.settings",
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "HERMES_SECRET_KEY": self.secret_key,
            "HERMES_DATA_DIR": str(self.folder / f"machine-{next(self._started)}"),
            "HERMES_RUN_LEASE_SECONDS": str(LEASE_SECONDS),
        }
        return inherited | own

    def manage(self, *arguments: str) -> str:
        """What a command of manage.py printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=site.BASE_DIR,
            env=self.environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def shell(self, code: str) -> str:
        """What a few lines printed that ran with all of Django there."""
        return self.manage("shell", "--verbosity", "0", "--command", code).strip()

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """A machine that works, until the block ends or it is killed."""
        with killed_at_the_end([sys.executable, "manage.py", *WORKER], self.environment()) as process:
            yield process

    @contextmanager
    def web(self) -> Iterator[int]:
        """A machine that serves pages; gives its port."""
        port = free_port()
        command = [*WEB, "-p", str(port), "hermes_site.asgi:application"]
        with killed_at_the_end(command, self.environment()) as process:
            wait_until(lambda: process.poll() is not None or answers(port))
            yield port

    def ask(self, question: LiteralString, *values: Any) -> Any:
        """One figure from the database."""
        with psycopg.connect(self.database_url) as database:
            row = database.execute(question, values).fetchone()
            return None if row is None else row[0]


@contextmanager
def machines(servers: Servers, folder: Path, *, like: str = "template1") -> Iterator[Machines]:
    """An installation over a database that begins as a copy of ``like`` and is dropped, whoever is connected to it."""
    name = f"hermes_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(f"{servers.postgres_url}postgres", autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"'.encode())
        try:
            yield Machines(f"{servers.postgres_url}{name}", f"{servers.redis_url}0", folder)
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


@contextmanager
def killed_at_the_end(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """As a machine stops that loses its power."""
    process = subprocess.Popen(command, cwd=site.BASE_DIR, env=environment)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)
