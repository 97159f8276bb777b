"""Outputs of the smaller commands: database tables, search hits, git, CSV, JSON reports.

Each function is one command's output as text. Whatever two outputs share (order numbers, keys,
line numbers) comes from ``shop``, so that later steps can refer back to it.
"""

from __future__ import annotations

import difflib
import json
from datetime import date, timedelta

from sessions.example.shop import BAD_AMOUNTS, BATCH, FALSE_DUPLICATES, FEEDS, Feed, between, hex_digits, pick, source

CUSTOMERS = ("C-1044", "C-1187", "C-2093", "C-2210", "C-3305", "C-4478", "C-5120", "C-6631")
SUBJECTS = (
    "Round tax per line, not per order", "Name the column that is missing", "Read feeds in manifest order",
    "Keep the first delivery of an order", "Give the ledger a lock timeout", "Stop after twenty bad rows",
    "Let an adapter say how it writes amounts", "Print the report as JSON", "Refuse a file without rows",
    "Retry when the ledger is busy", "Drop the old import script", "Show the manifest of a batch",
    "Move adapters into a package", "Check the header before the rows", "Load keys of the last two weeks",
)  # fmt: skip


def git_log(count: int) -> str:
    """``git log --oneline`` with dates."""
    rng = source("git")
    day = date(2025, 10, 12)
    return "\n".join(
        f"{hex_digits(rng, 7)} {day - timedelta(days=number * 3)} {SUBJECTS[number % len(SUBJECTS)]}"
        for number in range(count)
    )


def ledger_rows(count: int, subject: str = "ledger") -> str:
    """A psql table of ledger rows."""
    rng = source(subject)
    lines = [
        "   id   |  feed   |  number  | customer |  placed_on | cur | total_minor |  dedupe_key  ",
        "--------+---------+----------+----------+------------+-----+-------------+--------------",
    ]
    for number in range(count):
        feed = pick(rng, FEEDS)
        lines.append(
            f" {481_200 + number * 3:6d} | {feed.name:<7} | {feed.code}-{feed.first_order + between(rng, 0, 200)} | "
            f"{pick(rng, CUSTOMERS)}   | 2025-10-{between(rng, 1, 13):02d} | {feed.currency} | "
            f"{between(rng, 900, 480_000):11d} | {hex_digits(rng, 12)}"
        )
    return "\n".join([*lines, f"({count} rows)"])


def duplicate_pairs() -> str:
    """The pairs that share a key, as psql prints the join."""
    lines = [
        "  dropped  |   kept    |     key      | customer |  placed_on | dropped_total | kept_total ",
        "-----------+-----------+--------------+----------+------------+---------------+------------",
    ]
    rng = source("pairs")
    for dropped, kept, key in FALSE_DUPLICATES:
        total = between(rng, 1_200, 90_000)
        lines.append(
            f" {dropped:<9} | {kept:<9} | {key} | {pick(rng, CUSTOMERS)}   | 2025-10-13 | {total:13d} | {total:10d}"
        )
    return "\n".join([*lines, f"({len(FALSE_DUPLICATES)} rows)"])


def feed_rows(feed: Feed, count: int) -> str:
    """The head of a feed's file, with amounts in the habit of the feed."""
    rng = source(f"rows/{feed.name}")
    bad = dict(BAD_AMOUNTS)
    separator = feed.separator
    lines = [separator.join((feed.number_column, "customer", "placed", "article", "quantity", feed.total_column))]
    for row in range(count):
        number = f"{feed.code}-{feed.first_order + row}"
        cents = between(rng, 450, 99_900)
        amount = bad.get(number, f"{cents // 100},{cents % 100:02d}" if feed.name != "atlas" else f"{cents / 100:.2f}")
        article = f"{pick(rng, ('K', 'L', 'M', 'P'))}-{between(rng, 100, 999)}"
        cells = (number, pick(rng, CUSTOMERS), "2025-10-13", article, str(between(rng, 1, 9)), amount)
        lines.append(separator.join(cells))
    return "\n".join(lines)


