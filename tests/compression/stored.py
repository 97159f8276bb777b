"""A hand-written session file that tests of stored sessions share."""

from __future__ import annotations

from pathlib import Path

FIXTURE = Path(__file__).parent.parent / "fixtures" / "logs" / "claude-code.jsonl"
