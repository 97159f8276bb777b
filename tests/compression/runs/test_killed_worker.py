"""Two real workers on one database file; one of them is killed in the middle of a run."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site

SETTINGS = "tests.compression.runs.worker_settings"
SESSIONS = 40
PREPARE = f"""
from compression import runs
from compression.engine.presets import PRESETS
from sessions.models import Project
from tests.compression.sessions import parsed, store
project = Project.objects.create(name="Apollo", slug="apollo")
for number in range({SESSIONS}):
    store(parsed(14, key=f"k-{{number}}", lines=60), project)
policy = PRESETS["chapter"].model_copy(update={{"context_window": 12_000, "recent_tokens": 2_000}})
print(runs.start(project=project, policy=policy, label="small").pk)
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with sessions and a run that no worker has seen."""
    home = tmp_path_factory.mktemp("prepared")
    manage(home, "migrate", "--verbosity", "0", "--skip-checks")
    manage(home, "shell", "--verbosity", "0", "--command", PREPARE)
    return home


@pytest.fixture
def home(prepared: Path, tmp_path: Path) -> Path:
    with closing(sqlite3.connect(prepared / "w.sqlite3")) as database:
        database.execute("VACUUM INTO ?", [str(tmp_path / "w.sqlite3")])
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    own = {
        "HERMES_DATA_DIR": str(home),
        "DJANGO_SETTINGS_MODULE": SETTINGS,
        "DATABASE_URL": f"sqlite:///{home}/w.sqlite3",
    }
    return {**os.environ, **own}


def manage(home: Path, *arguments: str) -> None:
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, check=True, cwd=site.BASE_DIR, env=environment(home), stdout=subprocess.DEVNULL)


def ask(home: Path, question: str) -> Any:
    """One figure, read past Django: starting it takes longer than a worker needs for many sessions."""
    with closing(sqlite3.connect(home / "w.sqlite3", timeout=60)) as database:
        return database.execute(question).fetchone()[0]


def done(home: Path) -> int:
    return int(ask(home, "SELECT count(*) FROM compression_runresult WHERE state = 'done'"))


def is_over(home: Path) -> bool:
    return bool(ask(home, "SELECT state FROM compression_run") == "done")


def assert_all_was_done_once(home: Path) -> None:
    assert ask(home, "SELECT count(*) FROM compression_runresult") == SESSIONS
    assert done(home) == SESSIONS
    assert ask(home, "SELECT sum(turns) FROM compression_runresult") == 14 * SESSIONS
    assert ask(home, "SELECT count(*) FROM compression_storedreplay") == SESSIONS


def worker(home: Path) -> subprocess.Popen[bytes]:
    options = ["-v", "0", "--no-startup-delay", "--no-reload", "--interval", "0.1"]
    return subprocess.Popen(
        [sys.executable, "manage.py", "db_worker", *options], cwd=site.BASE_DIR, env=environment(home)
    )


def test_a_killed_workers_run_is_finished_by_the_other_and_nothing_is_counted_twice(home: Path) -> None:
    first, second = worker(home), worker(home)
    try:
        wait_until(lambda: done(home) >= 5)
        first.send_signal(signal.SIGKILL)
        first.wait()
        at_the_kill = done(home)

        wait_until(lambda: is_over(home))
    finally:
        stop(first, second)

    assert at_the_kill < SESSIONS
    assert_all_was_done_once(home)


def test_a_run_whose_only_worker_was_killed_is_finished_by_the_next_one(home: Path) -> None:
    first = worker(home)
    try:
        wait_until(lambda: done(home) >= 3)
    finally:
        stop(first)
    at_the_kill = done(home)
    second = worker(home)
    try:
        wait_until(lambda: is_over(home))
    finally:
        stop(second)

    assert at_the_kill < SESSIONS
    assert_all_was_done_once(home)
    # The row of the killed worker's task stays as it was, and held nothing up.
    assert ask(home, "SELECT count(*) FROM django_tasks_database_dbtaskresult WHERE status = 'RUNNING'") >= 1


def stop(*processes: subprocess.Popen[bytes]) -> None:
    """As a machine stops them that loses its power."""
    for process in processes:
        process.kill()
        process.wait()


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)
