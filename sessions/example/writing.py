"""Writes all example sessions into a folder, the same bytes each time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sessions.example.claude_code import ClaudeCodeFile
from sessions.example.codex import rollout
from sessions.example.coding_session import coding_session
from sessions.example.compacted_session import KEPT_RESULTS, compacted_session
from sessions.example.export_session import AGENTS_FILE, INSTRUCTIONS, export_session
from sessions.example.hermes_state_db import write_state_db
from sessions.example.openai_chat import chat_file
from sessions.example.support_session import SYSTEM, support_session
from sessions.example.watch_session import watch_session

HIDDEN_TOKENS = 3_180
TOKEN_FACTOR = 1.04
CODING_FILE = "two-hour-coding-session.jsonl"


def write_example(folder: Path) -> list[Path]:
    """Write the files and return their paths, the two-hour session first. The folder is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        CODING_FILE: coding_file(),
        "compacted-by-the-agent.jsonl": compacted_file(),
        "rollout-export-option.jsonl": rollout(
            export_session(),
            instructions=INSTRUCTIONS,
            agents_file=AGENTS_FILE,
            started=datetime(2025, 10, 15, 9, 12, 3, tzinfo=UTC),
        ),
        "support-chat.json": chat_file(support_session(), system=SYSTEM),
    }
    paths = []
    for name, data in contents.items():
        path = folder / name
        path.write_bytes(data)
        paths.append(path)
    database = folder / "state.db"
    write_state_db(database, watch_session(), started=datetime(2025, 10, 16, 6, 40, 0, tzinfo=UTC))
    return [*paths, database]


def coding_file() -> bytes:
    """The two-hour coding session as a Claude Code file."""
    file = ClaudeCodeFile(
        "coding",
        datetime(2025, 10, 14, 7, 58, 12, tzinfo=UTC),
        hidden=HIDDEN_TOKENS,
        factor=TOKEN_FACTOR,
        title="Two hours on a failing order import",
    )
    for exchange in coding_session():
        file.exchange(exchange)
    return file.as_bytes()


def compacted_file() -> bytes:
    """The session with one clearing of results and one compaction by the agent itself."""
    plan = compacted_session()
    file = ClaudeCodeFile(
        "compacted",
        datetime(2025, 10, 17, 13, 5, 40, tzinfo=UTC),
        hidden=HIDDEN_TOKENS,
        factor=TOKEN_FACTOR,
        title="One reader for all adapters",
    )
    file.exchange(plan.before_micro)
    file.micro_compact(KEPT_RESULTS, plan.micro_minute)
    file.exchange(plan.before_compact)
    file.compact(plan.summary, plan.compact_minute)
    file.exchange(plan.after_compact)
    return file.as_bytes()
