"""The server itself, as a process: what it takes in before anybody is asked, and how fast it stops."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from django.conf import settings

SERVER = [sys.executable, "-m", "hermes_site.server", "-v", "0", "-b", "127.0.0.1", "hermes_site.asgi:application"]
LIMIT = 3 * 1024 * 1024
MEGABYTE = b"x" * (1024 * 1024)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("server")
    own = {
        "DJANGO_SETTINGS_MODULE": "hermes_site.settings",
        "HERMES_DATA_DIR": str(folder),
        "HERMES_MAX_UPLOAD_BYTES": str(LIMIT),
        "TMPDIR": str(folder),
    }
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"}
    manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], env=inherited | own, check=True)  # our own command
    return inherited | own


def started(environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(  # our own command
        [*SERVER[:-1], "-p", str(port), SERVER[-1]], env=environment, cwd=settings.BASE_DIR
    )
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    return process, port


@pytest.fixture(scope="module")
def port(environment: dict[str, str]) -> Iterator[int]:
    process, port = started(environment)
    yield port
    process.kill()
    process.wait()


def spoken(port: int, head: str, pieces: list[bytes]) -> tuple[bytes, int]:
    """The whole answer, and how many pieces could be sent before it came."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        line.sendall(f"{head}\r\nHost: 127.0.0.1\r\n\r\n".encode())
        sent = 0
        line.settimeout(0.02)
        answer = b""
        for piece in pieces:
            try:
                answer += line.recv(65536)
                break
            except TimeoutError:
                pass
            line.settimeout(20)
            line.sendall(piece)
            line.settimeout(0.02)
            sent += 1
        line.settimeout(20)
        while data := line.recv(65536):
            answer += data
    return answer, sent


def test_a_declared_length_over_the_limit_is_answered_before_anything_is_sent(port: int) -> None:
    answer, _ = spoken(port, "POST / HTTP/1.1\r\nContent-Length: 5000000000", [b""])

    assert answer.startswith(b"HTTP/1.1 413 Content Too Large\r\n")
    assert b"<main><h1>The request is larger than 1,048,576 bytes.</h1><p>Sign in, or send a token" in answer


def test_chunks_are_counted_and_the_answer_comes_as_soon_as_they_are_too_many(port: int) -> None:
    chunk = b"%x\r\n" % len(MEGABYTE) + MEGABYTE + b"\r\n"

    answer, sent = spoken(port, "POST /api/v1/projects/x/sessions HTTP/1.1\r\nTransfer-Encoding: chunked", [chunk] * 50)

    assert answer.startswith(b"HTTP/1.1 413 Content Too Large\r\n")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "too_large"
    assert sent < 10


@pytest.mark.parametrize("known", ["Cookie: hermes_session=x", "Authorization: Bearer x"])
def test_who_brings_a_session_or_a_token_may_send_as_much_as_an_upload_takes(port: int, known: str) -> None:
    head = f"POST /api/v1/projects/x/sessions HTTP/1.1\r\nConnection: close\r\n{known}\r\nContent-Length: "

    taken, _ = spoken(port, head + str(LIMIT), [MEGABYTE] * 3)
    refused, _ = spoken(port, head + str(LIMIT * 2), [b""])

    assert taken.startswith(b"HTTP/1.1 401 ")
    assert refused.startswith(b"HTTP/1.1 413 ")


def test_a_form_in_chunks_is_read_like_any_other(port: int) -> None:
    form = b'--B\r\nContent-Disposition: form-data; name="check"\r\n\r\nx\r\n--B--\r\n'
    head = (
        "POST /signin/abc/ HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
        "Cookie: hermes_signin=x\r\nContent-Type: multipart/form-data; boundary=B"
    )

    answer, _ = spoken(port, head, [b"%x\r\n" % len(form) + form + b"\r\n0\r\n\r\n"])

    assert answer.startswith(b"HTTP/1.1 410 Gone\r\n")
    assert b"was used" in answer or b"too old" in answer


def test_it_stops_at_once_though_connections_are_open(environment: dict[str, str]) -> None:
    process, port = started(environment)
    with socket.create_connection(("127.0.0.1", port)) as idle, socket.create_connection(("127.0.0.1", port)) as half:
        idle.sendall(b"GET /signin/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert idle.recv(20).startswith(b"HTTP/1.1 200 OK")
        half.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n")
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(10)

    assert process.returncode == 0
    assert time.monotonic() - begun < 2.5
