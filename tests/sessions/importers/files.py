"""Where the hand-written logs are, and how a test writes one of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sessions.importers import read_sessions
from sessions.importers.parsed import ParsedSession

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


def read_one(name: str) -> ParsedSession:
    """The only session of a fixture."""
    (session,) = read_sessions(LOGS / name)
    return session


def write_lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def claude_user(uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message, **more}


def claude_answer(uuid: str, parent: str | None, response: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    message = {"id": response, "role": "assistant", "model": "claude-x", "content": list(blocks)}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message, **more}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def outline(session: ParsedSession) -> list[str]:
    """One word a message: its role and what its parts are."""
    return [f"{message.role}:{'+'.join(part.kind for part in message.parts)}" for message in session.messages]
