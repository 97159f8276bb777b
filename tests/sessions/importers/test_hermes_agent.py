import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sessions.importers import ImportFailure, read_sessions
from sessions.importers.parsed import ParsedBoundary
from tests.sessions.importers.files import outline, read_one

SESSION = "20260102_101500_ab12cd"
CALL = '[{"id":"call_1","type":"function","function":{"name":"terminal","arguments":"{}"}}]'


def _database(
    path: Path, rows: list[tuple[Any, ...]], *, journal: str = "DELETE", end_reason: str | None = None
) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT,"
            " system_prompt TEXT, parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, title TEXT,"
            " input_tokens INTEGER)"
        )
        connection.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,"
            " tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, reasoning TEXT,"
            " active INTEGER, compacted INTEGER, api_content TEXT)"
        )
        connection.execute(
            "INSERT INTO sessions VALUES (?, 'cli', 'anthropic/claude-sonnet-4', NULL, 'You are Hermes.', NULL,"
            " 1767348900.1, NULL, ?, NULL, 999999)",
            (SESSION, end_reason),
        )
        connection.executemany(
            f"INSERT INTO messages VALUES (?, '{SESSION}', ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)",  # values of this test
            rows,
        )
        connection.commit()
    return path


FIRST_GENERATION: list[tuple[Any, ...]] = [
    (1, "user", "Why does the import fail?", None, None, None, 1.0, 0, 1, None),
    (2, "assistant", "", None, CALL, None, 2.0, 0, 1, None),
    (3, "tool", '{"output": "KeyError: id", "exit_code": 1}', "call_1", None, "terminal", 3.0, 0, 1, None),
    (4, "assistant", "The field id is missing.", None, None, None, 4.0, 0, 1, None),
    (5, "user", "Fix it", None, None, None, 5.0, 0, 1, None),
]
SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] The import failed."


def test_all_generations_are_one_history_with_a_boundary(tmp_path: Path) -> None:
    path = _database(
        tmp_path / "state.db",
        [
            *FIRST_GENERATION,
            (6, "user", "Why does the import fail?", None, None, None, 1.0, 1, 0, None),
            (7, "user", SUMMARY, None, None, None, 6.0, 1, 0, None),
            (8, "assistant", "The field id is missing.", None, None, None, 4.0, 1, 0, None),
            (9, "user", "Fix it", None, None, None, 5.0, 1, 0, None),
            (10, "assistant", "Fixed.", None, None, None, 7.0, 1, 0, None),
        ],
    )

    (session,) = read_sessions(path)

    assert [message.parts[0].text for message in session.messages if message.role == "user"] == [
        "Why does the import fail?",
        "Fix it",
        SUMMARY,
    ]
    assert session.boundaries == [ParsedBoundary(6, "compact", summary=6, preserved=(0, 1, 4, 5))]
    assert session.metadata["row copied by a compaction"] == 3
    assert (session.key, session.message_records, session.records) == (SESSION, 7, 10)


def test_a_result_that_was_rewritten_in_its_copy_counts_as_cleared(tmp_path: Path) -> None:
    path = _database(
        tmp_path / "state.db",
        [
            *FIRST_GENERATION[:3],
            (4, "user", SUMMARY, None, None, None, 6.0, 1, 0, None),
            (5, "assistant", "", None, CALL, None, 2.0, 1, 0, None),
            (6, "tool", "[terminal] 1 line", "call_1", None, "terminal", 3.0, 1, 0, None),
            (7, "assistant", "Going on.", None, None, None, 7.0, 1, 0, None),
        ],
    )

    (session,) = read_sessions(path)

    assert session.boundaries == [ParsedBoundary(4, "compact", 4, preserved=(0, 2, 3), cleared_call_ids=("call_1",))]
    assert session.messages[3].parts[0].text == '{"output": "KeyError: id", "exit_code": 1}'


def test_rows_that_the_user_took_back_are_counted_and_left_out(tmp_path: Path) -> None:
    rows = [*FIRST_GENERATION, (6, "assistant", "No.", None, None, None, 6.0, 0, 0, None)]

    (session,) = read_sessions(_database(tmp_path / "state.db", rows))

    assert dict(session.skipped) == {"rewound by the user": 1}
    assert len(session.messages) == 6


