"""As much of a WebSocket client as the tests need: open as a signed-in browser, read frames, see the end."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator
from typing import Any

TEXT, CLOSE = 1, 8


def frames(port: int, path: str, *, cookie: str, seconds: float = 60) -> Generator[dict[str, Any]]:
    """What the server says, until it closes with 1000; any other end is an error."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as line, line.makefile("rb") as words:
        line.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        status = words.readline()
        assert b" 101 " in status, status
        while words.readline() != b"\r\n":
            pass
        while True:
            kind, body = read_frame(words)
            if kind == TEXT:
                yield json.loads(body)
            elif kind == CLOSE:
                assert int.from_bytes(body[:2]) == 1000, body
                return


def read_frame(words: Any) -> tuple[int, bytes]:
    """(kind, content) of a frame as servers send them: whole and unmasked."""
    first, length = words.read(2)
    if length == 126:
        length = int.from_bytes(words.read(2))
    elif length == 127:
        length = int.from_bytes(words.read(8))
    return first & 15, words.read(length)
