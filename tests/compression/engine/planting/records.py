"""Tables and JSON: shapes, totals, outliers and extremes are the facts."""

from __future__ import annotations

import json

from tests.compression.engine.planting.fixture import Fixture, Noise


def sensor_records(records: int = 1_000, *, indent: int | None = 2) -> Fixture:
    """An answer of an API: one record with an error, one with another shape, one far outside of the rest."""
    noise = Noise(17)
    items: list[dict[str, object]] = []
    for n in range(records):
        item: dict[str, object] = {
            "sensor_id": 41_000 + n,
            "site": noise.one("north_hall", "south_hall", "yard"),
            "reading": noise.below(4_000) / 8,
            "taken_at": f"2026-04-{n % 28 + 1:02d}T{n % 24:02d}:{n % 60:02d}:00Z",
            "state": "ok",
            "tags": [noise.one("raw", "smooth"), f"batch_{n // 100}"],
        }
        if n == 388:
            item |= {"state": "failed", "error": "E_OVERHEAT: limit of 125.5 exceeded in cabinet_9"}
        if n == 712:
            item["calibration"] = {"by": "lab_7", "drift": 0.0425}
        if n == 911:
            item["reading"] = 98_765.25
        items.append(item)
    value = {"cursor": "eyJwIjoyfQ", "total": 41_877, "partial": True, "sensors": items}
    facts = (
        "41877", "eyJwIjoyfQ", "sensor_id", "taken_at", "E_OVERHEAT: limit of 125.5 exceeded in cabinet_9", "41388",
        "lab_7", "98765.25", "41000", "41999",
    )  # fmt: skip
    name = f"JSON, {records:,} records, {'indented' if indent else 'minified'}"
    return Fixture(
        name,
        "json",
        "http_get",
        '{"url": "https://api.example.org/sensors"}',
        json.dumps(value, indent=indent),
        facts,
        (f"array of {records:,}",),
    )


def minified_records() -> Fixture:
    """The same without blanks."""
    return sensor_records(indent=None)


def json_lines(events: int = 400) -> Fixture:
    """One event a line, two of them errors."""
    noise = Noise(4)
    lines = []
    for n in range(events):
        event: dict[str, object] = {
            "at": f"2026-05-02T08:{n // 60:02d}:{n % 60:02d}Z", "level": "info",
            "event": noise.one("opened", "saved", "closed"), "doc": f"doc_{noise.below(900)}", "ms": noise.below(90),
        }  # fmt: skip
        if n in (140, 301):
            event |= {"level": "error", "event": "save_failed", "error": f"disk quota of team_{n} reached"}
        lines.append(json.dumps(event))
    facts = ("disk quota of team_140 reached", "disk quota of team_301 reached", "save_failed", "2026-05-02T08:00:00Z")
    return Fixture(
        "JSON lines, 400 events",
        "json",
        "Bash",
        '{"command": "cat events.jsonl"}',
        "\n".join(lines),
        facts,
        ("array of 400",),
    )


def package_json(packages: int = 260) -> Fixture:
    """A lock file: one object with many keys of one shape, nothing repeated."""
    noise = Noise(33)
    entries = {
        f"node_modules/{noise.one('left', 'right', 'deep', 'tiny')}-part-{n}": {
            "version": f"{noise.below(9)}.{noise.below(20)}.{noise.below(30)}",
            "integrity": f"sha512-{noise.hexadecimal(24)}",
        }
        for n in range(packages)
    }
    value = {"name": "storefront", "version": "4.18.2", "lockfileVersion": 3, "packages": entries}
    facts = ("storefront", "4.18.2", "lockfileVersion", "packages")
    return Fixture(
        "JSON, one deep object",
        "json",
        "Read",
        '{"file_path": "/srv/shop/package-lock.json"}',
        json.dumps(value, indent=2),
        facts,
    )


_NAMES = ("order_id", "customer", "placed_on", "amount", "status", "country")