def test_what_was_really_sent_and_structured_content_are_decoded(tmp_path: Path) -> None:
    rows = [
        (1, "user", '\x00json:[{"type": "text", "text": "Look"}]', None, None, None, 1.0, 1, 0, None),
        (2, "assistant", "shown", None, None, None, 2.0, 1, 0, "sent"),
    ]

    (session,) = read_sessions(_database(tmp_path / "state.db", rows))

    assert [message.parts[0].text for message in session.messages] == ["You are Hermes.", "Look", "sent"]


def test_text_in_blobs_is_text_and_other_bytes_are_counted_and_left_out(tmp_path: Path) -> None:
    rows = [
        (1, "user", "Grüße".encode(), None, None, None, 1.0, 1, 0, None),
        (2, "assistant", b"\xff\xfe\x00", None, b"[[[", None, 2.0, 1, 0, None),
        (3, b"\xff", "no role", None, None, None, 3.0, 1, 0, None),
    ]

    (session,) = read_sessions(_database(tmp_path / "state.db", rows))

    assert [message.parts[0].text for message in session.messages[:2]] == ["You are Hermes.", "Grüße"]
    assert dict(session.skipped) == {"unknown role ''": 1}
    assert session.warnings == [
        "1 values of content are BLOBs that hold no text and are left out.",
        "1 values of role are BLOBs that hold no text and are left out.",
    ]


def test_rows_that_stand_only_in_the_write_ahead_log_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = _database(tmp_path / "state.db", FIRST_GENERATION[:2], journal="WAL")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute(
            "INSERT INTO messages (id, session_id, role, content) VALUES (9, ?, 'assistant', 'late')", (SESSION,)
        )
        writer.commit()
        before = path.read_bytes()

        (session,) = read_sessions(path)

        assert session.messages[-1].parts[0].text == "late"
        assert path.read_bytes() == before


def test_a_view_in_place_of_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT)")
        connection.execute("CREATE VIEW messages AS SELECT 1 AS id, 'user' AS role, 'x' AS content, '1' AS session_id")
        connection.commit()

    with pytest.raises(ImportFailure) as failure:
        read_sessions(path)

    assert failure.value.message == "state.db is an SQLite database without the tables sessions and messages"


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"SQLite format 3\x00" + b"\x07" * 3000)

    with pytest.raises(ImportFailure) as failure:
        read_sessions(path)

    assert failure.value.message.startswith("state.db is a damaged SQLite database: ")


def test_an_opencode_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as connection:
        for table in ("session", "message", "part"):
            connection.execute(f"CREATE TABLE {table} (id TEXT)")
        connection.commit()

    with pytest.raises(ImportFailure) as failure:
        read_sessions(path)

    assert failure.value.guesses[0].format == "opencode"


def test_a_session_document_has_system_prompt_tools_and_thinking() -> None:
    session = read_one("hermes-session.json")

    assert outline(session) == [
        "system:text",
        "user:text",
        "assistant:thinking+tool_call",
        "tool:tool_result",
        "assistant:text",
    ]
    assert (session.key, session.format, session.source_messages) == (SESSION, "hermes-agent", 4)
    assert '"terminal"' in session.tools_json


def test_a_legacy_transcript_has_its_schemas_and_a_summary_that_is_no_model_call() -> None:
    session = read_one("hermes-legacy.jsonl")

    assert session.boundaries == [ParsedBoundary(1, "compact", 1, preserved=(0,), originals_in_file=False)]
    assert [turn.request_end for turn in session.turns] == [3, 5]
    assert session.metadata["session_meta"] == 1


def test_an_export_says_that_it_is_the_view_after_compaction(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_text(
        '{"id":"s1","source":"cli","started_at":1767348900.1,"message_count":2,"messages":'
        '[{"id":1,"role":"user","content":"Hi"},{"id":2,"role":"assistant","content":"Hello"}]}\n'
    )

    (session,) = read_sessions(path)

    assert session.key == "s1"
    assert session.warnings == [
        "An export holds active rows only: this is the view after compaction. Import state.db to see all."
    ]
