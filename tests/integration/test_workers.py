"""Two workers on one PostgreSQL; one of them is killed in the middle of a run."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from channels_redis.core import RedisChannelLayer  # type: ignore[import-untyped]  # it ships no types

from tests.integration.machines import LEASE_SECONDS, Machines, machines, wait_until
from tests.integration.servers import Servers

SESSIONS, TURNS = 60, 14
START = f"""
from compression import runs
from compression.engine.presets import PRESETS
from sessions.models import Project
from tests.compression.sessions import parsed, store
project = Project.objects.create(name="Apollo", slug="apollo")
for number in range({SESSIONS}):
    store(parsed({TURNS}, key=f"k-{{number}}", lines=60), project)
policy = PRESETS["chapter"].model_copy(update={{"context_window": 12_000, "recent_tokens": 2_000}})
print(runs.start(project=project, policy=policy, label="small").pk)
"""


RUN = 1
TAKEN_TWICE = "SELECT count(*) FROM django_tasks_database_dbtaskresult WHERE jsonb_array_length(worker_ids) > 1"


@pytest.fixture(scope="module")
def prepared(servers: Servers, tables: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with sixty sessions and a run, in three tasks, that no worker has seen."""
    with machines(servers, tmp_path_factory.mktemp("prepared"), like=tables) as made:
        assert made.shell(START) == str(RUN)
        yield made.name


@pytest.fixture
def installation(servers: Servers, prepared: str, tmp_path: Path) -> Iterator[Machines]:
    with machines(servers, tmp_path, like=prepared) as made:
        yield made


def done(installation: Machines) -> int:
    return int(installation.ask("SELECT count(*) FROM compression_runresult WHERE state = 'done'"))


def is_over(installation: Machines) -> bool:
    return bool(installation.ask("SELECT state = 'done' FROM compression_run"))


def at_work(installation: Machines) -> int:
    """Workers that have taken a task."""
    return int(
        installation.ask(
            "SELECT count(DISTINCT worker_ids ->> 0) FROM django_tasks_database_dbtaskresult WHERE status <> 'READY'"
        )
    )


def test_nothing_is_lost_and_nothing_done_twice_when_one_of_two_workers_is_killed(installation: Machines) -> None:
    with installation.worker() as first, installation.worker():
        wait_until(lambda: at_work(installation) == 2 and done(installation) >= 5)
        first.send_signal(signal.SIGKILL)
        first.wait()
        at_the_kill = done(installation)
        wait_until(lambda: is_over(installation))

    assert at_the_kill < SESSIONS
    assert installation.ask("SELECT count(*) FROM compression_runresult") == SESSIONS
    assert installation.ask("SELECT count(DISTINCT session_id) FROM compression_runresult") == SESSIONS
    assert done(installation) == SESSIONS
    assert installation.ask("SELECT sum(turns) FROM compression_runresult") == TURNS * SESSIONS
    assert installation.ask("SELECT count(*) FROM compression_storedreplay") == SESSIONS
    # What the killed worker was at, one session at most, was claimed once more; nothing else was.
    assert installation.ask("SELECT sum(claims) FROM compression_runresult") - SESSIONS in (0, 1)
    assert installation.ask(TAKEN_TWICE) == 0


def test_a_run_whose_only_worker_was_killed_is_finished_by_one_that_starts_later(installation: Machines) -> None:
    with installation.worker():
        wait_until(lambda: done(installation) >= 3)
    at_the_kill = done(installation)
    time.sleep(LEASE_SECONDS)
    with installation.worker():
        wait_until(lambda: is_over(installation))

    assert at_the_kill < SESSIONS
    assert done(installation) == SESSIONS
    assert installation.ask("SELECT sum(claims) FROM compression_runresult") - SESSIONS in (0, 1)


def test_a_worker_tells_over_redis_that_its_run_moves(installation: Machines) -> None:
    async def heard() -> Any:
        layer = RedisChannelLayer(hosts=[{"address": installation.redis_url, "socket_timeout": 90}], prefix="hermes")
        name = await layer.new_channel()
        await layer.group_add(f"run-{RUN}", name)
        with installation.worker():
            async with asyncio.timeout(60):
                word = await layer.receive(name)
        await layer.close_pools()
        return word

    assert asyncio.run(heard()) == {"type": "run.moved"}


def test_workers_go_on_without_redis(installation: Machines) -> None:
    installation.redis_url = "redis://127.0.0.1:1/0"
    with installation.worker():
        wait_until(lambda: is_over(installation))

    assert done(installation) == SESSIONS
