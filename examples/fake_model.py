"""A model server of nothing but the standard library: it speaks OpenAI's chat API and refuses what is too long.

It plays a model that reads logs, one call at a time until there are no more, and then quotes one line of an early one.
It remembers nothing between calls: all it knows stands in the request, as with a real model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ASKED_LOG, ASKED_LINE = 3, 17
OVERHEAD = 4
"""Tokens of a message besides its text."""

_ADDRESS = re.compile(r"hermes:[0-9a-f]{12,64}")
_TITLE = f"log {ASKED_LOG:03} of "


def next_step(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The assistant message that follows: another log, a recall, or the answer."""
    last = _text(messages[-1])
    following = re.search(r"^next: read_log (\d+)", last, re.MULTILINE)
    if messages[-1]["role"] == "user":
        return _call(messages, "read_log", {"number": 1})
    if _name_of_result(messages) == "read_log" and following:
        return _call(messages, "read_log", {"number": int(following[1])})
    # All logs are read. The line is quoted from an original; where that is gone from view it is recalled.
    if line := _quoted(last):
        return {"role": "assistant", "content": f"Line {ASKED_LINE} of log {ASKED_LOG} says: {line}"}
    tried = {_arguments(message).get("address") for message in messages if message["role"] == "assistant"}
    for address in _leads(messages):
        if address not in tried:
            return _call(messages, "recall", {"address": address, "grep": f"{_TITLE}|line {ASKED_LINE:02}|hermes:"})
    return {"role": "assistant", "content": "That line is lost."}


def _leads(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Addresses to follow: of the stub of the log itself, then of what left the window, oldest first."""
    texts = [_text(message) for message in messages]
    yield from (address for text in texts if _TITLE in text for address in _ADDRESS.findall(text.partition("\n")[0]))
    for text in texts:
        lines = [row for row in text.split("\n") if _TITLE in row or "[left out" in row or "[archived" in row]
        yield from (address for row in lines for address in _ADDRESS.findall(row))
    # A recalled text may hold the stub of the log: its first line stands before its title.
    found = [match for text in texts for match in re.findall(r"original (hermes:[0-9a-f]+)\][^\[]*?" + _TITLE, text)]
    yield from found


def _quoted(text: str) -> str:
    """The wanted line of the wanted log, when the text holds both its title and the line itself."""
    rows = [re.sub(r"^\d+:", "", row) for row in text.split("\n")]
    if not any(row.startswith(_TITLE) for row in rows):
        return ""
    start = next(n for n, row in enumerate(rows) if row.startswith(_TITLE))
    return next((row for row in rows[start:] if row.startswith(f"line {ASKED_LINE:02} ")), "")


def _call(messages: list[dict[str, Any]], name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    number = arguments.get("number") or f"r{len(messages)}"
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _arguments(message: dict[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls") or [{"function": {"arguments": "{}"}}]
    found: dict[str, Any] = json.loads(calls[0]["function"]["arguments"])
    return found


def _name_of_result(messages: list[dict[str, Any]]) -> str:
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    return str(calls[-1]["function"]["name"]) if calls else ""


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _all_text(message: dict[str, Any]) -> str:
    """What of a message costs tokens."""
    calls = [call["function"] for call in message.get("tool_calls") or []]
    return _text(message) + "".join(f"{call['name']} {call['arguments']}" for call in calls)


class Handler(BaseHTTPRequestHandler):
    """``POST /v1/chat/completions``."""

    window = 0
    count: Callable[[str], int] = len

    def do_POST(self) -> None:  # the name that http.server looks for
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tokens = sum(OVERHEAD + type(self).count(_all_text(message)) for message in body["messages"])
        if tokens > self.window:
            message = f"This model's maximum context length is {self.window} tokens; your messages have {tokens}."
            self._answer(400, {"error": {"code": "context_length_exceeded", "message": message}})
            return
        choice = {"index": 0, "message": next_step(body["messages"]), "finish_reason": "stop"}
        self._answer(200, {"choices": [choice], "usage": {"prompt_tokens": tokens}})

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the agent reports."""


@contextmanager
def served(window: int, count: Callable[[str], int]) -> Iterator[tuple[str, int]]:
    """(host, port) of a server that takes requests of at most ``window`` tokens."""
    handler = type("BoundedHandler", (Handler,), {"window": window, "count": staticmethod(count)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "127.0.0.1", server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