def _orders(rows: int, seed: int) -> list[list[str]]:
    noise = Noise(seed)
    cells = []
    for n in range(rows):
        amount = "87654.32" if n == 211 else "0.03" if n == 98 else f"{20 + noise.below(900)}.{noise.below(100):02d}"
        status = "charged_back" if n == 333 else noise.one("shipped", "open", "paid")
        day = f"2025-{noise.below(12) + 1:02d}-{noise.below(28) + 1:02d}"
        if n == 150:
            day = "2019-02-03"
        cells.append(
            [f"{60_000 + n}", f"customer {noise.below(70)}", day, amount, status, noise.one("DE", "FR", "CH", "AT")]
        )
    return cells


def _table_facts(rows: int) -> tuple[str, ...]:
    firsts = tuple(str(60_000 + n) for n in (0, 1, 2, 3, 4, rows - 3, rows - 2, rows - 1))
    return (*_NAMES, *firsts, "87654.32", "0.03", "2019-02-03", "charged_back")


def psql_table(rows: int = 400) -> Fixture:
    """As psql aligns it."""
    cells = _orders(rows, 1)
    widths = [max(len(row[column]) for row in (_NAMES, *cells)) for column in range(len(_NAMES))]
    lines = [" " + " | ".join(name.center(width) for name, width in zip(_NAMES, widths, strict=True))]
    lines.append("-" + "-+-".join("-" * width for width in widths) + "-")
    lines += [" " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    text = "\n".join([*lines, f"({rows} rows)", "", "Time: 12.402 ms"]) + "\n"
    return Fixture(
        "psql, 400 rows",
        "table",
        "Bash",
        '{"command": "psql -c \'select * from orders\'"}',
        text,
        (*_table_facts(rows), f"({rows} rows)", "12.402 ms"),
        (f"{rows} rows",),
    )


def markdown_table(rows: int = 400) -> Fixture:
    """Pipes and dashes, with a sentence before."""
    lines = ["Orders of the year, as exported:", "", "| " + " | ".join(_NAMES) + " |", "|" + " --- |" * len(_NAMES)]
    lines += ["| " + " | ".join(row) + " |" for row in _orders(rows, 2)]
    return Fixture(
        "Markdown table, 400 rows",
        "table",
        "query",
        "",
        "\n".join(lines) + "\n",
        (*_table_facts(rows), "Orders of the year"),
        (f"{rows} rows",),
    )


def csv_table(rows: int = 400) -> Fixture:
    """Comma separated with a header."""
    text = "\n".join(",".join(row) for row in (_NAMES, *_orders(rows, 3))) + "\n"
    return Fixture(
        "CSV, 400 rows",
        "table",
        "Read",
        '{"file_path": "/srv/shop/orders.csv"}',
        text,
        _table_facts(rows),
        (f"{rows} rows",),
    )


def pod_list(rows: int = 120) -> Fixture:
    """``kubectl get pods``: columns by position; one pod that crashes, the most restarts."""
    noise = Noise(12)
    table = [["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE"]]
    for n in range(rows):
        app = noise.one("web", "worker", "cache", "mailer")
        crashing = n == 77
        table.append([
            noise.one("shop", "infra", "data"), f"{app}-{noise.hexadecimal(10)}-{noise.hexadecimal(5)}",
            "0/1" if crashing else "1/1", "CrashLoopBackOff" if crashing else "Running",
            "418" if crashing else str(noise.below(4)), f"{noise.below(40) + 1}d",
        ])  # fmt: skip
    widths = [max(len(row[column]) for row in table) for column in range(6)]
    text = "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    )
    facts = (*table[0], table[78][1], "CrashLoopBackOff", "418", table[1][1], table[-1][1])
    return Fixture(
        "kubectl get pods", "table", "Bash", '{"command": "kubectl get pods -A"}', text, facts, (f"{rows} rows",)
    )


RECORDS = (
    sensor_records, minified_records, json_lines, package_json, psql_table, markdown_table, csv_table, pod_list,
)  # fmt: skip
