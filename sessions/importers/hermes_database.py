"""Hermes Agent's ``state.db``: every session with every generation of its messages.

The file is copied together with its ``-wal`` and the copy is opened read-only with an untrusted schema; only
the two tables that are known are read, and only when they are plain tables. Views, triggers and virtual tables
of the file are never touched.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sessions.importers.fields import string, tally
from sessions.importers.hermes_agent import start_session
from sessions.importers.hermes_generations import add_rows
from sessions.importers.parsed import Detection, ImportFailure, ParsedSession

_LONGEST_FIELD = 256 * 1024 * 1024
_SESSION_COLUMNS = (
    "id", "source", "model", "model_config", "system_prompt", "parent_session_id", "started_at", "ended_at",
    "end_reason", "title",
)  # fmt: skip
_MESSAGE_COLUMNS = (
    "id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "reasoning", "reasoning_content",
    "active", "compacted", "api_content",
)  # fmt: skip


def read(path: Path, name: str) -> list[ParsedSession]:
    """All sessions, oldest first. Raises ImportFailure for any other or damaged database, which it calls ``name``."""
    try:
        with _opened_copy(path) as connection:
            return _sessions(name, connection)
    except sqlite3.Error as error:
        raise ImportFailure(
            f"{name} is a damaged SQLite database: {error}", "Copy it again while the agent is idle."
        ) from error


def _sessions(name: str, connection: sqlite3.Connection) -> list[ParsedSession]:
    tables = {
        string(table)
        for table, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        if string(sql).lstrip().upper().startswith("CREATE TABLE")
    }
    if {"session", "message", "part"} <= tables:
        detection = Detection("opencode", 0.95, "an SQLite database with the tables session, message and part")
        raise ImportFailure(
            f"{name} looks like an OpenCode database (opencode: {detection.why}), which is not read yet",
            "Formats that are read from SQLite: hermes-agent.",
            [detection],
        )
    if not {"sessions", "messages"} <= tables:
        raise ImportFailure(
            f"{name} is an SQLite database without the tables sessions and messages",
            "Hermes Agent keeps its sessions in state.db.",
        )
    detection = Detection("hermes-agent", 0.97, "an SQLite database with the tables sessions and messages")
    session_columns = _present(connection, "sessions", _SESSION_COLUMNS)
    message_columns = _present(connection, "messages", _MESSAGE_COLUMNS)
    if "id" not in session_columns or not {"id", "role", "content"} <= set(message_columns):
        raise ImportFailure(
            f"{name} has sessions and messages without the columns of Hermes Agent", "Is it a state.db?"
        )
    order = "started_at, id" if "started_at" in session_columns else "id"
    found = []
    for stored in _rows(connection, "sessions", session_columns, f"ORDER BY {order}"):
        rows = _rows(connection, "messages", message_columns, "WHERE session_id = ? ORDER BY id", (stored["id"],))
        unreadable: Counter[str] = Counter()
        about = _without_blobs(stored, unreadable)
        session = start_session(about, detection)
        add_rows(session, (_without_blobs(row, unreadable) for row in rows), string(about.get("model")))
        for column, count in unreadable.items():
            session.warnings.append(f"{count} values of {column} are BLOBs that hold no text and are left out.")
        if about.get("end_reason") == "compression":
            tally(session.metadata, "end_reason/compression")
            session.records += 1
        if session.source_messages:
            found.append(session)
    if not found:
        raise ImportFailure(
            f"{name} is a Hermes Agent database without messages", "Was it copied without its -wal file?"
        )
    return found


def _present(connection: sqlite3.Connection, table: str, wanted: tuple[str, ...]) -> list[str]:
    present = {string(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}
    return [name for name in wanted if name in present]


def _rows(
    connection: sqlite3.Connection, table: str, columns: list[str], rest: str, values: tuple[Any, ...] = ()
) -> Iterator[dict[str, Any]]:
    # Table, columns and order are constants of this module; only values come from the file.
    query = f"SELECT {', '.join(columns)} FROM {table} {rest}"  # noqa: S608 - see above
    for row in connection.execute(query, values).fetchall():
        yield dict(zip(columns, row, strict=True))


def _without_blobs(row: dict[str, Any], unreadable: Counter[str]) -> dict[str, Any]:
    """SQLite keeps what it is given: text that was written as a BLOB is text; other bytes are counted and left out."""
    return {name: _text(name, value, unreadable) if isinstance(value, bytes) else value for name, value in row.items()}


def _text(column: str, value: bytes, unreadable: Counter[str]) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        unreadable[column] += 1
        return None


@contextmanager
def _opened_copy(path: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="hermes-state-") as folder:
        copy = Path(folder) / "state.db"
        shutil.copyfile(path, copy)
        log = path.with_name(path.name + "-wal")
        if log.is_file():
            shutil.copyfile(log, copy.with_name("state.db-wal"))
        with closing(sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_FIELD)
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            yield connection
