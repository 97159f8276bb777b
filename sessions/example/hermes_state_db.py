"""Writes a plan as a Hermes Agent ``state.db``: one session, two generations of messages.

Before the compaction rows were live; after it they stay with ``active`` 0 and ``compacted`` 1, and the kept
head, the summary and the kept tail follow as new rows. Tool schemas are not in such a database.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

from sessions.example.counting import prompt_tokens, response_tokens
from sessions.example.openai_chat import chat_messages
from sessions.example.script import minutes
from sessions.example.watch_session import SUMMARY, SYSTEM, WatchSession

SCHEMA_VERSION = 22
MODEL = "anthropic/claude-sonnet-4"
TITLE = "Why is /var almost full"
SCHEMA = """
create table schema_version (version integer not null);
create table sessions (
    id text primary key, source text not null, user_id text, model text, model_config text, system_prompt text,
    parent_session_id text references sessions(id), started_at real not null, ended_at real, end_reason text,
    message_count integer default 0, tool_call_count integer default 0, input_tokens integer default 0,
    output_tokens integer default 0, cache_read_tokens integer default 0, cache_write_tokens integer default 0,
    reasoning_tokens integer default 0, cwd text, git_branch text, title text, api_call_count integer default 0,
    archived integer default 0
);
create table messages (
    id integer primary key, session_id text not null references sessions(id), role text not null, content text,
    tool_call_id text, tool_calls text, tool_name text, timestamp real not null, token_count integer,
    finish_reason text, reasoning text, reasoning_content text, reasoning_details text,
    active integer not null default 1, compacted integer not null default 0, api_content text
);
create index messages_by_session on messages(session_id, timestamp);
"""
INSERT_MESSAGE = """
insert into messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, finish_reason,
                      reasoning, active, compacted)
values (:session_id, :role, :content, :tool_call_id, :tool_calls, :tool_name, :timestamp, :finish_reason,
        :reasoning, :active, :compacted)
"""
INSERT_SESSION = """
insert into sessions (id, source, model, model_config, system_prompt, started_at, ended_at, end_reason, message_count,
                      tool_call_count, input_tokens, output_tokens, cwd, title, api_call_count)
values (:id, :source, :model, :model_config, :system_prompt, :started_at, :ended_at, :end_reason, :message_count,
        :tool_call_count, :input_tokens, :output_tokens, :cwd, :title, :api_call_count)
"""
VERSION_FIELDS = slice(92, 100)  # change counter and library version: the only bytes that differ between SQLite builds


def write_state_db(path: Path, plan: WatchSession, *, started: datetime) -> None:
    """Write the database; an existing file is replaced."""
    path.unlink(missing_ok=True)
    session_id = f"{started:%Y%m%d_%H%M%S}_4be21c"
    old, new = message_rows(plan, "before", started), message_rows(plan, "after", started)
    kept_head, kept_tail = old[: plan.kept_head_messages], old[-plan.kept_tail_messages :]
    compacted_at = old[-1]["timestamp"] + 20
    summary = {**old[0], "content": SUMMARY, "timestamp": compacted_at}
    rows = [{**row, "active": 0, "compacted": 1} for row in old]
    rows += [{**row, "active": 1, "compacted": 0} for row in [*kept_head, summary, *kept_tail, *new]]
    connection = sqlite3.connect(path)
    try:
        connection.execute("pragma page_size = 4096")
        connection.execute("pragma auto_vacuum = 0")
        connection.executescript(SCHEMA)
        connection.execute("insert into schema_version values (?)", (SCHEMA_VERSION,))
        responses = (*plan.before.responses, *plan.after.responses)
        session = {
            "id": session_id, "source": "cli", "model": MODEL, "model_config": "{}", "system_prompt": SYSTEM,
            "started_at": started.timestamp(), "ended_at": new[-1]["timestamp"], "end_reason": "user_exit",
            "message_count": len(rows), "tool_call_count": sum(len(response.calls) for response in responses),
            "input_tokens": prompt_tokens(SYSTEM) * len(responses),
            "output_tokens": sum(response_tokens(response) for response in responses),
            "cwd": "/root", "title": TITLE, "api_call_count": len(responses),
        }  # fmt: skip
        connection.execute(INSERT_SESSION, session)
        connection.executemany(INSERT_MESSAGE, [{**row, "session_id": session_id} for row in rows])
        connection.commit()
    finally:
        connection.close()
    data = bytearray(path.read_bytes())
    data[VERSION_FIELDS] = data[24:28] + (3_045_000).to_bytes(4, "big")
    path.write_bytes(bytes(data))


def message_rows(plan: WatchSession, side: str, started: datetime) -> list[dict[str, Any]]:
    """The rows of one exchange; tool results are JSON strings with output and exit code."""
    exchange = plan.before if side == "before" else plan.after
    start = started.timestamp()
    names: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    times = iter(minutes(exchange))
    time = start + exchange.start_minute * 60
    thoughts = iter(exchange.responses)
    for message in chat_messages((exchange,)):
        calls = message.get("tool_calls", [])
        names.update({call["id"]: call["function"]["name"] for call in calls})
        reasoning, finish = None, None
        if message["role"] == "assistant":
            time = start + next(times) * 60
            reasoning, finish = next(thoughts).thinking or None, "tool_calls" if calls else "stop"
        elif message["role"] == "tool":
            time += 2
        content = message["content"] or ""
        if message["role"] == "tool":
            content = json.dumps({"output": content, "exit_code": 0, "error": None})
        rows.append(
            {
                "role": message["role"],
                "content": content,
                "tool_call_id": message.get("tool_call_id"),
                "tool_calls": json.dumps(calls) if calls else None,
                "tool_name": names.get(message.get("tool_call_id", "")),
                "timestamp": round(time, 3),
                "finish_reason": finish,
                "reasoning": reasoning,
            }
        )
    return rows
