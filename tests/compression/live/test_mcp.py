"""The MCP server, asked by the SDK's own client: in a process of its own over stdio, and over HTTP at /mcp."""

from __future__ import annotations

import asyncio
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from compression.models import Snapshot
from hermes_site.asgi import application
from sessions.models import Project
from sessions.tokens import create_token

TEXT = "\n".join(f"line {n}" for n in range(1, 5_001))
SHA = sha256(TEXT.encode()).hexdigest()
ADDRESS = f"hermes:{SHA[:12]}"
ROOT = Path(__file__).parents[3]


def keep_original(project: Project, text: str = TEXT) -> None:
    body = text.encode()
    Snapshot.objects.create(project=project, sha256=sha256(body).hexdigest(), body=body)


def address_of_the_database() -> str:
    """Where another process finds the rows of this test."""
    row = settings.DATABASES["default"]
    if row["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{row['NAME']}"
    return f"postgres://{row['USER']}:{row['PASSWORD']}@{row['HOST']}:{row['PORT']}/{row['NAME']}"


def words(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def through_the_application(request: httpx2.Request) -> httpx2.Response:
    """One HTTP request to the ASGI application, as the server would hand it over."""
    body = await request.aread()
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "path": request.url.path,
        "raw_path": request.url.raw_path,
        "query_string": request.url.query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": "http",
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
    }
    peer: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]  # asgiref types it not
    await peer.send_input({"type": "http.request", "body": body, "more_body": False})
    start = await peer.receive_output(timeout=20)
    content = b""
    more = True
    while more:
        piece = await peer.receive_output(timeout=20)
        content += piece.get("body", b"")
        more = piece.get("more_body", False)
    await peer.wait(timeout=20)
    return httpx2.Response(start["status"], headers=start["headers"], content=content)


def http_client(headers: dict[str, str]) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.MockTransport(through_the_application), headers=headers)


def ask(token: str, name: str = "recall", **arguments: Any) -> CallToolResult:
    """One call of a tool with the SDK's client, over HTTP."""

    async def go() -> CallToolResult:
        async with http_client({"Authorization": f"Bearer {token}"}) as http:
            transport = streamable_http_client("http://localhost/mcp", http_client=http)
            async with Client(transport) as client:
                tools = await client.list_tools()
                assert [tool.name for tool in tools.tools] == ["recall"]
                return await client.call_tool(name, arguments)

    return asyncio.run(go())


def over_the_wire(url: str, token: str, text: str) -> str:
    """The second line of an original, asked of a running server."""

    async def go() -> CallToolResult:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await client.call_tool("recall", {"address": sha256(text.encode()).hexdigest(), "lines": "2"})

    return words(asyncio.run(go()))


def post(headers: dict[str, str], method: str = "POST", host: str = "localhost") -> httpx2.Response:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

    async def go() -> httpx2.Response:
        async with http_client({"Accept": "application/json, text/event-stream", **headers}) as http:
            return await http.request(method, f"http://{host}/mcp", json=message if method == "POST" else None)

    return asyncio.run(go())


@pytest.fixture
def token(transactional_db: None, project: Project) -> str:
    keep_original(project)
    return create_token(project=project, scope="read")[1]


def test_an_agent_reads_a_slice_of_an_original_over_http(token: str) -> None:
    assert words(ask(token, address=ADDRESS, lines="10-11")) == "line 10\nline 11"
    assert words(ask(token, address=ADDRESS, grep="line 499[89]")) == "4998:line 4998\n4999:line 4999"


def test_without_a_limit_an_original_stops_after_two_thousand_tokens(token: str) -> None:
    rows = words(ask(token, address=ADDRESS)).split("\n")

    assert rows == [f"line {n}" for n in range(1, len(rows) + 1)]
    assert 300 < len(rows) < 1_000


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"address": "hermes:000000000000"}, "nothing is stored under hermes:000000000000 in project 'apollo'"),
        ({"address": SHA[:8]}, f"{SHA[:8]}: an address has 12 or more digits"),
        ({"address": ADDRESS, "lines": "9-1"}, "lines '9-1': the original has lines 1-5000"),
        ({"address": ADDRESS, "lines": "1", "grep": "x"}, "give one of lines, grep and json_path"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_the_tool_in_words(
    token: str, arguments: dict[str, str], complaint: str
) -> None:
    result = ask(token, **arguments)

    assert result.is_error
    assert words(result) == f"Error executing tool recall: {complaint}"


def test_the_original_of_another_project_is_unknown(token: str, other_project: Project) -> None:
    keep_original(other_project, "secret of Zeus")

    result = ask(token, address=sha256(b"secret of Zeus").hexdigest())

    assert result.is_error
    assert words(result).startswith("Error executing tool recall: nothing is stored under")


@pytest.mark.django_db(transaction=True)
def test_nobody_is_answered_without_a_token_that_may_read(project: Project) -> None:
    _, ingest = create_token(project=project, scope="ingest")

    assert post({}).status_code == 401
    assert post({"Authorization": "Bearer hermes_made_up"}).status_code == 401
    assert post({"Authorization": f"Bearer {ingest}"}).status_code == 403


def test_a_page_of_another_site_is_refused_whatever_token_it_brings(token: str) -> None:
    bearer = {"Authorization": f"Bearer {token}"}

    assert post({**bearer, "Origin": "https://evil.example"}).status_code == 403
    assert post({**bearer, "Origin": "null"}).status_code == 403
    assert post({**bearer, "Origin": "http://[::1"}).status_code == 403
    assert post({**bearer, "Origin": "http://localhost:8000"}).status_code == 200
    assert post(bearer, host="rebound.example").status_code == 421


def test_there_is_no_stream_to_listen_to(token: str) -> None:
    assert post({"Authorization": f"Bearer {token}"}, method="GET").status_code == 405


@pytest.mark.django_db(transaction=True)
def test_an_agent_reads_an_original_over_stdio(project: Project, tmp_path: Path) -> None:
    keep_original(project)
    server = StdioServerParameters(
        command=sys.executable,
        args=[str(ROOT / "manage.py"), "mcp", "--project", "apollo"],
        env={**os.environ, "DATABASE_URL": address_of_the_database()},
        cwd=ROOT,
    )

    async def go() -> tuple[CallToolResult, CallToolResult]:
        async with Client(server) as client:
            good = await client.call_tool("recall", {"address": ADDRESS, "lines": "5000"})
            return good, await client.call_tool("recall", {"address": "hermes:000000000000"})

    good, bad = asyncio.run(go())
    assert words(good) == "line 5000"
    assert bad.is_error
    assert words(bad) == (
        "Error executing tool recall: nothing is stored under hermes:000000000000 in project 'apollo'"
    )
