"""Two real workers on one database file share a search; one of them is killed in the middle of it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.compression.runs.test_killed_worker import ask, manage, stop, wait_until, worker

SESSIONS, TRIALS = 6, 12
PREPARE = f"""
from compression import sweeps
from compression.sweep_space import space_of
from compression.engine.presets import PRESETS
from sessions.models import Project
from tests.compression.sessions import parsed, store
project = Project.objects.create(name="Apollo", slug="apollo")
for number in range({SESSIONS}):
    store(parsed(14, key=f"k-{{number}}", lines=60), project)
base = PRESETS["chapter"].model_copy(update={{"context_window": 12_000, "recent_tokens": 2_000}})
space = space_of({{"trigger_ratio": {{"low": 0.6, "high": 0.9}}, "min_reclaim_tokens": [0, 500]}}, is_grid=False)
sweeps.start(project=project, base=base, label="small", space=space, trials={TRIALS})
"""
OF_CANDIDATES = "SELECT count(*) FROM compression_trial WHERE kind = 'candidate' AND state = 'done'"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    manage(tmp_path, "migrate", "--verbosity", "0", "--skip-checks")
    manage(tmp_path, "shell", "--verbosity", "0", "--command", PREPARE)
    return tmp_path


def done(home: Path) -> int:
    return int(ask(home, OF_CANDIDATES))


def test_a_killed_workers_trial_is_taken_up_and_nothing_is_lost_or_done_twice(home: Path) -> None:
    first, second = worker(home), worker(home)
    try:
        wait_until(lambda: done(home) >= 2)
        first.send_signal(signal.SIGKILL)
        first.wait()
        at_the_kill = done(home)

        wait_until(lambda: bool(ask(home, "SELECT state FROM compression_sweep") == "done"))
    finally:
        stop(first, second)

    assert at_the_kill < TRIALS
    assert done(home) == TRIALS
    trials = TRIALS + int(ask(home, "SELECT count(*) FROM compression_trial WHERE kind <> 'candidate'"))
    assert ask(home, "SELECT count(*) FROM compression_trialresult") == trials * SESSIONS
    assert ask(home, "SELECT count(DISTINCT policy_digest) FROM compression_trial WHERE state = 'done'") == trials
    assert ask(home, "SELECT count(*) FROM compression_trial WHERE state IN ('waiting', 'claimed', 'failed')") == 0
