"""The coding session, minutes 50 to 70: amounts that are read without guessing."""

from __future__ import annotations

import json

from sessions.example import outputs
from sessions.example.project_files import adapter_text, file_text, test_module_text
from sessions.example.pytest_report import FAILED, short_report
from sessions.example.script import Exchange, Response, bash, python, read, write_file
from sessions.example.shop import FEEDS

PROMPT_AMOUNTS = """Agreed, in that order. Amounts first. `parse_amount` should honour both marks of `AmountStyle`, \
and it has to refuse a thousands mark in the wrong place: if quarry ever sends `12.99` I want an error, not 1,299 \
euros. Keep the default style as it is, the shop uses it too."""


QUARRY_FIXED = adapter_text("quarry").replace(
    'AmountStyle(decimal_mark=",")', 'AmountStyle(decimal_mark=",", thousands_mark=".")'
)
AMOUNTS_PATH = "orderdesk/importer/amounts.py"


def amounts() -> Exchange:
    """The third exchange: parse_amount and quarry's adapter."""
    feeds = [
        {"feed": feed.name, "rows": feed.rows, "readable": feed.rows, "refused": 0, "currency": feed.currency}
        for feed in FEEDS
    ]
    still_failing = FAILED[:2]
    return Exchange(
        50,
        70.5,
        PROMPT_AMOUNTS,
        (
            Response(
                "Writing `parse_amount` with both marks, and `check_groups` for the marks that stand wrong.",
                "Order matters: check the groups, take out the thousands mark, then turn the decimal mark into a "
                "point. Only one decimal mark is replaced, so a second one still fails the pattern.",
                (write_file(AMOUNTS_PATH, file_text("amounts", 2)),),
            ),
            Response(
                "Now quarry's adapter: it declares the thousands point.",
                "Only STYLE changes in quarry.py, but the file is generated, so it is written as a whole.",
                (write_file("orderdesk/adapters/quarry.py", QUARRY_FIXED),),
            ),
            Response(
                "",
                "The narrowest tests first.",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/importer/test_amounts.py tests/adapters/test_quarry.py",
                        "Run the amount tests",
                        short_report("tests/adapters/test_quarry.py", 124, still_failing, "2.31"),
                    ),
                ),
            ),
            Response(
                "Two of the six are left, q03 and q07. Reading what I wrote, with line numbers.",
                "q03 and q07 fail with the same message as before, so some path still meets the old pattern.",
                (read(AMOUNTS_PATH, file_text("amounts", 2)),),
            ),
            Response(
                "The code is right: these two cases carry a narrow no-break space, U+202F, and the tests were "
                "collected against the old module. "
                "`GROUPING_SPACES` covers it. Checking with drawn amounts in every style.",
                "A round trip format -> parse over many values would show a rounding step or a lost sign.",
                (
                    python(
                        "import random\n\nfrom orderdesk.importer.amounts import AmountStyle, format_amount, "
                        "parse_amount\n\nSTYLES = {\n"
                        "    'point': AmountStyle(),\n    'comma': AmountStyle(decimal_mark=','),\n    'quarry': "
                        "AmountStyle(decimal_mark=',', thousands_mark='.'),\n"
                        "    'cents': AmountStyle(in_minor_units=True),\n}\n\n\ndef written(minor, style):\n    if "
                        "style.in_minor_units:\n        return str(minor)\n"
                        "    whole, cents = divmod(abs(minor), 100)\n    text = f'{whole:,}' if "
                        "style.thousands_mark else str(whole)\n"
                        "    text = text.replace(',', style.thousands_mark or ',')\n    return ('-' if minor < 0 "
                        "else '') + f'{text}{style.decimal_mark}{cents:02d}'\n\n\n"
                        "rng = random.Random(7)\nfor name, style in STYLES.items():\n    wrong = 0\n    for _ in "
                        "range(20000):\n        minor = rng.randrange(-10**8, 10**8)\n"
                        "        if parse_amount(written(minor, style), 'EUR', style).minor != minor:\n            "
                        "wrong += 1\n    print(f'{name:<7} 20000 drawn, {wrong} wrong')\n"
                        "for raw in ('12.99', '1.29,00', '1.2999,00', '1.299.00', ',50', '1,299.00'):\n    try:\n    "
                        "    "
                        "print(raw, parse_amount(raw, 'EUR', STYLES['quarry']))\n"
                        "    except Exception as exc:\n        print(f'{raw:<10} {exc}')",
                        "point   20000 drawn, 0 wrong\ncomma   20000 drawn, 0 wrong\nquarry  20000 drawn, 0 wrong\n"
                        "cents   20000 drawn, 0 wrong\n"
                        "12.99      amount '12.99' has a thousands mark in the wrong place\n1.29,00    amount "
                        "'1.29,00' has a thousands mark in the wrong place\n"
                        "1.2999,00  amount '1.2999,00' has a thousands mark in the wrong place\n1.299.00   amount "
                        "'1.299.00' has a thousands mark in the wrong place\n"
                        ",50        cannot read amount ',50'\n1,299.00   amount '1,299.00' has a thousands mark in "
                        "the wrong place",
                    ),
                ),
            ),
            Response(
                "80,000 round trips without a difference, and the six doubtful spellings are refused. The change so "
                "far:",
                "The diff should touch parse_amount, one constant and the new check_groups, nothing else.",
                (
                    bash(
                        "git diff orderdesk/importer/amounts.py",
                        "Show the change",
                        outputs.diff(AMOUNTS_PATH, file_text("amounts"), file_text("amounts", 2)),
                    ),
                ),
            ),
            Response(
                "Now the tests: the table of test_amounts.py grows by the shapes of all six feeds.",
                "Each feed gets cases in its own spelling; keys stay as recorded for now and change with the next "
                "step.",
                (write_file("tests/importer/test_amounts.py", test_module_text("amounts", 84)),),
            ),
            Response(
                "",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/importer/test_amounts.py tests/adapters",
                        "Run amounts and adapters",
                        short_report("tests/adapters", 412, (), "6.02"),
                    ),
                ),
            ),
            Response(
                "412 passed, test_thousands_point included. harbour is the feed that could be hurt by a mark in the "
                "wrong place; reading its adapter once.",
                "in_minor_units with a decimal mark would multiply by a hundred. harbour declares only "
                "in_minor_units=True.",
                (read("orderdesk/adapters/harbour.py", adapter_text("harbour")),),
            ),
            Response(
                "harbour stays as it was. All rows of batch 2291 through the new code, without the ledger:",
                "1912 rows, six feeds, nothing refused: that is what I expect to see.",
                (
                    python(
                        "import json\n\nfrom orderdesk.importer.errors import RowError\nfrom "
                        "orderdesk.importer.reader import read_rows\nfrom orderdesk.storage import connect, "
                        "find_batch\n\n"
                        "totals = {}\nwith connect() as connection:\n    batch = find_batch(connection, 2291)\nfor "
                        "row in read_rows(batch):\n"
                        "    entry = totals.setdefault(row.adapter.feed, {'rows': 0, 'readable': 0, 'refused': 0})\n \
   "
                        "entry['rows'] += 1\n    try:\n        row.adapter.to_order(row)\n"
                        "        entry['readable'] += 1\n    except RowError:\n        entry['refused'] += 1\n"
                        "print(json.dumps(totals, indent=1))",
                        json.dumps(feeds, indent=1),
                    ),
                ),
            ),
            Response(
                "Every one of the 1912 rows can be read. Who else calls `parse_amount`?",
                "The shop uses the default style; returns may use it as well.",
                (
                    bash(
                        "grep -rn parse_amount orderdesk",
                        "Find callers of parse_amount",
                        outputs.search_hits("parse_amount", 90),
                    ),
                ),
            ),
            Response(
                "All callers outside the adapters pass two arguments, so they get `DEFAULT_STYLE`. The command "
                "line, for its exit status:",
                "Status 4 at a stop and 3 with errors; the scheduler alarms at 4.",
                (read("orderdesk/importer/cli.py", file_text("cli")),),
            ),
            Response(
                "",
                "Lint before I call this part done.",
                (
                    bash(
                        ".venv/bin/ruff check orderdesk tests && .venv/bin/mypy orderdesk/importer",
                        "Lint and types",
                        "All checks passed!\nSuccess: no issues found in 11 source files",
                    ),
                ),
            ),
            Response(
                "Amounts are done. `parse_amount` honours `decimal_mark` and `thousands_mark`; `check_groups` "
                "refuses `12.99`, `1.29,00` and `1.2999,00` "
                "for quarry. All 1912 rows of the batch can be read, QR-77046 and QR-77178 among them; "
                "`DEFAULT_STYLE` and harbour's cents are unchanged. "
                "Next is `dedupe_key`.",
                "Short report; the next exchange is the key.",
            ),
        ),
    )
