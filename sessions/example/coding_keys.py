"""The coding session, minutes 76 to 92: a key that tells feeds apart."""

from __future__ import annotations

from sessions.example import outputs
from sessions.example.project_files import adapter_text, file_text, test_module_text
from sessions.example.pytest_report import short_report
from sessions.example.script import Exchange, Response, bash, python, read, write_file
from sessions.example.shop import FALSE_DUPLICATES

PROMPT_KEYS = """Amounts look right to me. Now the duplicates. Remember that the ledger is append-only: the old keys \
stay where they are, so an order that an earlier night wrote must still be recognised when it is delivered again. \
And the seven orders that were dropped wrongly should go through when the batch is repeated."""

DEDUPE_PATH = "orderdesk/importer/dedupe.py"


def keys() -> Exchange:
    """The fourth exchange: dedupe_key and the old rows of the ledger."""
    pairs = "\n".join(f"{dropped} {kept} {key} equal" for dropped, kept, key in FALSE_DUPLICATES)
    after = "\n".join(
        f"{dropped} v2:{key}{key[:8]} | {kept} v2:{key[::-1]}{key[4:]} differ"
        for dropped, kept, key in FALSE_DUPLICATES
    )
    plan = (
        "Index Scan using ledger_entry_placed_on on ledger_entry  (cost=0.42..1893.11 rows=18244 width=24) (actual "
        "time=0.031..9.870 rows=18244)\n"
        "  Index Cond: (placed_on >= (CURRENT_DATE - 14))\nPlanning Time: 0.214 ms\nExecution Time: 11.402 ms"
    )
    failing = (
        "tests/importer/test_dedupe.py::test_key_is_stable[d05]",
        "tests/importer/test_dedupe.py::test_key_is_stable[d12]",
    )
    return Exchange(
        76.5,
        92,
        PROMPT_KEYS,
        (
            Response(
                "Back to dedupe.py, from the constants to the end of `admit`.",
                "I read this file an hour ago; I want the exact lines before I change them.",
                (read(DEDUPE_PATH, file_text("dedupe"), 18, 38),),
            ),
            Response(
                "First the keys of the seven pairs as they are now.",
                "A baseline again, so that the change can be shown.",
                (
                    python(
                        "from orderdesk.importer.dedupe import dedupe_key\nfrom orderdesk.importer.reader import "
                        "read_rows\nfrom orderdesk.storage import connect, find_batch\n\n"
                        "with connect() as connection:\n    batch = find_batch(connection, 2291)\norders = "
                        "{row.number: row.adapter.to_order(row) for row in read_rows(batch)}\n"
                        f"for dropped, kept in {[(dropped, kept) for dropped, kept, _ in FALSE_DUPLICATES]}:\n"
                        "    ours, theirs = dedupe_key(orders[dropped]), dedupe_key(orders[kept])\n    "
                        "print(dropped, kept, ours, 'equal' if ours == theirs else 'differ')",
                        pairs,
                    ),
                ),
            ),
            Response(
                "All seven are equal. How many rows of the ledger would a new key format meet?",
                "18244 rows in the window; their keys are twelve hex digits and stay.",
                (
                    bash(
                        'psql orderdesk -c "select id, feed, number, customer_ref, placed_on, currency, '
                        "total_minor, dedupe_key from ledger_entry "
                        'where placed_on >= current_date - 14 order by id limit 60"',
                        "Sample of the deduplication window",
                        outputs.ledger_rows(60, "window"),
                    ),
                ),
            ),
            Response(
                "Writing the new key beside the old one: `dedupe_key` with feed, number and currency, `legacy_key` "
                "for rows written before.",
                "An old row may only match when it holds this very order, which same_number checks. Then HB-24077 "
                "passes and a true repeat is still refused.",
                (write_file(DEDUPE_PATH, file_text("dedupe", 2)),),
            ),
            Response(
                "",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/importer/test_dedupe.py",
                        "Run the dedupe tests",
                        short_report("tests/importer/test_dedupe.py", 40, failing, "1.12"),
                    ),
                ),
            ),
            Response(
                "d05 and d12 compare with recorded keys of the old format. Reading my version before I touch the "
                "tests.",
                "The two failures are those from before; but they fail for a new reason now, so the tests need the "
                "new keys.",
                (read(DEDUPE_PATH, file_text("dedupe", 2)),),
            ),
            Response(
                "The code does what I meant. The table gets keys of version 2, and cases for a repeat that an "
                "earlier night wrote.",
                "KEY_VERSION 2 and the unit separator are part of the format; the tests should pin both.",
                (write_file("tests/importer/test_dedupe.py", test_module_text("dedupe", 80)),),
            ),
            Response(
                "",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/importer/test_dedupe.py",
                        "Run the dedupe tests again",
                        short_report("tests/importer/test_dedupe.py", 54, (), "1.20"),
                    ),
                ),
            ),
            Response(
                "54 passed. `Order.as_row` writes the key, so models.py is the other half.",
                "as_row calls dedupe_key; the column has to be wide enough for 'v2:' and twenty digits.",
                (read("orderdesk/models.py", file_text("models")),),
            ),
            Response(
                "`as_row` needs no change. The seven pairs again, with the new key:",
                "Same script, other result.",
                (
                    python(
                        "from orderdesk.importer.dedupe import KEY_VERSION, dedupe_key\nfrom "
                        "orderdesk.importer.reader import read_rows\nfrom orderdesk.storage import connect, "
                        "find_batch\n\n"
                        "assert KEY_VERSION == 2\nwith connect() as connection:\n    batch = find_batch(connection, "
                        "2291)\norders = {row.number: row.adapter.to_order(row) for row in read_rows(batch)}\n"
                        f"for dropped, kept in {[(dropped, kept) for dropped, kept, _ in FALSE_DUPLICATES]}:\n"
                        "    ours, theirs = dedupe_key(orders[dropped]), dedupe_key(orders[kept])\n    "
                        "print(dropped, ours, '|', kept, theirs, 'equal' if ours == theirs else 'differ')",
                        after,
                    ),
                ),
            ),
            Response(
                "All seven differ now. Is the lookup of recent keys still one index scan?",
                "recent_keys loads both formats; the plan must not change.",
                (
                    bash(
                        'psql orderdesk -c "explain analyze select dedupe_key, number from ledger_entry where '
                        'placed_on >= current_date - 14 order by id"',
                        "Query plan of recent_keys",
                        plan,
                    ),
                ),
            ),
            Response(
                "11 ms for 18244 rows. A check against history: the last 14 nights with both keys.",
                "If the new key ever admits what the old one refused and was right, it shows here as a repeat of "
                "one number.",
                (
                    python(
                        "from collections import defaultdict\n\nfrom orderdesk.importer.dedupe import dedupe_key, "
                        "legacy_key\nfrom orderdesk.importer.reader import read_rows\n"
                        "from orderdesk.storage import connect, find_batch\n\nwith connect() as connection:\n    "
                        "batches = [find_batch(connection, number) for number in range(2277, 2291)]\n"
                        "old, new = defaultdict(set), defaultdict(set)\nfor batch in batches:\n    for row in "
                        "read_rows(batch):\n        order = row.adapter.to_order(row)\n"
                        "        old[legacy_key(order)].add((order.feed, order.number))\n        "
                        "new[dedupe_key(order)].add((order.feed, order.number))\n"
                        "print('old keys shared by several orders', sum(len(orders) > 1 for orders in old.values()))\n"
                        "print('new keys shared by several orders', sum(len(orders) > 1 for orders in new.values()))\n"
                        "for key, orders in sorted(old.items()):\n    if len(orders) > 1:\n        print(key, "
                        "*sorted(orders))",
                        "old keys shared by several orders 83\nnew keys shared by several orders 0\n"
                        + outputs.collisions(83),
                    ),
                ),
            ),
            Response(
                "83 collisions in two weeks, none with the new key. Corrections go through meadow's `previous_no`; "
                "one look at how that meets the key.",
                "A correction has its own number, so it gets its own key, and `corrects` names the old one.",
                (read("orderdesk/adapters/meadow.py", adapter_text("meadow")),),
            ),
            Response(
                "",
                "Other users of the key?",
                (
                    bash(
                        "grep -rn dedupe_key orderdesk tests | head -100",
                        "Find users of dedupe_key",
                        outputs.search_hits("dedupe_key", 92),
                    ),
                ),
            ),
            Response(
                "Only the importer and the ledger. The change as a whole:",
                "",
                (
                    bash(
                        "git diff orderdesk/importer/dedupe.py",
                        "Show the change",
                        outputs.diff(DEDUPE_PATH, file_text("dedupe"), file_text("dedupe", 2)),
                    ),
                ),
            ),
            Response(
                "The key now holds feed, number and currency (`v2:` and twenty digits). Old rows keep theirs: "
                "`legacy_key` finds them and `same_number` "
                "accepts the match only for the same order. The seven pairs, from HB-24077/AT-31552 to "
                "SU-11947/AT-31411, have different keys; in the last "
                "14 nights 83 keys were shared by several orders and none is any more. No ledger row was touched. "
                "Next: savepoints in batch.py.",
                "The collision count is the figure that the user will want for the partners.",
            ),
        ),
    )
