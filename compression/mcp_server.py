"""The MCP server: one tool, ``recall``, with which an agent reads the originals behind its stubs.

Over stdio it is started for one project (``manage.py mcp --project SLUG``). Over HTTP it answers at ``/mcp`` whoever
brings a token that may read, and knows no project but the token's. It keeps no sessions: every request is whole.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import Field

from compression.engine.snapshots import DIGITS, BadSlice, Slice, UnknownAddress, address_digits, read_slice
from compression.engine.tokens import default_counter
from compression.recall import stored_original
from sessions.models import ApiToken
from sessions.tokens import GRANTS, find_token

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MAX_TOKENS = 2_000
MOST_TOKENS = 100_000
ABOUT = (
    "Tool results in this conversation may be compressed: their first line ends in `original hermes:...]`. "
    "Call recall with that address when you need what the stub leaves out."
)
_Address = Annotated[
    str, Field(max_length=200, description="The address in the stub's first line: hermes:2d711642b726")
]
_Lines = Annotated[str, Field(max_length=40, description="Only these lines, counted from 1: 10-40")]
_Grep = Annotated[
    str, Field(max_length=1_000, description="Only lines that match this RE2 pattern, with their numbers")
]
_Path = Annotated[str, Field(max_length=1_000, description="Only the values at this JSONPath of a JSON original")]
_Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS, description="Stop after whole lines of so many tokens")]


def recalled(project_slug: str, address: str, part: Slice) -> str:
    """The slice that was asked for; ToolError says in words why there is none."""
    try:
        if len(address_digits(address)) < DIGITS:
            raise UnknownAddress(f"{address}: an address has {DIGITS} or more digits")
        _, body = stored_original(project_slug, address)
        text = read_slice(body.decode("utf-8", "surrogatepass"), part, default_counter().count)
    except (UnknownAddress, BadSlice) as error:
        raise ToolError(str(error)[:500]) from None
    return text.encode("utf-8", "replace").decode()


def server_of(project_slug: str) -> MCPServer:
    """The server of one project."""
    server = MCPServer("hermes", title="Hermes", instructions=ABOUT, log_level="WARNING", subscriptions=False)

    async def recall(
        address: _Address,
        lines: _Lines = "",
        grep: _Grep = "",
        json_path: _Path = "",
        max_tokens: _Tokens = MAX_TOKENS,
    ) -> str:
        """Read the original behind a stub's address, or a slice of it. Give one of lines, grep and json_path."""
        part = Slice(lines, grep, json_path, max_tokens)
        text: str = await database_sync_to_async(recalled)(project_slug, address, part)
        return text

    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    server.add_tool(recall, title="Recall an original", annotations=hints, structured_output=False)
    return server


async def over_http(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI application at ``/mcp``: streamable HTTP without sessions, one answer to each POST."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    refusal = refused(headers, scope["method"])
    if refusal is not None:
        await answer(send, *refusal)
        return
    token = await database_sync_to_async(token_of)(headers)
    if token is None:
        await answer(send, 401, "unauthorized", "A token is needed: Authorization: Bearer hermes_...")
    elif "read" not in GRANTS[token.scope]:
        await answer(send, 403, "wrong_scope", f"This token may only {token.scope}; use one that may read.")
    else:
        server = server_of(token.project.slug)
        # Host and origin were checked above, against the site's own settings.
        checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=True, json_response=True, transport_security=checked)
        # Daphne starts and ends no lifespan, so that each request has a manager of its own.
        async with server.session_manager.run():
            await server.session_manager.handle_request(scope, receive, send)


def refused(headers: dict[str, str], method: str) -> tuple[int, str, str] | None:
    """What is wrong with a request before anybody looks at its token: its host, its origin, its method.

    A page in a browser sends an Origin, and must not reach a server on its reader's machine under another name.
    """
    host, _ = split_domain_port(headers.get("host", ""))
    if not host or not validate_host(host, settings.ALLOWED_HOSTS):
        return 421, "wrong_host", "This host name is not served here; HERMES_ALLOWED_HOSTS names those that are."
    if "origin" in headers:
        try:
            origin = urlsplit(headers["origin"]).hostname or ""
        except ValueError:  # no URL at all
            origin = ""
        if not origin or not validate_host(origin, settings.ALLOWED_HOSTS):
            return 403, "wrong_origin", "Pages of other sites may not call this server."
    if method != "POST":
        return 405, "method_not_allowed", "POST messages here; there is no stream to listen to."
    return None


def token_of(headers: dict[str, str]) -> ApiToken | None:
    """The token that a request brings."""
    kind, _, text = headers.get("authorization", "").partition(" ")
    return find_token(text.strip()) if kind.lower() == "bearer" else None


async def answer(send: Send, status: int, code: str, message: str) -> None:
    """A refusal, in the API's shape."""
    body = json.dumps({"error": {"code": code, "message": message, "hint": ""}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
