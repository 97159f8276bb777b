"""Tool outputs as programs print them, grown from arithmetic: long enough to need compression, with facts
that a stub must hold. The facts stand beside each output, in the words of the output."""

from __future__ import annotations

import json
from typing import NamedTuple


class Labelled(NamedTuple):
    kind: str
    text: str
    facts: tuple[str, ...]


def pytest_report(tests: int = 847) -> Labelled:
    """``pytest -v`` with five failures in five files, each told in a block and in the summary."""
    failing = {
        113: ("AssertionError: assert 41 == 42", 57),
        290: ("KeyError: 'session_key'", 118),
        411: ("ValueError: invalid literal for int() with base 10: 'abc'", 203),
        655: ("TypeError: unsupported operand type(s) for +: 'int' and 'str'", 88),
        802: ("TimeoutError: no answer within 30 s", 341),
    }
    lines = [
        "============================= test session starts ==============================",
        "platform linux -- Python 3.13.1, pytest-8.3.4, pluggy-1.5.0 -- /srv/app/.venv/bin/python",
        "cachedir: .pytest_cache",
        "rootdir: /srv/app",
        f"collected {tests} items",
        "",
    ]
    for number in range(tests):
        outcome = "FAILED" if number in failing else "PASSED"
        share = f"[{100 * (number + 1) // tests:3d}%]"
        lines.append(f"tests/unit/test_{_module(number)}.py::test_case_{number} {outcome} {share}")
    lines += ["", "=================================== FAILURES ==================================="]
    for number, (error, line) in failing.items():
        title = f" test_case_{number} "
        lines += [
            f"{title:_^80}",
            "",
            "    def test_case() -> None:",
            f"        value = compute({number})",
            "        expected = 42",
            ">       assert value == expected",
            f"E       {error}",
            "",
            f"tests/unit/test_{_module(number)}.py:{line}: {error.split(':')[0]}",
        ]
    lines.append("=========================== short test summary info ============================")
    facts = [f"5 failed, {tests - 5} passed in 48.31s"]
    for number, (error, line) in failing.items():
        path = f"tests/unit/test_{_module(number)}.py"
        lines.append(f"FAILED {path}::test_case_{number} - {error}")
        facts += [f"{path}::test_case_{number}", f"{path}:{line}", error]
    lines.append(f"=================== 5 failed, {tests - 5} passed in 48.31s ====================")
    return Labelled("test_report", "\n".join(lines) + "\n", tuple(facts))


