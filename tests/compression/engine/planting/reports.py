"""What runs print: test reports, builds, logs. Failures and rare errors are the facts."""

from __future__ import annotations

import json

from tests.compression.engine.planting.fixture import Fixture, Noise

_AREAS = ("billing", "catalog", "shipping", "accounts", "reports", "search")


def pytest_verbose(tests: int = 847) -> Fixture:
    """``pytest -v``, seven failures: parametrised, in classes, one error at setup; each told in a block and at the
    end."""
    noise = Noise(11)
    failing = {
        42: ("TestInvoice::test_rounding[eur-0.005]", "AssertionError: assert Decimal('0.01') == Decimal('0.00')", 118),
        137: ("test_refund_twice", "KeyError: 'refund_id'", 77),
        301: ("TestStock::test_negative", "shop.errors.StockError: only 3 of sku_8841 left", 240),
        302: ("TestStock::test_restock", "AssertionError: assert 14 == 15", 263),
        555: ("test_label_printer", "TimeoutError: printer_7 did not answer within 2.5 s", 31),
        700: ("test_export[xlsx]", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe4 in position 12", 92),
        811: ("TestIndex::test_rank", "ZeroDivisionError: division by zero", 155),
    }
    rule = "=" * 30
    lines = [f"{rule} test session starts {rule}", "platform linux -- Python 3.13.1, pytest-8.4.0, pluggy-1.6.0"]
    lines += ["configfile: pyproject.toml", f"collected {tests} items", ""]
    facts: list[str] = []
    for number in range(tests):
        path = _test_file(number)
        name = failing[number][0] if number in failing else _test_name(number, noise)
        result = "FAILED" if number in failing else "SKIPPED" if number % 97 == 60 else "PASSED"
        lines.append(f"{path}::{name} {result} [{100 * (number + 1) // tests:3d}%]")
    lines += ["", f"{rule} FAILURES {rule}"]
    for number, (name, error, row) in failing.items():
        path = _test_file(number)
        title = f" {name.replace('::', '.')} "
        lines += [f"{title:_^78}", "", "    def test(client):", f"        order = client.order({number})"]
        lines += [f"        total = order.total + {noise.below(90)}"] * 2
        lines += [">       check(order)", "", f"{path}:{row - 9}: ", "_ " * 38, "", "self = <shop.Order>", ""]
        lines += ["    def check(order):", ">       raise_for(order)", f"E       {error}", ""]
        lines += [f"{path}:{row}: {error.split(':')[0].split('.')[-1]}"]
        lines += ["----------------------------- Captured log call ------------------------------"]
        lines += [f"INFO     shop.orders:orders.py:{noise.below(400)} opened order {noise.below(9_000)}"] * 3
        facts += [f"{path}::{name}", f"{path}:{row}", error]
    lines += [f"{rule} slowest 3 durations {rule}", f"4.21s call     {_test_file(555)}::test_label_printer"]
    lines += [f"1.07s setup    {_test_file(9)}::test_open_9", f"0.98s call     {_test_file(700)}::test_export[xlsx]"]
    lines += [f"{rule} short test summary info {rule}"]
    lines += [f"FAILED {_test_file(number)}::{name} - {error}" for number, (name, error, _) in failing.items()]
    skipped = sum(number % 97 == 60 for number in range(tests) if number not in failing)
    total = f"{len(failing)} failed, {tests - len(failing) - skipped} passed, {skipped} skipped in 61.37s"
    lines.append(f"{rule} {total} (0:01:01) {rule}")
    return Fixture(
        "pytest -v, 847 tests", "test_report", "Bash", _command("pytest -v"), "\n".join(lines), (*facts, total)
    )


def _test_file(number: int) -> str:
    return f"tests/{_AREAS[number // 150]}/test_{_AREAS[number // 150]}_{number // 50}.py"


def _test_name(number: int, noise: Noise) -> str:
    verb = noise.one("open", "close", "move", "count", "sort", "merge")
    return f"Test{verb.title()}::test_{verb}_{number}" if number % 3 == 0 else f"test_{verb}_{number}"


def jest_report(suites: int = 70) -> Fixture:
    """Three failing suites among many, with code frames; told again at the end as jest does."""
    failures = {
        12: ("Cart › adds a bundle", "expect(received).toBe(expected) // Object.is equality", "cart/bundle", 88),
        40: ("Menu › closes on escape", "TypeError: menu.close is not a function", "menu/keys", 41),
        63: ("Price › shows both", "Error: Unable to find an element with the text: CHF 14.50", "price/view", 17),
    }  # fmt: skip
    noise = Noise(5)
    lines: list[str] = []
    blocks: list[str] = []
    facts: list[str] = []
    for n in range(suites):
        name = failures[n][2] if n in failures else f"{noise.one(*_AREAS)}/part{n}"
        lines.append(f"{'FAIL' if n in failures else 'PASS'} src/{name}.test.tsx{' (5.2 s)' if n == 40 else ''}")
        lines.append(f"  {name.split('/')[1].title()}")
        lines += [f"    ✓ {noise.one('renders', 'keeps', 'sends')} case {k} ({noise.below(60)} ms)" for k in range(7)]
        if n in failures:
            title, error, path, row = failures[n]
            lines.append(f"    ✕ {title.split(' › ')[1]} (14 ms)")
            block = [f"  ● {title}", "", f"    {error}", ""]
            if "received" in error:
                block += ["    Expected: 3", "    Received: 2", ""]
            block += [f"      {row - 1} |   const view = render(<Part n={{{n}}} />);"]
            block += [f"    > {row} |   await act(view);", f"      {row + 1} | }});", ""]
            block += [f"      at Object.<anonymous> (src/{path}.test.tsx:{row}:11)", ""]
            lines += ["", *block]
            blocks += [f"FAIL src/{path}.test.tsx", *block]
            facts += [title, error, f"src/{path}.test.tsx:{row}"]
    totals = [f"Test Suites: 3 failed, {suites - 3} passed, {suites} total"]
    totals += [f"Tests:       3 failed, {suites * 7} passed, {suites * 7 + 3} total", "Snapshots:   0 total"]
    text = "\n".join([*lines, "Summary of all failing tests", *blocks, *totals, "Time:        22.41 s", ""])
    command = _command("npx jest --verbose")
    return Fixture("jest, 70 suites", "test_report", "Bash", command, text, (*facts, totals[0], totals[1]))


def go_test(tests: int = 320) -> Fixture:
    """``go test -v ./...``: two failures, a subtest, a panic in another package."""
    lines: list[str] = []
    told = {
        71: ("TestLedger/empty_book", "ledger_test.go:84: balance = 12, want 0"),
        205: ("TestQueueOrder", "queue_test.go:131: got [b a], want [a b]"),
    }
    for n in range(tests):
        name = told[n][0] if n in told else f"TestStep{n}"
        lines.append(f"=== RUN   {name}")
        if n in told:
            lines += [f"    {told[n][1]}", f"--- FAIL: {name} (0.03s)"]
        else:
            lines.append(f"--- PASS: {name} ({n % 7 / 100:.2f}s)")
        if n % 80 == 79:
            failed = any(n - 80 < m <= n for m in told)
            verdict = (
                f"FAIL\texample.org/shop/pkg{n // 80}\t1.{n}s"
                if failed
                else f"ok  \texample.org/shop/pkg{n // 80}\t0.{n}s"
            )
            lines += [*(["FAIL"] if failed else ["PASS"]), verdict]
    lines += ["=== RUN   TestStream", "panic: runtime error: index out of range [4] with length 4", ""]
    lines += ["goroutine 41 [running]:", "example.org/shop/stream.(*Reader).next(0xc000112000)"]
    lines += ["\t/srv/shop/stream/reader.go:57 +0x1d4", "FAIL\texample.org/shop/stream\t0.014s", "FAIL"]
    facts = [fact for name, line in told.values() for fact in (f"--- FAIL: {name}", line)]
    facts += ["panic: runtime error: index out of range [4] with length 4", "/srv/shop/stream/reader.go:57"]
    facts += ["FAIL\texample.org/shop/stream\t0.014s"]
    return Fixture(
        "go test, 320 tests", "test_report", "Bash", _command("go test -v ./..."), "\n".join(lines), tuple(facts)
    )


def cargo_test(tests: int = 260) -> Fixture:
    """``cargo test`` with warnings of the compiler before and three panics after."""
    failing = {
        19: ("lexer::tests::hex_escape", "src/lexer.rs:212:9", "assertion `left == right` failed"),
        140: ("tree::tests::rebalance", "src/tree/mod.rs:88:31", "called `Option::unwrap()` on a `None` value"),
        233: ("wire::tests::round_trip", "src/wire.rs:401:5", "frame of 17 bytes, expected 16"),
    }
    lines = [f"warning: unused variable: `tmp_{n}`\n  --> src/old.rs:{n * 7 + 3}:13\n   |" for n in range(12)]
    lines += ["    Finished `test` profile [unoptimized + debuginfo] target(s) in 9.41s", "", f"running {tests} tests"]
    lines += [
        f"test {failing[n][0]} ... FAILED" if n in failing else f"test part{n % 9}::tests::case_{n} ... ok"
        for n in range(tests)
    ]
    lines += ["", "failures:", ""]
    for name, place, error in failing.values():
        lines += [f"---- {name} stdout ----", "", f"thread '{name}' panicked at {place}:", error]
        lines += ["note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace", ""]
    total = (
        f"test result: FAILED. {tests - 3} passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.82s"
    )
    lines += ["", "failures:", *(f"    {name}" for name, _, _ in failing.values()), "", total, ""]
    facts = [fact for failure in failing.values() for fact in failure]
    return Fixture(
        "cargo test, 260 tests", "test_report", "Bash", _command("cargo test"), "\n".join(lines), (*facts, total)
    )


def server_log(size: int = 2_000) -> Fixture:
    """Traffic of many templates; eight templates of trouble, one of them once; a traceback in the middle."""
    noise = Noise(3)
    trouble = {
        89: "ERROR db.pool connection to 10.0.4.{a} refused after {b} ms",
        131: "ERROR payments.gateway charge ch_{a}{b} declined: card_expired",
        173: "ERROR auth.session token for user {a} has expired",
        211: "ERROR queue.worker job {a} of tenant_north gave up after 5 attempts",
        389: "CRITICAL disk.monitor volume /var/lib/data{a} has only {b} MB left",
        463: "ERROR http.client GET https://stock.example.org/items/{a} answered 503",
        617: "ERROR mail.relay mailbox full, message {a} bounced",
    }
    plain = (
        "INFO  http.access GET /api/items/{a}?error=none 200 in {b} ms",
        "INFO  http.access POST /api/carts/{a}/lines 201 in {b} ms",
        "DEBUG cache.lru evicted key item:{a} after {b} s",
        "INFO  queue.worker job {a} done in {b} ms",
        "DEBUG auth.session renewed for user {a}",
        "WARN  http.client retry {b} for upstream inventory-{a}",
    )
    lines: list[str] = []
    seen: dict[str, list[str]] = {}
    for number in range(size):
        second = number * 7
        clock = f"{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{noise.below(1_000):03d}"
        stamp = f"2026-05-{11 + second // 86_400} {clock}"
        step = next((step for step in trouble if number % step == step - 1), 0)
        if number == 1_402:
            message = "FATAL core.loop worker 17 died: signal 11 at 0x7f3a9c21"
        else:
            template = trouble[step] if step else noise.one(*plain)
            message = template.format(a=noise.below(9_000) + 100, b=noise.below(80))
            if step:
                seen.setdefault(template, []).append(f"{stamp} {message}")
        lines.append(f"{stamp} {message}")
    fatal = lines[1_402]
    crash = ["Traceback (most recent call last):", '  File "/srv/shop/loop.py", line 311, in spin', "    step(job)"]
    crash += [
        '  File "/srv/shop/jobs.py", line 58, in step',
        "    job.run()",
        "shop.errors.JobError: tenant_north locked",
    ]
    lines[900:900] = crash
    facts = [fact for told in seen.values() for fact in (told[0], told[-1].split(" ", 2)[1])]
    facts += [fatal, 'File "/srv/shop/jobs.py", line 58', crash[-1], lines[0][:23], lines[-1][:23]]
    computed = [f"{len(told):,} times" for told in seen.values()]
    return Fixture(
        "server log, 2,000 lines",
        "log",
        "Bash",
        _command("cat app.log"),
        "\n".join(lines),
        tuple(facts),
        tuple(computed),
    )


def access_log(size: int = 700) -> Fixture:
    """Combined format; two paths answer 5xx."""
    noise = Noise(8)
    lines = []
    for n in range(size):
        bad = "/api/checkout/pay" if n % 70 == 33 else "/api/stock/sync" if n % 113 == 50 else ""
        path = bad or noise.one("/", "/api/items", "/static/app.css", "/api/carts", "/health")
        status = (503 if "stock" in path else 500) if bad else 404 if n % 31 == 3 else 200
        stamp = f"14/May/2026:{9 + n // 240:02d}:{n // 4 % 60:02d}:{n * 13 % 60:02d} +0000"
        client = f"10.3.{noise.below(8)}.{noise.below(200)}"
        lines.append(f'{client} - - [{stamp}] "GET {path} HTTP/1.1" {status} {noise.below(9_000)} "-" "curl/8.9"')
    paid = [line for line in lines if "/pay " in line]
    synced = [line for line in lines if "/sync " in line]
    facts = (paid[0], synced[0], "/api/stock/sync", "/api/checkout/pay", lines[0].split("[")[1][:20])
    computed = (f"{len(paid):,} times", f"{len(synced):,} times", "5xx", "4xx")
    return Fixture(
        "access log, 700 lines", "log", "Bash", _command("tail -700 access.log"), "\n".join(lines), facts, computed
    )


def build_output(units: int = 420) -> Fixture:
    """A build that ends badly: a warning flood, two compile errors, a linker's complaint, the exit status."""
    noise = Noise(21)
    lines = ["$ make -j4 all"]
    for n in range(units):
        lines.append(
            f"[{100 * n // units:3d}%] Building CXX object src/CMakeFiles/core.dir/{noise.one(*_AREAS)}/unit_{n}.cpp.o"
        )
        if n == 133:
            lines += ["src/billing/unit_133.cpp:88:13: error: 'tax_table' was not declared in this scope"]
            lines += ["   88 |     return tax_table[row];", "      |            ^~~~~~~~~"]
        if n == 260:
            lines += ["src/search/unit_260.cpp:412:7: error: no matching function for call to 'rank(Query&, int)'"]
    lines += ["/usr/bin/ld: src/libcore.a(unit_9.o): undefined reference to `shop::Cart::flush()'"]
    lines += ["collect2: error: ld returned 1 exit status", "make: *** [Makefile:91: all] Error 2"]
    facts = (
        "src/billing/unit_133.cpp:88:13: error: 'tax_table' was not declared in this scope",
        "src/search/unit_260.cpp:412:7: error: no matching function for call to 'rank(Query&, int)'",
        "undefined reference to `shop::Cart::flush()'", "make: *** [Makefile:91: all] Error 2", "$ make -j4 all",
    )  # fmt: skip
    text = json.dumps({"output": "\n".join(lines) + "\n", "exit_code": 2, "error": None})
    return Fixture(
        "failed build, wrapped", "code_output", "terminal", _command("make -j4 all"), text, facts, ("exit_code: 2",)
    )


def _command(command: str) -> str:
    return json.dumps({"command": command})


REPORTS = (pytest_verbose, jest_report, go_test, cargo_test, server_log, access_log, build_output)
