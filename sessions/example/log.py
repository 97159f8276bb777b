"""The importer's log of the bad night: 2,000 lines, most of them dull, some of them the answer.

The lines that matter (bad amounts, false duplicates, the stop) stand at fixed places with
fixed names from ``shop``; the rest is drawn. Times only ever rise.
"""

from __future__ import annotations

from sessions.example.shop import BAD_AMOUNTS, BATCH, FALSE_DUPLICATES, FEEDS, LOG_LINES, between, pick, source

SKUS = ("K-204", "K-311", "L-018", "L-077", "M-450", "M-462", "P-009", "P-131", "R-720", "T-555")
START_SECONDS = 2 * 3600 + 41
SLOW_PARTS = ("ledger append", "recent_keys", "decode", "adapter_for")


def stamp(centiseconds: int) -> str:
    """Time of day with hundredths, as the log prints it."""
    seconds, rest = divmod(centiseconds, 100)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest:02d}"


def import_log() -> str:
    """The whole log file, exactly LOG_LINES lines."""
    tail = stop_lines()
    body: list[str] = [
        f"INFO cli batch {BATCH} started, 6 feeds, 1912 rows expected",
        "INFO ledger recent_keys loaded, 18244 keys, window 14 days",
    ]
    rng = source("log")
    bad = dict(BAD_AMOUNTS)
    duplicates = {dropped: (kept, key) for dropped, kept, key in FALSE_DUPLICATES}
    position = 0
    for feed in FEEDS:
        body.append(f"INFO reader {feed.name} opened, separator {feed.separator!r}")
        for row in range(feed.rows):
            position += 1
            number = f"{feed.code}-{feed.first_order + row}"
            if number in bad:
                body.append(f"ERROR amounts row {position} order={number} cannot read amount '{bad[number]}'")
                if number == BAD_AMOUNTS[-1][0]:
                    break
            elif number in duplicates:
                kept, key = duplicates[number]
                body.append(f"ERROR dedupe duplicate key {key} order={number} kept={kept}")
            else:
                body.append(f"DEBUG adapter row {position} {number} {pick(rng, SKUS)} ok")
            if rng.random() < 0.06:
                body.append(extra_line(rng.random(), position, number, between(rng, 120, 940)))
            if position % 500 == 0:
                body.append(f"INFO batch {BATCH} chunk done, {position} rows")
    body = fitted(body, LOG_LINES - len(tail))
    clock = START_SECONDS * 100
    lines = []
    for text in [*body, *tail]:
        clock += between(rng, 3, 58)
        lines.append(text if text.startswith(" ") else f"{stamp(clock)} {text}")
    return "\n".join(lines)


def extra_line(draw: float, position: int, number: str, milliseconds: int) -> str:
    """What a log says between the rows: waits, retries, slow parts."""
    if draw < 0.3:
        return f"WARNING retry attempt 1 ledger busy, pause 0.25 s ({number})"
    if draw < 0.7:
        return f"INFO timing {SLOW_PARTS[position % len(SLOW_PARTS)]} {milliseconds} ms at row {position}"
    return f"DEBUG reader row {position} field 'note' trimmed"


def fitted(body: list[str], count: int) -> list[str]:
    """Drop or add dull lines at the front half until the log has its length."""
    lines = list(body)
    place = 40
    while len(lines) > count:
        if lines[place].startswith("DEBUG"):
            del lines[place]
        place = place + 3 if place < len(lines) - 400 else 41
    extra = 0
    while len(lines) < count:
        lines.insert(10 + extra * 2, f"DEBUG pool connection {extra % 4} checked, idle {extra % 7} s")
        extra += 1
    return lines


def stop_lines() -> list[str]:
    """The end of the night: a traceback and the rollback."""
    number, raw = BAD_AMOUNTS[-1]
    return [
        f"CRITICAL batch {BATCH} stopped: more than 20 bad rows in batch {BATCH}",
        "  Traceback (most recent call last):",
        '    File "orderdesk/importer/batch.py", line 68, in normalise',
        "      return row.adapter.to_order(row)",
        '    File "orderdesk/adapters/quarry.py", line 159, in to_order',
        "      total = parse_amount(cell(values, TOTAL_COLUMN), currency, STYLE)",
        '    File "orderdesk/importer/amounts.py", line 38, in parse_amount',
        '      raise AmountError(f"cannot read amount {raw!r}", currency=currency)',
        f"  orderdesk.importer.errors.AmountError: cannot read amount {raw!r} (order {number})",
        f"ERROR ledger transaction rolled back, 1777 rows of batch {BATCH} lost",
        "INFO cli exit status 4",
    ]