def _module(number: int) -> str:
    return ("billing", "orders", "search", "accounts", "exports")[number * 5 // 847]


def server_log(size: int = 2_000) -> Labelled:
    """Levels, five error templates among traffic, a message that only speaks of errors, one fatal line."""
    errors = {
        97: "ERROR db.pool connection to 10.0.4.{n} refused after {n} ms",
        181: "ERROR payments.gateway charge ch_{n} declined: card_expired",
        303: "ERROR auth.session token for user {n} has expired",
        677: "CRITICAL disk.monitor volume /var/lib/data{n} has only {n} MB left",
    }
    lines = []
    first: dict[int, str] = {}
    last: dict[int, str] = {}
    count = dict.fromkeys(errors, 0)
    levels = {"DEBUG": 0, "INFO": 0, "WARN": 0, "ERROR": 0, "CRITICAL": 0, "FATAL": 0}
    for number in range(size):
        second = number * 3
        stamp = f"2026-03-14 {9 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d},{number % 1000:03d}"
        every = next((step for step in errors if number % step == step - 1), None)
        if number == 1234:
            message = "FATAL core.loop worker 17 died: SegmentationFault at 0x7f3a9c21"
        elif every:
            message = errors[every].format(n=number)
        elif number % 50 == 7:
            message = f"WARN http.client retry {number % 4} for upstream inventory"
        elif number % 5 == 2:
            message = f"DEBUG cache.lru evicted key item:{number}"
        else:
            message = f"INFO http.access GET /api/items/{number}?error=none 200 in {number % 90} ms"
        lines.append(f"{stamp} {message}")
        levels[message.split()[0]] += 1
        if every and number != 1234:
            first.setdefault(every, lines[-1])
            last[every] = lines[-1]
            count[every] += 1
    facts = [f"{size:,} lines", lines[0][:23], lines[-1][:23], lines[1234]]
    facts += [f"{level} {number:,}" for level, number in levels.items()]
    for step in errors:
        facts += [f"{count[step]:,} times", first[step], last[step]]
    return Labelled("log", "\n".join(lines) + "\n", tuple(facts))


def pip_list(packages: int = 400) -> Labelled:
    rows = [
        (f"{('lib', 'py', 'django', 'types')[n % 4]}-package-{n}", f"{n % 7}.{n % 23}.{n % 11}")
        for n in range(packages)
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{'Package':<{width}} Version", f"{'-' * width} {'-' * 9}"]
    lines += [f"{name:<{width}} {version}" for name, version in rows]
    facts = ["Package", "Version", f"{packages} rows", *(name for name, _ in (*rows[:5], *rows[-3:]))]
    return Labelled("table", "\n".join(lines) + "\n", tuple(facts))


def _orders(rows: int) -> tuple[list[str], list[list[str]], tuple[str, ...]]:
    names = ["order_id", "customer", "placed_on", "amount", "status"]
    cells = []
    for n in range(rows):
        amount = "98765.43" if n == 201 else "0.07" if n == 77 else f"{20 + n * 37 % 900}.{n % 100:02d}"
        status = "refunded" if n == 333 else ("shipped", "open", "paid")[n % 3]
        cells.append([f"{70_000 + n}", f"customer {n % 60}", f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d}", amount, status])
    facts = [
        "order_id",
        "placed_on",
        f"{rows:,} rows",
        "70000",
        "70004",
        f"{70_000 + rows - 3}",
        f"{70_000 + rows - 1}",
    ]
    return (
        names,
        cells,
        (
            *facts,
            "min 0.07, max 98765.43",
            "min 2025-01-01, max 2025-12-28",
            "3 distinct" if rows < 334 else "4 distinct",
        ),
    )


def psql_table(rows: int = 400) -> Labelled:
    names, cells, facts = _orders(rows)
    widths = [max(len(row[column]) for row in (names, *cells)) for column in range(len(names))]
    lines = [" " + " | ".join(name.center(width) for name, width in zip(names, widths, strict=True))]
    lines.append("-" + "-+-".join("-" * width for width in widths) + "-")
    lines += [" " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return Labelled("table", "\n".join([*lines, f"({rows} rows)", ""]) + "\n", (*facts, f"({rows} rows)"))


def csv_table(rows: int = 400) -> Labelled:
    names, cells, facts = _orders(rows)
    return Labelled("table", "\n".join(",".join(row) for row in (names, *cells)) + "\n", facts)


def markdown_table(rows: int = 400) -> Labelled:
    names, cells, facts = _orders(rows)
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(row) + " |" for row in cells]
    return Labelled("table", "\n".join(lines) + "\n", facts)


def json_records(records: int = 1_000, *, indent: int | None = 2) -> Labelled:
    items: list[dict[str, object]] = []
    for n in range(records):
        item: dict[str, object] = {
            "id": 5_000 + n,
            "name": f"sensor-{n % 40}",
            "reading": n * 7 % 500 / 4,
            "status": "ok",
        }
        if n == 417:
            item |= {"status": "error", "error": "E_OVERHEAT: limit of 125.5 exceeded"}
        if n == 850:
            item["calibration"] = {"by": "lab_7", "drift": 0.042}
        items.append(item)
    items[min(623, records // 2)]["reading"] = 99_999.25
    value = {"site": "hall_north", "page": 1, "total": records, "records": items}
    facts = (
        "site: hall_north",
        f"array of {records:,}",
        "id: number",
        "E_OVERHEAT: limit of 125.5 exceeded",
        "5417",
        "max 99999.25",
        "lab_7",
        "5000",
        f"{5_000 + records - 1}",
    )
    return Labelled("json", json.dumps(value, indent=indent), facts)


def go_test() -> Labelled:
    lines = []
    for n in range(300):
        name = f"TestStore{n}"
        lines.append(f"=== RUN   {name}")
        if n in (44, 199):
            lines += [f"    store_test.go:{n + 12}: got {n} rows, want {n + 1}", f"--- FAIL: {name} (0.02s)"]
        else:
            lines.append(f"--- PASS: {name} (0.00s)")
    lines += ["FAIL", "FAIL\texample.org/shop/store\t2.417s", "ok  \texample.org/shop/web\t0.310s", "FAIL"]
    facts = (
        "--- FAIL: TestStore44",
        "store_test.go:56: got 44 rows, want 45",
        "--- FAIL: TestStore199",
        "store_test.go:211: got 199 rows, want 200",
        "FAIL\texample.org/shop/store\t2.417s",
    )
    return Labelled("test_report", "\n".join(lines) + "\n", facts)


def cargo_test() -> Labelled:
    lines = ["   Compiling parser v0.3.1 (/srv/parser)", "running 250 tests"]
    lines += [f"test grammar::case_{n} ... {'FAILED' if n == 130 else 'ok'}" for n in range(250)]
    lines += [
        "",
        "failures:",
        "",
        "---- grammar::case_130 stdout ----",
        "",
        "thread 'grammar::case_130' panicked at src/grammar.rs:412:9:",
        "assertion `left == right` failed",
        "  left: 3",
        " right: 4",
        "",
        "failures:",
        "    grammar::case_130",
        "",
        "test result: FAILED. 249 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.51s",
        "",
        "error: test failed, to rerun pass `--lib`",
    ]
    facts = (
        "grammar::case_130",
        "src/grammar.rs:412:9",
        "assertion `left == right` failed",
        "249 passed; 1 failed",
    )
    return Labelled("test_report", "\n".join(lines) + "\n", facts)


def jest_report() -> Labelled:
    lines = []
    for n in range(60):
        failed = n == 21
        lines.append(f"{'FAIL' if failed else 'PASS'} src/widgets/widget{n}.test.ts")
        lines += [
            f"  {'✕' if failed and k == 3 else '✓'} renders case {k} of widget {n} ({k + 2} ms)" for k in range(8)
        ]
    told = [
        "  ● Widget 21 › renders case 3 of widget 21",
        "",
        "    TypeError: Cannot read properties of undefined (reading 'label')",
        "",
        "      40 |   const node = render(widget);",
        "    > 41 |   expect(node.label).toBe('x');",
        "",
        "      at Object.<anonymous> (src/widgets/widget21.test.ts:41:15)",
        "",
    ]
    lines += [*told, "Summary of all failing tests", "FAIL src/widgets/widget21.test.ts", *told]
    lines += [
        "Test Suites: 1 failed, 59 passed, 60 total",
        "Tests:       1 failed, 479 passed, 480 total",
        "Snapshots:   0 total",
        "Time:        9.812 s",
    ]
    facts = (
        "Widget 21 › renders case 3 of widget 21",
        "TypeError: Cannot read properties of undefined (reading 'label')",
        "src/widgets/widget21.test.ts:41:15",
        "1 failed, 479 passed, 480 total",
    )
    return Labelled("test_report", "\n".join(lines) + "\n", facts)


def build_output() -> Labelled:
    """A long build that ends in a traceback and an exit code."""
    lines = ["Exit code 2", "make: Entering directory '/srv/app'"]
    lines += [f"cc -O2 -c src/unit_{n}.c -o build/unit_{n}.o" for n in range(400)]
    lines.insert(250, "src/unit_247.c:88:13: error: use of undeclared identifier 'frame_size'")
    lines += [
        "Traceback (most recent call last):",
        '  File "/srv/app/tools/link.py", line 91, in <module>',
        "    main()",
        '  File "/srv/app/tools/link.py", line 64, in main',
        "    raise LinkError(symbol)",
        "LinkError: undefined symbol frame_size",
        "make: *** [Makefile:31: all] Error 2",
    ]
    facts = (
        "Exit code 2",
        "src/unit_247.c:88:13: error: use of undeclared identifier 'frame_size'",
        'File "/srv/app/tools/link.py", line 64, in main',
        "LinkError: undefined symbol frame_size",
        "make: *** [Makefile:31: all] Error 2",
        "src/unit_399.c",
    )
    return Labelled("code_output", "\n".join(lines) + "\n", facts)


def article() -> Labelled:
    subjects = ("The planner", "A stub", "The recent zone", "Every snapshot", "The cache")
    verbs = ("keeps", "replaces", "protects", "counts", "restores")
    lines = [
        "# How the window is kept small",
        "",
        "The planner decides which results leave the window and which stay.",
        "",
    ]
    for n in range(120):
        lines.append(
            f"{subjects[n % 5]} {verbs[n * 3 % 5]} what the model has already read, and the window stays small. "
            f"It was measured in session {300 + n} and again a week later. Nobody noticed anything."
        )
        if n % 6 == 5:
            lines.append("")
    return Labelled(
        "prose",
        "\n".join(lines) + "\n",
        ("The planner decides which results leave the window and which stay.", "How the window is kept small"),
    )


ALL = {
    made.__name__: made
    for made in (
        pytest_report,
        server_log,
        pip_list,
        psql_table,
        csv_table,
        markdown_table,
        json_records,
        go_test,
        cargo_test,
        jest_report,
        build_output,
        article,
    )
}
