"""What the agent thinks between two steps: a first sentence of the step, then what it keeps in mind.

The sentences name orders, lines, keys and tests that earlier outputs showed, so that a
metric of what was used later has something to find. Drawn, but the same every time.
"""

from __future__ import annotations

from sessions.example.pytest_report import FAILED
from sessions.example.shop import BAD_AMOUNTS, FALSE_DUPLICATES, between, pick, source

EARLY = (
    "The stop came from normalise() in batch.py:68, but that is where it surfaced, not where it began.",
    "{order} carried {raw!r}; a person reads that at once, AMOUNT_PATTERN in amounts.py does not.",
    "MAX_ERRORS is 20 and the 21st bad row was QR-77178, so the count alone explains the hour of the stop.",
    "The rollback lost 1777 rows, and none of those was wrong; that is a second fault, apart from the first.",
    "{dropped} was refused because of key {key}, although {kept} belongs to another feed.",
    "I must not touch the signature of import_batch, and ledger rows are append-only, so no update statement anywhere.",
    "Rows 1 to 1666 came from five feeds without one amount error, which leaves quarry's own habits.",
    "If {order} and its neighbours are the only shape, one style for the feed is enough and no guessing is needed.",
    "recent_keys loaded 18244 keys for 14 days; a false match against one of them would look just the same in the log.",
    "The retries of 0.25 s are noise here: with_retry recovered each time and no LedgerBusy got through.",
    "The message of {order} has no currency in it, so I cannot see from the log alone whether the column was read "
    "at all.",
    "Twice the same value {raw!r} would already be suspicious; here every value differs, so it is a habit and not a "
    "stuck row.",
    "Chunks are 500 rows, the stop came at row 1805, so three whole chunks had been written when everything was "
    "rolled back.",
    "If I only raised MAX_ERRORS, the rows from {order} on would be missing from the ledger without anybody noticing.",
    "{dropped} appears as an ERROR and not as a WARNING, so whoever wrote dedupe.py did not expect duplicates to be "
    "common.",
    "adapters/quarry.py:159 is where the total is read; the unit price goes through the same parse_amount one line "
    "later.",
)
LATE = (
    "{test} is the test to watch: it failed before I touched anything.",
    "{order} with {raw!r} is my smallest case; if it reads as cents without a rounding step, the style is right.",
    "dedupe_key takes customer_ref, placed_on and total_minor only, so {dropped} and {kept} cannot be told apart.",
    "Old ledger rows keep their short keys such as {key}; a new key format has to live beside them.",
    "A savepoint per row costs a round trip; ledger.savepoint already numbers them by depth, so names do not clash.",
    "check_groups has to refuse '12.99' for quarry, or a decimal point would silently become a thousands mark.",
    "The promise that read equals written plus duplicates plus errors is the one to assert at the end of the batch.",
    "MIN_ERRORS stays at 20, so short batches behave as before, and only long ones get the share of five percent.",
    "I should run {test} again before the whole suite; a minute and a half for 847 tests is too long for each step.",
    "harbour writes minor units and has no currency column, so nothing of this may change what HB rows mean.",
    "The dry run must leave the ledger as it was; ledger.rollback raises psycopg.Rollback inside the transaction.",
    "{kept} was written by an earlier night, and its row must read the same after the change.",
    "legacy_key has to be byte for byte what dedupe_key was, otherwise {key} would never be found again.",
    "If {order} comes again tomorrow as a correction, corrects names the old number and the key differs by the new "
    "one.",
    "The scheduler reads the exit status only: 0 when all rows are accounted for, 3 with errors, 4 when the batch "
    "stopped.",
    "GROUPING_SPACES has three kinds of space, because cp1252 files give U+00A0 and the new export gives U+202F.",
    "I keep {dropped} and {kept} as the pair for the notes, since both stand in the log of the 14th.",
    "A value like {raw!r} must give the same cents whether it comes as a total or as a unit price.",
)


def thought(first: str, step: int, *, sentences: int, is_late: bool) -> str:
    """The step's own sentence and ``sentences`` more, none of them twice in one thought."""
    rng = source(f"thought/{step}")
    pool = LATE if is_late else EARLY
    start = between(rng, 0, len(pool) - 1)
    chosen = [pool[(start + number * 3 + number // 4) % len(pool)] for number in range(sentences)]
    filled = []
    for sentence in dict.fromkeys(chosen):
        order, raw = pick(rng, BAD_AMOUNTS)
        dropped, kept, key = pick(rng, FALSE_DUPLICATES)
        test = pick(rng, FAILED).split("::")[1]
        filled.append(sentence.format(order=order, raw=raw, dropped=dropped, kept=kept, key=key, test=test))
    return " ".join([first, *filled]).strip()
