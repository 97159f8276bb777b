"""The example files are the same bytes each time, and of the shapes that their formats have."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from sessions.example import write_example
from sessions.example.outputs import git_log
from sessions.example.project_files import adapter_text, numbered

SHA256: dict[str, str] = {
    "two-hour-coding-session.jsonl": "506f0de2c4680e674087b0e9f9615b6ff134b79c6880642c1a9fd8aaf2e39121",
    "compacted-by-the-agent.jsonl": "abc04d7fbe064c0ffaf55fd5491ed36a5c9ba571c40238478064c9a12bae5bea",
    "rollout-export-option.jsonl": "1e10c6935c0365f9e92ff364492fcc04685011a1545dab3d2978c0b077f01ca2",
    "support-chat.json": "175d145cf8e3703548c30d0f3274883f1061251db3857496c52f644c444ceac5",
}
DATABASE_ROWS_SHA256 = "dbcb8771f9e9acc2cb04851daebc881de28c91812b1078967e20d726f67dea0e"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    write_example(folder)
    return folder


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / name).read_bytes().splitlines()]


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "state.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_the_files_have_their_pinned_bytes(folder: Path) -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.json*")}

    assert found == SHA256


def test_the_database_has_its_pinned_rows(folder: Path) -> None:
    """Pages may differ between builds of SQLite, rows may not."""
    tables = ("schema_version", "sessions", "messages")
    content = [rows(folder, f"select * from {table} order by 1") for table in tables]

    assert hashlib.sha256(json.dumps(content).encode()).hexdigest() == DATABASE_ROWS_SHA256


def test_writing_twice_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = write_example(tmp_path)

    assert [path.read_bytes() for path in again] == [(folder / path.name).read_bytes() for path in again]


def test_writing_over_older_files_is_fine(tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write_example(tmp_path)]

    assert [path.read_bytes() for path in write_example(tmp_path)] == first


def test_the_two_hour_session_comes_first(tmp_path: Path) -> None:
    assert [path.name for path in write_example(tmp_path)] == [
        "two-hour-coding-session.jsonl",
        "compacted-by-the-agent.jsonl",
        "rollout-export-option.jsonl",
        "support-chat.json",
        "state.db",
    ]


def test_the_compacted_session_has_one_boundary_of_each_kind(folder: Path) -> None:
    records = lines(folder, "compacted-by-the-agent.jsonl")
    boundaries = [record for record in records if record.get("subtype", "").endswith("boundary")]

    assert [record["subtype"] for record in boundaries] == ["microcompact_boundary", "compact_boundary"]
    assert len(boundaries[0]["microcompactMetadata"]["compactedToolIds"]) == 4
    assert boundaries[1]["parentUuid"] is None
    assert records[records.index(boundaries[1]) + 1]["isCompactSummary"] is True


def test_the_context_falls_by_what_the_clearing_says_it_saved(folder: Path) -> None:
    records = lines(folder, "compacted-by-the-agent.jsonl")
    position = next(i for i, record in enumerate(records) if record.get("subtype") == "microcompact_boundary")
    metadata = records[position]["microcompactMetadata"]
    after = next(record for record in records[position:] if record["type"] == "assistant")["message"]["usage"]
    context = after["input_tokens"] + after["cache_read_input_tokens"] + after["cache_creation_input_tokens"]

    assert (
        metadata["preTokens"] - metadata["tokensSaved"] < context < metadata["preTokens"] - metadata["tokensSaved"] + 50
    )


def test_the_rollout_mirrors_messages_and_counts_each_call_twice(folder: Path) -> None:
    records = lines(folder, "rollout-export-option.jsonl")
    kinds = Counter((record["type"], record["payload"].get("type")) for record in records)
    totals = [
        record["payload"]["info"]["total_token_usage"]["total_tokens"]
        for record in records
        if record["payload"].get("type") == "token_count" and record["payload"]["info"]
    ]

    assert kinds["event_msg", "user_message"] == 1
    assert kinds["event_msg", "agent_message"] == 2
    assert kinds["response_item", "function_call"] == kinds["response_item", "function_call_output"] == 6
    assert list(Counter(totals).values()) == [2] * 6


def test_chat_results_follow_the_message_with_their_calls(folder: Path) -> None:
    messages = orjson.loads((folder / "support-chat.json").read_bytes())
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert waiting == []
            waiting = [call["id"] for call in message.get("tool_calls", [])]

    assert [message["role"] for message in messages[:4]] == ["system", "user", "assistant", "tool"]
    assert waiting == []


def test_the_database_holds_two_generations(folder: Path) -> None:
    found = rows(folder, "select active, compacted, count(*) from messages group by 1, 2 order by 1")

    assert found == [(0, 1, 12), (1, 0, 15)]


def test_the_database_is_sound(folder: Path) -> None:
    assert rows(folder, "pragma integrity_check") == [("ok",)]


def test_live_calls_of_the_database_have_their_results(folder: Path) -> None:
    live = "from messages where active = 1"
    calls = [
        call["id"]
        for (text,) in rows(folder, f"select tool_calls {live} and tool_calls is not null order by id")
        for call in json.loads(text)
    ]

    assert [name for (name,) in rows(folder, f"select tool_call_id {live} and role = 'tool' order by id")] == calls


def test_a_read_is_numbered_from_the_line_it_starts_at() -> None:
    assert numbered("one\ntwo\nthree\n", 2, 1) == "     2→two"


def test_an_adapter_is_python() -> None:
    compile(adapter_text("quarry"), "quarry.py", "exec")


def test_commits_go_back_in_time() -> None:
    days = [line.split()[1] for line in git_log(110).split("\n")]

    assert days == sorted(days, reverse=True)
    assert days[0] == "2025-10-12"
