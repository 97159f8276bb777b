"""Daphne, with bounds: no body is spooled that the site would not take, and stopping takes no longer than it must.

Daphne starts the application only when it has the whole body, so that whatever the application
refuses has filled the disk before. Here a body that is declared, or turns out, too long is answered
with 413 while it arrives, and the rest is thrown away. Who brings neither session nor token may
send what a form holds. Run as ``python -m hermes_site.server``, with daphne's own options.
"""

from __future__ import annotations

import json
import os
from html import escape
from threading import Timer
from typing import Any

from daphne.cli import CommandLineInterface
from daphne.http_protocol import WebRequest
from daphne.server import Server, reactor

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")

from django.conf import settings  # the name of the module had to be there first

from hermes_site.upload_limit import ENVELOPE_BYTES  # ditto

ANONYMOUS_BYTES = 1024 * 1024
# How long a refused sender may go on before the line is cut: a sender cut off too early never sees the answer.
SECONDS_TO_LISTEN = 5
SECONDS_TO_STOP = 1.0


class BoundedRequest(WebRequest):  # type: ignore[misc]  # daphne has no types
    """One request; ``limit`` is how many bytes its body may have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # Django parses forms; Twisted would read them into memory to do it too.
        super().__init__(*args, parsePOSTFormSubmission=False, **options)
        self.received = 0
        self.limit = 0
        self.is_refused = False

    def gotLength(self, length: int | None) -> None:  # Twisted's name
        """The headers are complete; ``length`` is None where chunks will tell."""
        super().gotLength(length)
        self.limit = settings.HERMES_MAX_UPLOAD_BYTES + ENVELOPE_BYTES if self.is_known() else ANONYMOUS_BYTES
        if length is not None and length > self.limit:
            self.refuse()

    def handleContentChunk(self, data: bytes) -> None:  # Twisted's name
        self.received += len(data)
        if self.is_refused:
            return
        if self.received > self.limit:
            self.refuse()
        else:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # Twisted's name
        if self.is_refused:
            self.channel.loseConnection()
            return
        if self.requestHeaders.hasHeader(b"Transfer-Encoding"):
            # It is complete, and Django reads no form whose length is not declared.
            self.requestHeaders.removeHeader(b"Transfer-Encoding")
            self.requestHeaders.setRawHeaders(b"Content-Length", [str(self.received).encode()])
        super().requestReceived(command, path, version)

    def is_known(self) -> bool:
        """Whether it brings a session or a token; whether they are good is for the application to find out."""
        cookie = settings.SESSION_COOKIE_NAME.encode() in self.received_cookies
        bearer = any(
            value.lower().startswith(b"bearer ") for value in self.requestHeaders.getRawHeaders(b"Authorization", [])
        )
        return cookie or bearer

    def refuse(self) -> None:
        self.is_refused = True
        self.content.seek(0)
        self.content.truncate()
        kind, body = refusal(self.channel._path, self.limit, is_known=self.is_known())
        head = (
            f"HTTP/1.1 413 Content Too Large\r\nContent-Type: {kind}; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.channel.transport.write(head.encode() + body)
        self.channel.transport.loseWriteConnection()
        reactor.callLater(SECONDS_TO_LISTEN, self.hang_up)

    def hang_up(self) -> None:
        if self.channel is not None:
            self.channel.forceAbortClient()


def refusal(path: bytes, limit: int, *, is_known: bool) -> tuple[str, bytes]:
    """Media type and body: the API's shape below its address, else a page as the script of the upload form reads it."""
    message = f"The request is larger than {limit:,} bytes."
    hint = (
        "Send one session per file, or raise HERMES_MAX_UPLOAD_BYTES."
        if is_known
        else "Sign in, or send a token, before you send files."
    )
    if path.startswith(b"/api/"):
        error = {"code": "too_large", "message": message, "hint": hint}
        return "application/json", json.dumps({"error": error}).encode()
    page = (
        f'<!doctype html><html lang="en"><title>Too large</title>'
        f"<main><h1>{escape(message)}</h1><p>{escape(hint)}</p></main></html>"
    )
    return "text/html", page.encode()


class BoundedServer(Server):  # type: ignore[misc]  # daphne has no types
    connections: dict[Any, dict[str, Any]]

    def run(self) -> None:
        reactor.callWhenRunning(self.bound_requests)
        super().run()

    def bound_requests(self) -> None:
        build = self.http_factory.buildProtocol

        def bounded(address: Any) -> Any:
            protocol = build(address)
            protocol.requestFactory = BoundedRequest
            return protocol

        self.http_factory.buildProtocol = bounded

    def kill_all_applications(self) -> Any:
        """Threads of views that go on after their time must not hold the process up; their transactions are undone.

        Connections without a request of the moment have no application, which daphne takes for granted.
        """
        last_call = Timer(SECONDS_TO_STOP, os._exit, [0])
        last_call.daemon = True
        last_call.start()
        self.connections = {request: one for request, one in self.connections.items() if "application_instance" in one}
        return super().kill_all_applications()


class CommandLine(CommandLineInterface):  # type: ignore[misc]  # daphne has no types
    server_class = BoundedServer


if __name__ == "__main__":
    CommandLine.entrypoint()
