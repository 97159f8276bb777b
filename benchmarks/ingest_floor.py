"""The floor of an import, as a process of its own: orjson, one batched count, raw sqlite3 inserts.

Run as ``python -m benchmarks.ingest_floor DATABASE FILE...``. It understands nothing of a session.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from toktok import batch_count


def strings(value: Any) -> Iterator[str]:
    """Every string of a message's content."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def blocks_of(content: Any) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def main(database: str, names: list[str]) -> None:
    connection = sqlite3.connect(database, autocommit=False)
    connection.execute(
        "CREATE TABLE message (session TEXT, position INT, role TEXT, time TEXT, tokens INT, parts TEXT)"
    )
    connection.execute("CREATE TABLE original (sha256 TEXT PRIMARY KEY, text TEXT, size INT)")
    connection.execute("CREATE UNIQUE INDEX one_message ON message (session, position)")
    for name in names:
        messages: list[tuple[dict[str, Any], dict[str, Any]]] = []
        originals: dict[str, str] = {}
        with Path(name).open("rb") as stream:
            for line in stream:
                try:
                    record = orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue
                message = record.get("message") if isinstance(record, dict) else None
                if isinstance(message, dict):
                    messages.append((record, message))
        texts = [list(strings(message.get("content"))) for _, message in messages]
        flat = [text for row in texts for text in row]
        counts = iter(batch_count(flat, "o200k_base"))
        rows = []
        for position, ((record, message), row) in enumerate(zip(messages, texts, strict=True)):
            tokens = sum(next(counts) for _ in row)
            content = message.get("content")
            for block in blocks_of(content):
                if block.get("type") == "tool_result":
                    text = "\n".join(strings(block.get("content")))
                    originals[sha256(text.encode()).hexdigest()] = text
            blocks = [block for block in blocks_of(content) if block.get("type") != "tool_result"]
            parts = orjson.dumps(blocks).decode()
            rows.append((name, position, message.get("role"), record.get("timestamp"), tokens, parts))
        connection.executemany("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.executemany(
            "INSERT OR IGNORE INTO original VALUES (?, ?, ?)",
            [(sha, text, len(text)) for sha, text in originals.items()],
        )
        connection.commit()
    connection.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
