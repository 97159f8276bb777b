"""The coding session, minutes 0 to 26: what stopped the import. Nothing is changed yet."""

from __future__ import annotations

from sessions.example import outputs
from sessions.example.log import import_log
from sessions.example.packages import package_list
from sessions.example.project_files import adapter_text, file_text
from sessions.example.script import Exchange, Response, bash, python, read
from sessions.example.shop import BATCH

LOG = "var/log/import-2025-10-14.log"

PROMPT_SEARCH = f"""The nightly order import stopped at 02:10 this morning and batch {BATCH} is not in the ledger. \
This is the third night in a row that something small takes the whole batch down.

Please find out what happened, then fix it properly. The log is {LOG}, the code is under orderdesk/importer and \
orderdesk/adapters.

Three rules for everything that you do here:
- Do not change the signature of `import_batch`; the scheduler and the back office call it by these names.
- The ledger is append-only. No update, no delete, and no migration that rewrites rows.
- A number that can be read in two ways must be refused, never guessed.

Tell me what you found before you change anything."""


def investigation() -> Exchange:
    """The first exchange: the log, then the code behind it."""
    log = import_log()
    lines = log.split("\n")
    levels = "\n".join(
        f"{level:<9} {sum(1 for line in lines if f' {level} ' in line):5d}"
        for level in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    )
    return Exchange(
        0,
        26.5,
        PROMPT_SEARCH,
        (
            Response(
                "I will start at the end of the log, where the run gave up.",
                "The last lines name the row that stopped it.",
                (bash(f"tail -n 14 {LOG}", "Show the end of the import log", "\n".join(lines[-14:])),),
            ),
            Response(
                "The run ended with exit status 4 after QR-77178. The last row is only the one too many, so I want "
                "to see the whole "
                "night, not just its end.",
                "The tail shows the 21st bad row. What the first twenty were is further up, and I cannot tell yet "
                "if they are all quarry.",
                (bash(f"cat {LOG}", "Read the whole import log", log),),
            ),
            Response(
                "2,000 lines. Let me count before I read into single rows.",
                "Too long to judge by eye; levels first, then errors grouped by module.",
                (
                    python(
                        f"from collections import Counter\nfrom pathlib import Path\n\nlines = "
                        f"Path('{LOG}').read_text().splitlines()\n"
                        "levels = Counter(line.split()[1] for line in lines if not line.startswith(' '))\n"
                        "for level in ('DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'):\n    print(f'{level:<9} "
                        "{levels[level]:5d}')",
                        levels,
                    ),
                ),
            ),
            Response(
                "29 errors and one CRITICAL. Now the errors by feed, module and shape of the value.",
                "One more error than bad rows and duplicates together, which is the rollback line itself.",
                (
                    python(
                        f"import re\nfrom collections import defaultdict\nfrom pathlib import Path\n\ngroups = "
                        f"defaultdict(list)\n"
                        f"for line in Path('{LOG}').read_text().splitlines():\n"
                        "    found = re.search(r'ERROR (amounts|dedupe).*order=(\\w\\w-\\d+)(.*)', line)\n    if "
                        "found:\n"
                        "        module, order, rest = found.groups()\n        shape = re.sub(r'\\d', '9', rest)\n"
                        "        groups[order[:2], module, shape].append(order)\nfor key, orders in "
                        "sorted(groups.items()):\n"
                        "    print(*key, len(orders), orders[0], orders[-1])",
                        outputs.error_groups(),
                    ),
                ),
            ),
            Response(
                "All 21 unreadable amounts are quarry's, from QR-77046 to QR-77178, and all have a thousands point "
                "and a decimal comma. "
                "Next to them are seven duplicates across feeds, which looks wrong in its own way. Reading the two "
                "modules involved.",
                "Two separate faults, then. The traceback goes through batch.py and amounts.py, so both together.",
                (
                    read("orderdesk/importer/batch.py", file_text("batch")),
                    read("orderdesk/importer/amounts.py", file_text("amounts")),
                ),
            ),
            Response(
                "`AMOUNT_PATTERN` only knows a point, and `parse_amount` never looks at `style.decimal_mark`. What "
                "does quarry's adapter declare?",
                "AmountStyle has a decimal_mark field that nothing reads. North declares a comma as well, so why "
                "does north not fail?",
                (read("orderdesk/adapters/quarry.py", adapter_text("quarry")),),
            ),
            Response(
                'The adapter says `AmountStyle(decimal_mark=",")` and no thousands mark. Let me see who else relies '
                "on `MAX_ERRORS`.",
                "quarry.py:159 passes STYLE correctly. The style is right for September's export and wrong for "
                "October's.",
                (
                    bash(
                        "grep -rn MAX_ERRORS orderdesk | head -60",
                        "Find uses of MAX_ERRORS",
                        outputs.search_hits("MAX_ERRORS", 56),
                    ),
                ),
            ),
            Response(
                "`MAX_ERRORS` is checked in one place only. Now the duplicates: HB-24077 was refused in favour of "
                "AT-31552, and these are "
                "orders of two different feeds.",
                "A key that matches across feeds cannot contain the feed.",
                (read("orderdesk/importer/dedupe.py", file_text("dedupe")),),
            ),
            Response(
                "`KEY_FIELDS` has neither the feed nor the number. First I want the amounts reproduced outside the "
                "run.",
                "Reading all 21 through the present parse_amount gives a baseline that I can compare after the fix.",
                (
                    python(
                        "from orderdesk.importer.amounts import AmountStyle, parse_amount\nfrom "
                        "orderdesk.importer.errors import AmountError\n\n"
                        f"bad = [line.split('order=')[1].split(' ', 1) for line in open('{LOG}') if 'cannot read' "
                        f"in line and 'order=' in line]\n"
                        'for order, rest in bad:\n    raw = rest.split("\'")[1]\n    try:\n        old = '
                        "parse_amount(raw, 'EUR', AmountStyle(decimal_mark=','))\n"
                        "    except AmountError:\n        old = 'refused'\n    print(order, raw, old, "
                        "raw.replace('.', '').replace(',', ''))",
                        outputs.bad_amount_table(),
                    ),
                ),
            ),
            Response(
                "All 21 are refused and all would be unambiguous with a thousands point. Now the pairs behind the "
                "seven duplicate keys.",
                "If customer, day and total are equal by chance, the join shows different feeds with equal totals.",
                (
                    bash(
                        'psql orderdesk -c "select d.number dropped, k.number kept, k.dedupe_key, k.customer_ref, '
                        "k.placed_on from staging d "
                        'join staging k using (dedupe_key) where d.number <> k.number and d.batch = 2291"',
                        "Show the pairs that share a key",
                        outputs.duplicate_pairs(),
                    ),
                ),
            ),
            Response(
                "Seven pairs, each of two feeds, same customer reference, day and total. Reading the ledger, and a "
                "sample of what it holds.",
                "Whether a new key can live beside the old ones depends on how ledger.py uses the column.",
                (
                    read("orderdesk/importer/ledger.py", file_text("ledger")),
                    bash(
                        "psql orderdesk -c 'select id, feed, number, customer_ref, placed_on, currency, "
                        "total_minor, dedupe_key from "
                        "ledger_entry order by id desc limit 80'",
                        "Show the newest ledger rows",
                        outputs.ledger_rows(80),
                    ),
                ),
            ),
            Response(
                "`Ledger.savepoint` exists and nothing calls it. The notes may say what was intended.",
                "A savepoint context manager with a depth counter is not there by accident.",
                (read("docs/import_notes.md", file_text("import_notes")),),
            ),
            Response(
                "The notes list both limits as known. Let me see when they came in.",
                "'A batch is one transaction' and 'More than 20 bad rows stop a batch' are known limits, so "
                "changing them is no surprise to anyone.",
                (bash("git log --format='%h %ad %s' --date=short -n 110", "Recent commits", outputs.git_log(110)),),
            ),
            Response(
                "One more possibility to rule out: that a package update changed how numbers are read.",
                "If an update of a money or csv package came in on the 13th, my theory about quarry's export would "
                "be weaker.",
                (bash(".venv/bin/pip list", "List installed packages", package_list()),),
            ),
            Response(
                f"""What happened to batch {BATCH}:

1. Since this week quarry writes a thousands point (`1.299,00`). `parse_amount` replaces `style.thousands_mark` but \
never `style.decimal_mark`, so `AMOUNT_PATTERN` refuses all 21 such rows, QR-77046 to QR-77178 (amounts.py:38).
2. `MAX_ERRORS = 20` in batch.py:22 counts bad rows whatever the length of the batch. QR-77178 was the 21st; \
`normalise` raised `ImportStopped`.
3. `import_batch` runs in one transaction and `Ledger.savepoint` is never used, so 1777 good rows were rolled back \
with it.
4. Apart from that, `dedupe_key` takes customer_ref, placed_on and total_minor only. Seven orders were dropped as \
duplicates of orders of other feeds, for example HB-24077 for AT-31552 (key 7c1f09a4be21). They are lost silently \
every night.

The package list shows nothing that would explain it; the retries in the log recovered on their own. I have changed \
nothing.""",
                "Four findings, in the order in which they have to be fixed. The rules forbid rewriting ledger "
                "rows, so number four needs care.",
            ),
        ),
    )
