"""``python -m tests.integration``: these tests, and the part of the suite that the database decides, on PostgreSQL.

Starts the servers for as long as pytest runs; options on the command line are pytest's. Redis is met by the processes
that these tests start, because loops that come and go with each test are no way to use it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.integration.servers import Missing, servers

ROOT = Path(__file__).parents[2]
PART = [
    "tests/integration",
    "tests/test_migrations.py",
    "tests/test_rights.py",
    "tests/sessions",
    "tests/compression/runs",
    "tests/compression/live/test_api.py",
    "tests/compression/test_api.py",
    "tests/compression/test_policy_drafts.py",
    "tests/compression/test_policy_views.py",
    "tests/compression/test_recall.py",
]
"""Views, ingest, runs, the API of live agents, policies: what asks the database more than it computes."""
ELSEWHERE = [
    "tests/sessions/importers",
    "tests/sessions/example",
    "tests/sessions/test_commands.py",
    "tests/sessions/test_terminal.py",
    "tests/compression/runs/test_killed_worker.py",
]
"""Bytes, generated text, the command line, and workers on a file of SQLite: no database server comes up in them."""


def main(arguments: list[str]) -> int:
    try:
        with servers() as started:
            own = {"DATABASE_URL": f"{started.postgres_url}postgres"}
            left_out = [f"--ignore={path}" for path in ELSEWHERE]
            command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", *left_out, *PART, *arguments]
            return subprocess.run(command, cwd=ROOT, env=os.environ | own).returncode
    except Missing as missing:
        print(missing, file=sys.stderr)  # noqa: T201  # a command's own word
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
