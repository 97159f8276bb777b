"""A server on this machine that speaks both protocols, as well or as badly as a test wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """``body`` goes out in ``pieces`` pieces, ``delay`` seconds before each."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pieces: int = 1


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ModelServer:
    """Answers every request with ``reply`` and keeps what it was sent; ``busiest``: most requests at a time."""

    def __init__(self) -> None:
        self.reply = Reply()
        self.received: list[Received] = []
        self.busiest = 0
        self._busy = 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    @contextmanager
    def running(self) -> Iterator[ModelServer]:
        thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()

    @contextmanager
    def serving(self, received: Received) -> Iterator[Reply]:
        with self._lock:
            self.received.append(received)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            yield self.reply
        finally:
            with self._lock:
                self._busy -= 1


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with server.serving(Received(self.path, headers, body)) as reply:
                try:
                    self._send(reply)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        def _send(self, reply: Reply) -> None:
            headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.body)), **reply.headers}
            step = -(-len(reply.body) // reply.pieces)
            for piece in range(reply.pieces):
                time.sleep(reply.delay)
                if piece == 0:
                    self.send_response(reply.status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                self.wfile.write(reply.body[piece * step : (piece + 1) * step])
                self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a test's output is its own."""

    return Handler


def anthropic_body(text: str, stop_reason: str = "end_turn") -> bytes:
    """A message as the Messages API returns it, after a thought."""
    content = [{"type": "thinking", "thinking": "let me see", "signature": "c2ln"}, {"type": "text", "text": text}]
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "small",
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 300, "output_tokens": 20},
        }
    ).encode()


def openai_body(text: str, finish_reason: str = "stop") -> bytes:
    """A chat completion."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "small",
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320},
        }
    ).encode()
