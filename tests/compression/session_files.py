"""Session files that tests of the commands write, and what a command says about them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

LOGS = Path(__file__).parent.parent / "fixtures" / "logs"


def log_text(number: int, lines: int = 300) -> str:
    """A log whose middle line is an error of its own."""
    rows = [f"2026-03-01 10:{n // 60:02}:{n % 60:02} INFO job {n} of batch {number} done" for n in range(lines)]
    rows[lines // 2] = f"2026-03-01 10:02:30 ERROR batch {number} failed at src/batch_{number}.py:88: TimeoutError"
    return "\n".join(rows) + "\n"


def messages(calls: int = 4) -> list[dict[str, Any]]:
    """A messages array: a prompt, calls with long logs, an answer."""
    rows: list[dict[str, Any]] = [{"role": "user", "content": "Why does the batch fail?"}]
    for n in range(calls):
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {"command": f"cat batch_{n}.log"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": log_text(n)}
        rows.append({"role": "assistant", "content": [call]})
        rows.append({"role": "user", "content": [result]})
    rows.append({"role": "assistant", "content": "It times out."})
    return rows


def write_session(folder: Path, calls: int = 4) -> Path:
    path = folder / "session.json"
    path.write_text(json.dumps(messages(calls)), encoding="utf-8")
    return path


def write_policy(folder: Path) -> Path:
    """A policy whose window the session above overflows."""
    path = folder / "tight.toml"
    path.write_text("context_window = 20_000\nrecent_tokens = 2_000\nmin_reclaim_tokens = 100\n", encoding="utf-8")
    return path


def output(*arguments: str) -> str:
    """What a command prints on stdout."""
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def document(*arguments: str) -> Any:
    """The one JSON document that a command prints."""
    return json.loads(output(*arguments, "--json"))


def refusal(*arguments: str) -> str:
    """The complaint with which a command exits with status 2."""
    with pytest.raises(CommandError) as complaint:
        call_command(*arguments, stdout=StringIO(), stderr=StringIO())
    assert complaint.value.returncode == 2
    text = str(complaint.value)
    assert "Traceback" not in text
    return text
