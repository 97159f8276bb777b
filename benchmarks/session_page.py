"""The session page: server time, bytes, DOM nodes and queries, none of which may grow with the messages.

A real session of some 4 MB, and made ones of 400 and 4,000 turns, in a database of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.corpus import claude_code_files
from benchmarks.database import fresh
from benchmarks.measuring import Row, medians

NODES = 1_500
SMALL, LARGE = 400, 4_000


class Nodes(HTMLParser):
    """Counts the elements of a page."""

    count = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += 1


def nodes(page: str) -> int:
    parser = Nodes()
    parser.feed(page)
    return parser.count


def made(turns: int) -> Any:
    """A session of ``turns`` calls of one tool each, its window filling up like a real one's."""
    from sessions.importers.parsed import Detection, ParsedMessage, ParsedSession, ParsedTurn, Part

    session = ParsedSession(key=f"made-{turns}", format="claude-code", detection=Detection("claude-code", 1, "made"))
    session.title, session.models = f"{turns} turns", ["claude-sonnet-4-5"]
    session.messages.append(ParsedMessage("user", [Part("text", "Tidy up the importer, one module at a time.")]))
    for turn in range(turns):
        end, call = len(session.messages), f"call-{turn}"
        lines = "\n".join(f"src/module_{turn}.py:{line}: value_{turn * line} = {line}" for line in range(60))
        asked = [Part("text", f"Now module {turn}."), Part("tool_call", '{"path": "src"}', call_id=call, name="Read")]
        session.messages.append(ParsedMessage("assistant", asked, timestamp=60.0 * turn))
        session.messages.append(ParsedMessage("tool", [Part("tool_result", lines, call_id=call, name="Read")]))
        session.turns.append(ParsedTurn(end, end + 1, end + 2, time=60.0 * turn))
    return session


def rows() -> list[Row]:
    with TemporaryDirectory() as name:
        os.environ["HERMES_DATA_DIR"] = name
        return measured(Path(name))


def measured(folder: Path) -> list[Row]:
    import django
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext, override_settings

    from sessions.importers import read_sessions
    from sessions.ingest import FileFacts, ingest

    project = fresh(folder / "bench.sqlite3")
    from django.contrib.auth import get_user_model

    user = get_user_model().objects.create_superuser("bench")
    facts = FileFacts(name="bench.jsonl", sha256="0" * 64, size=1)
    largest = max(claude_code_files(folder), key=lambda path: path.stat().st_size)
    parsed = {"real": read_sessions(largest)[0], "small": made(SMALL), "large": made(LARGE)}
    pages = {
        label: ingest(one, project=project, file=facts).session.get_absolute_url() for label, one in parsed.items()
    }
    client = Client()
    client.force_login(user)

    def opened(label: str) -> Callable[[], object]:
        return lambda: client.get(pages[label])

    with override_settings(ALLOWED_HOSTS=["*"], DEBUG=False):
        texts, queries = {}, {}
        for label in pages:
            client.get(pages[label])  # the first opening works the replay out; what is measured is every later one
            with CaptureQueriesContext(
                connection,
            ) as captured:
                response = client.get(pages[label])
            assert response.status_code == 200, (label, response.status_code)
            texts[label], queries[label] = response.content.decode(), len(captured)
        real, small, large = medians(opened("real"), opened("small"), opened("large"), rounds=9)
    django.db.connections.close_all()
    grown = f"{SMALL} -> {LARGE} turns"
    return [
        Row("session page, 4 MB session: server time", 1e3 * real, "ms"),
        Row("session page, 4 MB session: bytes", len(texts["real"].encode()) / 1e3, "KB"),
        Row("session page, 4 MB session: queries", queries["real"], ""),
        *(Row(f"session page, {label}: DOM nodes", nodes(text), "", NODES) for label, text in texts.items()),
        Row(
            "session page, server time", large / small, "x", 2.0, f"{grown}: {1e3 * small:.0f} -> {1e3 * large:.0f} ms"
        ),
        Row("session page, bytes", len(texts["large"]) / len(texts["small"]), "x", 1.5, grown),
        Row("session page, queries", queries["large"] - queries["small"], "more", 0, grown),
    ]
