"""Import of Claude Code sessions as a whole process, against the floor process on the same files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus import claude_code_files
from benchmarks.measuring import Row, medians

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 2.0


def rows() -> list[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = claude_code_files(folder)
        fresh = folder / "fresh"
        environment = {**os.environ, "HERMES_DATA_DIR": str(fresh)}
        _manage(environment, "migrate", "--verbosity", "0", "--skip-checks")
        empty = (fresh / "hermes.sqlite3").read_bytes()
        number = 0

        def ours() -> None:
            nonlocal number
            number += 1
            home = folder / f"home{number}"
            home.mkdir()
            (home / "hermes.sqlite3").write_bytes(empty)
            own = {**os.environ, "HERMES_DATA_DIR": str(home), "HERMES_SECRET_KEY": "benchmark" * 8}
            _manage(own, "ingest", *map(str, files), "--project", "bench", "--create-project")

        def floor() -> None:
            nonlocal number
            number += 1
            command = [sys.executable, "-m", "benchmarks.ingest_floor", str(folder / f"{number}.sqlite3")]
            subprocess.run([*command, *map(str, files)], check=True, cwd=ROOT)

        mine, least = medians(ours, floor)
        size = sum(path.stat().st_size for path in files) / 1e6
    detail = f"{size:.1f} MB: {mine:.2f} s against {least:.2f} s"
    return [
        Row("ingest, whole process / floor process", mine / least, "x", LIMIT, detail),
        Row("ingest throughput, start-up included", size / mine, "MB/s"),
    ]


def _manage(environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
