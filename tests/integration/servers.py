"""A PostgreSQL and a Redis of one's own: started on free ports over a folder that goes with them, and stopped again.

PostgreSQL refuses to run as root, so root starts it as another user. Nothing is installed here and no server that
runs already is touched.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from pwd import getpwnam
from typing import Any

import psycopg
import redis

SECONDS_TO_START = 30
PASSWORD = "a-password-of-tests"
UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Servers:
    """Where both are. ``postgres_url`` names no database: append one. A Redis URL takes a number for the same end."""

    postgres_url: str
    redis_url: str


class Missing(Exception):
    """A server's program is not installed; the message names the package."""


def program(name: str, package: str) -> str:
    """Where a program is; Debian keeps PostgreSQL's beside the path, one folder a version."""
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
    found = shutil.which(name) or (str(beside[-1]) if beside else None)
    if found is None:
        raise Missing(f"{name} is not installed: `apt-get install {package}` brings it.")
    return found


@contextmanager
def servers() -> Iterator[Servers]:
    """Both servers for as long as the block lasts. What they held is gone afterwards."""
    initdb, postgres = program("initdb", "postgresql"), program("postgres", "postgresql")
    redis_server = program("redis-server", "redis-server")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hermes-servers-", dir="/tmp")))
        owner = other_user(folder)
        postgres_url = stack.enter_context(running_postgres(initdb, postgres, folder, owner))
        yield Servers(postgres_url, stack.enter_context(running_redis(redis_server, folder, owner)))


def other_user(folder: Path) -> dict[str, Any]:
    """What a process needs to be told to give up being root, and the folder given away; nothing for anybody else."""
    if os.geteuid() != 0:
        return {}
    for name in UNPRIVILEGED:
        try:
            user = getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, user.pw_uid, user.pw_gid)
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise Missing(f"PostgreSQL does not run as root, and there is no user {' or '.join(UNPRIVILEGED)}.")


@contextmanager
def running_postgres(initdb: str, postgres: str, folder: Path, owner: dict[str, Any]) -> Iterator[str]:
    """Asks for its password, as a server on another machine would; forgets to flush, as that one must not."""
    data, secret, log = folder / "postgres", folder / "password", folder / "postgres.log"
    secret.write_text(PASSWORD)
    access = ["--username=hermes", "--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C"]
    secret.chmod(0o644)  # readable for the other user; its folder is for that user alone
    made = [initdb, f"--pgdata={data}", "--no-sync", *access]
    subprocess.run(made, check=True, cwd=folder, stdout=subprocess.DEVNULL, **owner)
    port = free_port()
    options = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": 100}
    careless = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    flags = [word for name, value in (options | careless).items() for word in ("-c", f"{name}={value}")]
    url = f"postgres://hermes:{PASSWORD}@127.0.0.1:{port}/"
    with process([postgres, "-D", str(data), *flags], folder, log, owner) as server:
        wait_for(lambda: psycopg.connect(f"{url}postgres", connect_timeout=2).close(), psycopg.Error, server, log)
        yield url


@contextmanager
def running_redis(redis_server: str, folder: Path, owner: dict[str, Any]) -> Iterator[str]:
    log, port = folder / "redis.log", free_port()
    flags = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]
    url = f"redis://127.0.0.1:{port}/"
    with process([redis_server, *flags], folder, log, owner) as server, redis.Redis.from_url(f"{url}0") as client:
        wait_for(client.ping, redis.RedisError, server, log)
        yield url


@contextmanager
def process(command: list[str], folder: Path, log: Path, owner: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    """One child, whose words go to a file; its end is waited for."""
    with log.open("wb") as words:
        child = subprocess.Popen(command, cwd=folder, stdout=words, stderr=subprocess.STDOUT, **owner)
        try:
            yield child
        finally:
            # PostgreSQL takes SIGINT for "now, without waiting for who is connected".
            child.send_signal(2)
            try:
                child.wait(SECONDS_TO_START)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def wait_for(answers: Callable[[], Any], error: type[Exception], server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            answers()
            return
        except error as reason:
            if server.poll() is not None or time.monotonic() > deadline:
                said = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{log.stem} did not start: {reason}\n{said}") from reason
            time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
