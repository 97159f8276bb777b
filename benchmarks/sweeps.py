"""Sweeps: many policies on one session that is at hand, a search shared by two workers, its page over 10,000 trials.

Everything happens in databases of its own. What is measured of a sweep is the time from its start to its last trial,
with workers that are warm.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.corpus import SAMPLES, claude_code_files
from benchmarks.database import fresh, use
from benchmarks.measuring import Row, medians
from benchmarks.pages import grown
from benchmarks.replay import walk
from compression.engine.policy import Policy, build

ROOT = Path(__file__).resolve().parent.parent
POLICIES = 100
TRIALS, WARM_UP = 200, 4
FEW, MANY = 1_000, 10_000
SECONDS_AT_MOST = 900
OF_A_WALK = 4.0
TWO_OF_ONE = 1 / 1.7


def rows() -> list[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = [*policies_on_one(folder), *shared(folder), *page(folder / "page.sqlite3")]
        use(folder / "page.sqlite3")
        return found


def policies_on_one(folder: Path) -> list[Row]:
    """What a trial costs on the largest session: once without any event, once with events by other settings each."""
    from compression.sweep_sessions import summary_of
    from compression.transcripts import from_parsed
    from compression.warm_sessions import WarmSession
    from sessions.importers import read_sessions

    largest = max(claude_code_files(folder), key=lambda path: path.stat().st_size)
    warm = WarmSession(from_parsed(read_sessions(largest)[0]), 0)
    transcript = warm.subject.transcript
    quiet = [varied(at, context_window=20_000_000 - at) for at in range(POLICIES)]
    acting = [varied(at, trigger_ratio=0.5 + at % 10 / 25, target_ratio=0.2 + at // 10 / 40) for at in range(POLICIES)]
    summary_of(warm, quiet[0])

    def walks() -> None:
        for _ in range(POLICIES):
            walk(transcript)

    def without_events() -> None:
        for policy in quiet:
            summary_of(warm, policy)

    floor, plain = medians(walks, without_events, rounds=3)
    started = perf_counter()
    events = sum(summary_of(warm, policy)["events"] for policy in acting)
    spent = perf_counter() - started
    size = f"{POLICIES} policies, {len(transcript.turns)} turns, {len(transcript.messages)} messages"
    return [
        Row("policies without events / plain walks", plain / floor, "x", OF_A_WALK, f"{size}: {1e3 * plain:.0f} ms"),
        Row("an event of another policy each", 1e3 * (spent - plain) / max(1, events), "ms", None, f"{events} events"),
    ]


def varied(at: int, **fields: Any) -> Policy:
    return build({"extends": "hermes", "name": f"policy {at}", **fields}, "bench")


def shared(folder: Path) -> list[Row]:
    """One worker against two, on copies of one database with every sample."""
    from django.db import connection

    from sessions.import_file import import_file
    from sessions.importers.parsed import ImportFailure
    from sessions.models import Session

    project = fresh(folder / "samples.sqlite3")
    paths = sorted(path for path in SAMPLES.rglob("*") if path.suffix in (".json", ".jsonl", ".ndjson"))
    for path in paths or claude_code_files(folder):
        try:
            import_file(path, project=project)
        except ImportFailure:  # a sample of a format that is not read, or broken on purpose
            continue
    sessions = Session.objects.count()
    seconds, cpu, peaks, results = {}, {}, {}, 0
    for count in (1, 2):
        copy = folder / f"workers-{count}.sqlite3"
        use(folder / "samples.sqlite3")
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(copy)])
        use(copy)
        with working(copy, count) as workers:
            sweep_of(project, WARM_UP * count, seed=1)
            before = sum(cpu_seconds(worker.pid) for worker in workers)
            seconds[count], results = sweep_of(project, TRIALS, seed=2)
            cpu[count] = sum(cpu_seconds(worker.pid) for worker in workers) - before
            peaks[count] = max(peak_megabytes(worker.pid) for worker in workers)
    detail = f"{TRIALS} trials over {sessions} sessions: {seconds[1]:.0f} s, {seconds[2]:.0f} s; {os.cpu_count()} cores"
    return [
        Row("sweep, one worker", results / seconds[1], "/s", None, f"replays; {detail}"),
        Row("sweep, two workers", results / seconds[2], "/s"),
        Row("sweep, time of two workers / of one", seconds[2] / seconds[1], "x", TWO_OF_ONE, "1.7 times the trials"),
        Row("sweep, CPU of two workers / of one", cpu[2] / cpu[1], "x", None, f"{cpu[1]:.0f} s, {cpu[2]:.0f} s"),
        Row("sweep, peak memory of a worker", max(peaks.values()), "MB", None, f"of two: {peaks[2]:.0f} MB"),
    ]


@contextmanager
def working(database: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many worker processes on a database."""
    environment = {**os.environ, "HERMES_DATA_DIR": str(database.parent), "DATABASE_URL": f"sqlite:///{database}"}
    options = ["-v", "0", "--no-startup-delay", "--no-reload", "--interval", "0.1"]
    command = [sys.executable, "manage.py", "db_worker", *options]
    workers = [subprocess.Popen(command, cwd=ROOT, env=environment) for _ in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def peak_megabytes(pid: int) -> float:
    """The most memory that a process ever had; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process so far: what a busy machine does not lengthen."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sweep_of(project: Any, trials: int, *, seed: int) -> tuple[float, int]:
    """(seconds from the first claim to the last trial, replays)."""
    from django.db.models import Max

    from compression import sweeps
    from compression.engine.presets import PRESETS
    from compression.models import Trial, TrialResult

    base = PRESETS["chapter"]
    sweep = sweeps.start(project=project, base=base, label="bench", trials=trials, seed=seed)
    deadline, begun = time.monotonic() + SECONDS_AT_MOST, 0.0
    while not (progress := sweeps.progress(sweep)).is_over:
        begun = begun or (time.time() if progress.claimed else 0.0)
        assert time.monotonic() < deadline, f"the sweep did not finish: {progress}"
        time.sleep(0.1 if not begun else 0.5)
    assert progress.failed == 0, progress
    last = Trial.objects.filter(sweep=sweep).aggregate(last=Max("finished_at"))["last"]
    return last.timestamp() - begun, TrialResult.objects.filter(trial__sweep=sweep).count()


def page(database: Path) -> list[Row]:
    """The page of a sweep of as many trials as a grid may have."""
    sweep = made(fresh(database))
    paths = {"page": sweep.get_absolute_url(), "scatter": f"{sweep.get_absolute_url()}scatter/"}
    queries, seconds = grown(paths, partial(filled, sweep), (FEW, MANY))
    found = []
    for name in paths:
        more, took = queries[name][1] - queries[name][0], [1e3 * one for one in seconds[name]]
        detail = f"{FEW} -> {MANY} trials: {queries[name][1]}"
        found.append(Row(f"{name} of a sweep: queries more", more, "", 0, detail))
        found.append(Row(f"{name} of a sweep, {MANY} trials", took[1], "ms", None, f"{FEW}: {took[0]:.0f}"))
    return found


def made(project: Any) -> Any:
    from compression.engine import ENGINE_VERSION
    from compression.engine.presets import PRESETS
    from compression.models import Sweep, SweepSession
    from sessions.models import Session

    sweep = Sweep.objects.create(
        project=project, kind="grid", label="bench", fields=PRESETS["hermes"].model_dump(mode="json"), wanted=MANY,
        space={"trigger_ratio": [0.5, 0.9], "target_ratio": [0.2, 0.4]}, engine_version=ENGINE_VERSION, state="done",
    )  # fmt: skip
    session = Session.objects.create(project=project, key="k", title="Session", format="made-up")
    SweepSession.objects.create(sweep=sweep, session=session)
    return sweep


def filled(sweep: Any, count: int) -> None:
    """Trials and results as workers would have left them."""
    from compression.models import Trial, TrialResult
    from compression.sweep_totals import figures_of
    from sessions.models import Session

    have, session = Trial.objects.count(), Session.objects.get()
    for at in range(have, count):
        kept = at * 13 % 101
        result = TrialResult(
            session=session, session_revision=1, turns=40, sent_before=100_000, sent_after=60_000 + at * 7 % 9_973,
            rlr_n=100, rlr_kept=kept if at else 100, rlr_reached=100, events=3,
        )  # fmt: skip
        trial = Trial.objects.create(
            sweep=sweep, number=at, kind="none" if at == 0 else "candidate", state="done", policy_digest=f"{at}",
            values={"trigger_ratio": at % 97 / 97, "target_ratio": at % 89 / 89}, **figures_of([result], ()),
        )  # fmt: skip
        result.trial = trial
        result.save()
