"""What each compressor keeps first: for every kind the order in which a growing budget is spent.

Each case names marks in an output, group by group: no mark of a group may wait for one of a later group.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from compression.engine.compressors import compress, units
from compression.engine.content_types import KINDS, detect
from compression.engine.units import Tier
from tests.compression.engine.compressors.file_outputs import base64_image
from tests.compression.engine.measuring import count

TIERS: tuple[Tier, ...] = ("must", "should", "may")


class Case(NamedTuple):
    text: str
    groups: tuple[tuple[str, ...], ...]
    arguments: str = ""


def pytest_run() -> Case:
    passes = "\n".join(f"tests/test_a.py::test_{n} PASSED" for n in range(60))
    bad = "\n".join(
        f"""{f" test_bad_{n} ":_^80}

    def test_bad_{n}():
>       assert total({n}) == 2
E       AssertionError: assert {n}0 == 2
E         because of shard {n}

tests/test_b.py:{n}31: AssertionError"""
        for n in (1, 2)
    )
    text = f"""collected 62 items

{passes}
tests/test_b.py::test_bad_1 FAILED
tests/test_b.py::test_bad_2 FAILED
=================================== FAILURES ===================================
{bad}
============================= slowest durations ==============================
4.20s call     tests/test_a.py::test_7
=========================== short test summary info ============================
FAILED tests/test_b.py::test_bad_1 - AssertionError: assert 10 == 2
FAILED tests/test_b.py::test_bad_2 - AssertionError: assert 20 == 2
========================= 2 failed, 60 passed in 9.31s =========================
"""
    return Case(
        json.dumps({"output": text, "exit_code": 1}),
        (
            ("exit_code: 1",),
            ("2 failed, 60 passed in 9.31s",),
            (
                "tests/test_b.py::test_bad_1", "tests/test_b.py:131", "assert 10 == 2",
                "tests/test_b.py::test_bad_2", "tests/test_b.py:231", "assert 20 == 2",
            ),
            ("because of shard 1", "because of shard 2"),
            ("4.20s call", "test_a.py::test_0 "),
            ("test_a.py::test_3 PASSED",),
            ("test_a.py::test_40",),
        ),
    )  # fmt: skip


def build() -> Case:
    steps = "\n".join(f"step {n} is done" for n in range(60))
    ends = "\n".join(f"cleaning up {n}" for n in range(40))
    trace = (
        "Traceback (most recent call last):\n  File \"/srv/job.py\", line 12, in <module>\n    run()\nKeyError: 'shard'"
    )
    return Case(
        json.dumps({"output": f"{steps}\n{trace}\n{ends}\n", "exit_code": 3}),
        (
            ("exit_code: 3", '"/srv/job.py", line 12', "KeyError: 'shard'"),
            ("cleaning up 39",),
            ("cleaning up 30",),
            ("step 0 is",),
            ("step 19 is",),
            ("step 45 is",),
        ),
    )


def log() -> Case:
    def row(n: int, said: str) -> str:
        return f"2026-03-01 10:{n // 60:02}:{n % 60:02} {said}"

    rows = [row(n, f"INFO job {n} of batch 4 done") for n in range(300)]
    for n in (20, 90, 160):
        rows[n] = row(n, f"ERROR job {n} failed: no space on disk")
    rows[50] = row(50, "INFO resharding began at node seven")
    rows[70] = row(70, "WARNING node three answers late, error budget half gone")
    return Case(
        "\n".join(rows),
        (
            ("300 lines", "2026-03-01 10:00:00 to 2026-03-01 10:04:59"),
            ("ERROR 3, WARNING 1, INFO 296",),
            ("3 times, first and last", "10:00:20 ERROR job 20 failed", "10:02:40 ERROR job 160 failed"),
            ("node three answers late",),
            ("job 0 of batch", "job 299 of batch"),
            ("resharding began",),
            ("job 150 of batch",),
        ),
    )


def table() -> Case:
    rows = "\n".join(f"{n},2026-01-{1 + n % 28:02},{n * 7 % 997}.5,town_{n % 9}" for n in range(120))
    return Case(
        f"number,day,price,city\n{rows}",
        (
            ("number,day,price,city",),
            ("120 rows, 4 columns",),
            ("0,2026-01-01,0.5,town_0", "119,2026-01-08,833.5,town_2"),
            (
                "number: number, min 0, max 119, 120 distinct",
                "day: date, min 2026-01-01, max 2026-01-28, 28 distinct",
            ),
            ("1,2026-01-02,7.5", "4,2026-01-05,28.5", "117,2026-01-06,819.5", "118,2026-01-07,826.5"),
            ("60,2026-01-05",),
        ),
    )


def records() -> Case:
    rows: list[dict[str, object]] = [{"id": n, "ok": True, "ms": n * 13 % 101} for n in range(80)]
    rows[31] = {"id": 31, "ok": False, "error": "quota exceeded", "ms": 99}
    return Case(
        json.dumps({"status": "partial", "rows": rows}),
        (
            ("status: string, rows: array of 80",),
            ("status: partial",),
            ("ms: number, min 0, max 99",),
            ("error: quota exceeded",),
            ("id: 0, ok: true", "id: 79, ok: true"),
            ("id: 40, ok: true",),
        ),
    )


def code() -> Case:
    classes = "\n\n".join(
        f'class Pool{n}:\n    """Holds workers of kind {n}."""\n\n'
        f"    def run_{n}(self, job: str) -> int:\n"
        + "\n".join(f"        value = compute({n}, {row})" for row in range(12))
        for n in range(8)
    )
    return Case(
        f"import os\nfrom json import loads\n\n\n{classes}\n",
        (
            ("imports: os, json (loads)",),
            ("5: class Pool0", "124: class Pool7"),
            ("8:     def run_0", "127:     def run_7"),
            ("kind 0", "kind 7"),
            ("value = compute(3, 4)",),
        ),
    )


def hits() -> Case:
    rows = [f"src/part_{f}.py:{10 * h + 3}:    value = load({f}{h})" for f in range(5) for h in range(8)]
    rows[21] = "src/part_2.py:53:    value = load(25, shard)"
    return Case(
        "\n".join(rows),
        (
            ("40 hits in 5 files",),
            ("src/part_0.py: 8", "src/part_4.py: 8"),
            ("src/part_0.py:3:", "src/part_4.py:3:"),
            ("load(25, shard)",),
            ("src/part_1.py:43:",),
        ),
        json.dumps({"pattern": "load|shard"}),
    )


def diff() -> Case:
    def hunk(file: int, n: int) -> str:
        added = "\n".join(f"+    new_{file}_{n}_{row} = 1" for row in range(6))
        return f"@@ -{n}0,3 +{n}0,8 @@ def step_{file}_{n}():\n context\n-    old_{file}_{n} = 0\n{added}\n context"

    files = "\n".join(
        f"diff --git a/src/part_{file}.py b/src/part_{file}.py\n--- a/src/part_{file}.py\n+++ b/src/part_{file}.py\n"
        + "\n".join(hunk(file, n) for n in (1, 2, 3))
        for file in range(4)
    )
    return Case(
        files,
        (
            ("4 files, +72 -12",),
            ("src/part_0.py +18 -3", "src/part_3.py +18 -3"),
            ("@@ -10,3 +10,8 @@ def step_0_1", "old_0_1", "new_0_1_0", "def step_3_1"),
            ("def step_0_2", "def step_3_3", "new_3_3_0"),
            ("new_1_2_5",),
        ),
    )


def listing() -> Case:
    long = "\n".join(f"-rw-r--r-- 1 app app {n * 31 + 5} Mar {1 + n % 28} 10:{n:02} report_{n}.csv" for n in range(50))
    return Case(
        f"total 900\n{long}\n-rw-r--r-- 1 app app 99999999 Mar 2 09:00 dump.bin\n",
        (
            ("51 entries",),
            (".csv 50, .bin 1",),
            ("99999999 Mar 2 09:00 dump.bin",),
            ("report_0.csv",),
            ("report_25.csv",),
        ),
    )


def page() -> Case:
    parts = "".join(
        f"<h3>Rule {n}</h3><p class='x'>Orders of kind {n} are kept for thirty days, then they move away.</p>"
        for n in range(30)
    )
    return Case(
        f"<html><head><title>Shop handbook</title></head><body><h1>How orders are kept</h1>{parts}</body></html>",
        (("Shop handbook",), ("# How orders are kept",), ("### Rule 0", "### Rule 29"), ("Orders of kind 17",)),
    )


def article() -> Case:
    filler = " ".join(f"Nobody had much to say about it on day {n}." for n in range(80))
    return Case(
        f"# A slow winter\n\nThe planner in src/planner.py decides what leaves. {filler}\n\n"
        "## What was found\n\nThe error ConnectionResetError in src/pool.py came from a limit of 4096 shards. "
        f"{filler}\n",
        (
            ("The planner in src/planner.py decides what leaves.",),
            ("# A slow winter",),
            ("## What was found", "ConnectionResetError in src/pool.py"),
            ("on day 41.",),
        ),
    )


def image() -> Case:
    made = base64_image()
    return Case(made.text, (tuple(made.facts), ("data:image/png;base64,",)))


CASES = {
    "test_report": pytest_run(), "code_output": build(), "log": log(), "table": table(), "json": records(),
    "source_code": code(), "search_hits": hits(), "diff": diff(), "listing": listing(), "markup": page(),
    "prose": article(), "binary": image(),
}  # fmt: skip


def test_every_kind_has_its_order() -> None:
    assert sorted(CASES) == sorted(KINDS)


@pytest.mark.parametrize("kind", sorted(CASES))
def test_the_output_is_of_its_kind(kind: str) -> None:
    assert detect(CASES[kind].text, "", CASES[kind].arguments).kind == kind


@pytest.mark.parametrize("kind", sorted(CASES))
def test_what_a_kind_keeps_first_has_its_turn_first(kind: str) -> None:
    case = CASES[kind]
    found = units(case.text, kind, case.arguments).complete().units
    texts = [unit.text for unit in sorted(found, key=lambda unit: (TIERS.index(unit.tier), unit.rank, unit.order))]

    turns = [[next(at for at, text in enumerate(texts) if mark in text) for mark in group] for group in case.groups]

    assert [max(turns[n]) <= min(turns[n + 1]) for n in range(len(turns) - 1)] == [True] * (len(turns) - 1)
    assert turns[0][0] < turns[-1][-1]


@pytest.mark.parametrize("kind", sorted(set(CASES) - {"binary"}))
def test_a_growing_budget_buys_the_last_things_last(kind: str) -> None:
    case = CASES[kind]
    first, last = case.groups[0], case.groups[-1]
    stubs = [
        compress(case.text, kind=kind, budget=budget, count=count, arguments=case.arguments).text
        for budget in (40, 80, 120, 180, 260, 400)
    ]

    assert all(mark in stubs[2] for mark in first)
    assert not any(mark in stubs[2] for mark in last)
    assert all(mark in stub for stub in stubs for mark in first if any(late in stub for late in last))