def search_hits(word: str, count: int) -> str:
    """``grep -rn`` over the project."""
    rng = source(f"grep/{word}")
    places = ("importer/batch", "importer/cli", "importer/dedupe", "adapters/base", "adapters/quarry", "shop/returns")
    uses = ("result = {}(value)", "from orderdesk.importer import {}", "assert {}(case)", "# {} is checked above")
    hits = [(pick(rng, places), between(rng, 8, 190), pick(rng, uses).format(word)) for _ in range(count)]
    return "\n".join(f"orderdesk/{place}.py:{line}:    {use}" for place, line, use in sorted(hits))


def error_groups() -> str:
    """Errors of the log by feed and by shape of the amount."""
    lines = ["feed     module   count  first      last       shape"]
    lines.append(f"quarry   amounts  {len(BAD_AMOUNTS):5d}  {BAD_AMOUNTS[0][0]}   {BAD_AMOUNTS[-1][0]}   9.999,99")
    for dropped, kept, key in FALSE_DUPLICATES:
        lines.append(f"{dropped[:2]}       dedupe   {1:5d}  {dropped:<9}  {dropped:<9}  key {key} kept {kept}")
    return "\n".join(lines)


def bad_amount_table() -> str:
    """Each bad amount with what the old and the new reading make of it."""
    lines = ["order      raw         old reading  new reading"]
    lines += [
        f"{number}   {raw:<11} refused      {raw.replace('.', '').replace(',', '')} EUR cents"
        for number, raw in BAD_AMOUNTS
    ]
    return "\n".join(lines)


def run_report(written: int, duplicates: int, errors: list[str], *, rows: int) -> str:
    """What ``orderdesk-import run --json`` prints, with the last rows of every feed."""
    rng = source(f"report/{written}")
    per_feed = [
        {
            "feed": feed.name,
            "read": feed.rows,
            "seconds": between(rng, 20, 140) / 100,
            "last": [
                {
                    "number": f"{feed.code}-{feed.first_order + feed.rows - 1 - back}",
                    "minor": between(rng, 900, 480_000),
                }
                for back in range(rows)
            ],
        }
        for feed in FEEDS
    ]
    read = written + duplicates + len(errors)
    report = {"batch": BATCH, "read": read, "written": written, "duplicates": duplicates, "errors": errors}
    return json.dumps({**report, "feeds": per_feed}, indent=1)


def collisions(count: int) -> str:
    """Keys that several orders shared in earlier nights."""
    rng = source("collisions")
    lines = []
    for number in range(count):
        one, other = FEEDS[number % len(FEEDS)], FEEDS[(number * 5 + 1) % len(FEEDS)]
        lines.append(
            f"{hex_digits(rng, 12)} {one.code}-{one.first_order - between(rng, 40, 900)} "
            f"{other.code}-{other.first_order - between(rng, 40, 900)} batch {2277 + number * 14 // count}"
        )
    return "\n".join(lines)


def timings(rows: int, subject: str) -> str:
    """A profile: function, calls, seconds."""
    rng = source(f"timings/{subject}")
    names = ("batch.normalise", "amounts.parse_amount", "dedupe.dedupe_key", "ledger.append", "reader.decode",
             "retry.with_retry", "ledger.savepoint", "adapters.cell")  # fmt: skip
    lines = ["function                 calls   total_s  per_call_us"]
    for number in range(rows):
        calls = between(rng, 200, 9_000)
        total = between(rng, 3, 900)
        name = names[number % len(names)] + ("" if number < len(names) else f":{between(rng, 20, 120)}")
        lines.append(f"{name:<24} {calls:5d} {total / 100:9.2f} {total * 10_000 // calls:12d}")
    return "\n".join(lines)


def diff(path: str, before: str, after: str) -> str:
    """``git diff`` of one file."""
    old, new = before.splitlines(), after.splitlines()
    return "\n".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm=""))
