"""Which session files are measured: the recorded samples beside the repository, else the example's own."""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).resolve().parent.parent.parent / "shared" / "samples"


def claude_code_files(folder: Path) -> list[Path]:
    """Claude Code sessions; without the samples, the example's are written to ``folder``."""
    files = sorted((SAMPLES / "claude-code").glob("*.jsonl"))
    if files:
        return files
    from sessions.example import write_example

    return [path for path in write_example(folder) if path.suffix == ".jsonl" and "rollout" not in path.name]
