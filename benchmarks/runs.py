"""Runs in the background: 1,000 generated sessions with one worker process and with two, and pages over 10,000.

Everything happens in databases of its own. What is measured of a run is the time from its first claim to its
last result, with workers that are warm.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.database import fresh, use
from benchmarks.measuring import Row
from benchmarks.pages import grown
from benchmarks.session_page import made

ROOT = Path(__file__).resolve().parent.parent
SESSIONS, TURNS = 1_000, 24
WARM_UP = 75
FEW, MANY = 1_000, 10_000
SECONDS_AT_MOST = 150
TWO_OF_ONE = 1 / 1.6
SMALL_WINDOW = {"extends": "chapter", "context_window": 24_000, "recent_tokens": 4_000, "name": "small"}


def rows() -> list[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = [*shared_runs(folder), *pages(folder / "pages.sqlite3")]
        use(folder / "pages.sqlite3")
        return found


def shared_runs(folder: Path) -> list[Row]:
    """One worker against two, on copies of one database."""
    from django.db import connection

    from sessions.ingest import FileFacts, ingest

    project = fresh(folder / "sessions.sqlite3")
    facts = FileFacts(name="bench.jsonl", sha256="0" * 64, size=1)
    multiply(ingest(made(TURNS), project=project, file=facts).session)
    seconds, cpu = {}, {}
    for workers in (1, 2):
        copy = folder / f"workers-{workers}.sqlite3"
        use(folder / "sessions.sqlite3")
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(copy)])
        use(copy)
        spent = children_cpu()
        with working(copy, workers):
            run_of(project, WARM_UP, trigger_ratio=0.7)
            seconds[workers] = run_of(project, SESSIONS)
        cpu[workers] = children_cpu() - spent
    detail = f"{SESSIONS} sessions of {TURNS} turns: {seconds[1]:.1f} s, {seconds[2]:.1f} s; {os.cpu_count()} cores"
    return [
        Row("run, one worker", SESSIONS / seconds[1], "/s", None, detail),
        Row("run, two workers", SESSIONS / seconds[2], "/s"),
        Row(
            "run, CPU of two workers / of one",
            cpu[2] / cpu[1],
            "x",
            None,
            f"{cpu[1]:.1f} s, {cpu[2]:.1f} s, starts included",
        ),
        Row("run, time of two workers / of one", seconds[2] / seconds[1], "x", TWO_OF_ONE, "1.6 times the sessions"),
    ]


def multiply(first: Any) -> None:
    """Copies of a session, rows and all: importing a thousand files is measured elsewhere."""
    from django.db import connection

    from sessions.models import Message, Session, Turn

    for number in range(1, SESSIONS):
        first.pk, first.key = None, f"copy-{number}"
        first._state.adding = True
        first.save()
    kept = Session.objects.order_by("pk").values_list("pk", flat=True)[0]
    with connection.cursor() as cursor:
        for model in (Message, Turn):
            own = [field.column for field in model._meta.concrete_fields if field.name not in ("id", "session")]
            names, table = ", ".join(f'"{name}"' for name in own), model._meta.db_table
            values = ", ".join(f'm."{name}"' for name in own)
            cursor.execute(
                f"INSERT INTO {table} ({names}, session_id) SELECT {values}, s.id FROM {table} m "
                f"JOIN {Session._meta.db_table} s ON s.id <> m.session_id WHERE m.session_id = %s",
                [kept],
            )


def children_cpu() -> float:
    """CPU seconds of the processes that ended: what a busy machine does not lengthen."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def working(database: Path, count: int) -> Iterator[None]:
    """So many worker processes on a database."""
    environment = {**os.environ, "HERMES_DATA_DIR": str(database.parent), "DATABASE_URL": f"sqlite:///{database}"}
    options = ["-v", "0", "--no-startup-delay", "--no-reload", "--interval", "0.1"]
    command = [sys.executable, "manage.py", "db_worker", *options]
    workers = [subprocess.Popen(command, cwd=ROOT, env=environment) for _ in range(count)]
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def run_of(project: Any, sessions: int, **fields: Any) -> float:
    """Seconds from the first claim to the last result."""
    from django.db.models import Max, Min

    from compression import runs
    from compression.engine.policy import build
    from compression.models import RunResult
    from sessions.models import Session

    keys = Session.objects.filter(project=project).order_by("pk").values_list("pk", flat=True)[:sessions]
    policy = build({**SMALL_WINDOW, **fields}, "bench")
    run = runs.start(project=project, policy=policy, label="small", sessions=keys)
    deadline = time.monotonic() + SECONDS_AT_MOST
    while not (progress := runs.progress(run)).is_over:
        assert time.monotonic() < deadline, f"the run did not finish: {progress}"
        time.sleep(0.5)
    assert (progress.done, progress.failed, progress.reused) == (sessions, 0, 0), progress
    ends = RunResult.objects.filter(run=run).aggregate(first=Min("claimed_at"), last=Max("finished_at"))
    return float((ends["last"] - ends["first"]).total_seconds())


def pages(database: Path) -> list[Row]:
    """The pages of a project that hold as many sessions, runs and pairs as it has."""
    project = fresh(database)
    paths = {
        "project": "/projects/bench/",
        "runs": "/projects/bench/runs/",
        "run": "/projects/bench/runs/1/",
        "comparison": "/projects/bench/compare/?a=hermes&b=chapter",
    }
    queries, seconds = grown(paths, partial(filled, project), (FEW, MANY))
    more = f"{FEW} -> {MANY} sessions"
    return [
        row
        for name in paths
        for row in (
            Row(
                f"page of {name}: queries more",
                queries[name][1] - queries[name][0],
                "",
                0,
                f"{more}: {queries[name][1]}",
            ),
            Row(
                f"page of {name}, {MANY} sessions",
                1e3 * seconds[name][1],
                "ms",
                None,
                f"{FEW}: {1e3 * seconds[name][0]:.0f}",
            ),
        )
    ]


def filled(project: Any, count: int) -> None:
    """Rows as a run of both policies would have left them, for sessions without messages."""
    from compression.engine import ENGINE_VERSION
    from compression.engine.presets import PRESETS
    from compression.models import Run, RunResult
    from sessions.models import Session

    have = Session.objects.count()
    made_up = [
        Session(project=project, key=f"k-{n}", title=f"Session {n}", format="made-up") for n in range(have, count)
    ]
    stored = Session.objects.bulk_create(made_up, batch_size=500)
    for at, name in enumerate(("hermes", "chapter")):
        policy = PRESETS[name]
        run, _ = Run.objects.get_or_create(
            project=project,
            label=name,
            policy_digest=policy.digest,
            engine_version=ENGINE_VERSION,
            state="done",
            defaults={"fields": policy.model_dump(mode="json")},
        )
        RunResult.objects.bulk_create(
            [
                RunResult(
                    run=run, session=session, state="done", events=n % 5, turns=40, sent_before=100_000 + n,
                    sent_after=60_000 + at * n, session_saved=0.4 - n / 1e5, request_saved=0.3, tool_saved=0.5,
                    summary={"composition": {"turn": 3}, "warnings": ["x" * 2_000]},
                )
                for n, session in enumerate(stored)
            ],
            batch_size=500,
        )  # fmt: skip
