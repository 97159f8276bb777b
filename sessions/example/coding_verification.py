"""The coding session, minutes 115 to 127: notes, a last run of everything, the commit."""

from __future__ import annotations

from sessions.example.project_files import file_text
from sessions.example.pytest_report import short_report
from sessions.example.script import Exchange, Response, bash, python, read, write_file

PROMPT_VERIFY = """Very good. Please bring the notes up to date, run everything once more, make sure that the dry \
runs left the ledger alone, and commit. One commit is fine. Tonight's run will then repeat 2291."""

NOTES_FIXED = (
    file_text("import_notes")
    .replace(
        "- A batch is one transaction. A stopped batch leaves nothing behind, which is safe but slow to repeat.\n"
        "- More than 20 bad rows stop a batch, however long it is.\n",
        "- A batch is one transaction with a savepoint for each chunk and each row: a bad row is noted and the "
        "others stay.\n"
        "- A batch stops when more than 5 % of the rows read so far are bad, but never before the 21st bad row.\n"
        "- Keys of version 2 begin with `v2:`. Rows with shorter keys are older; they match only the same order "
        "number.\n",
    )
    .replace("decimal comma, thousands point since October", "decimal comma and thousands point, declared in its style")
)
CHANGELOG = """# Changelog

## Unreleased

- Amounts: `AmountStyle.decimal_mark` and `thousands_mark` are honoured. A thousands mark that does not stand before \
exactly
  three digits is refused. quarry declares both marks.
- Duplicates: the key holds feed, number and currency (version 2). Orders of different feeds are never duplicates of \
each
  other. Older ledger rows keep their keys and are still recognised.
- Batches: a savepoint for each chunk and each row. A batch stops at more than 5 % bad rows, never before the 21st.
- The report of a batch ends with one line that adds up, and a batch that lost rows is stopped.
"""


def verification() -> Exchange:
    """The last exchange."""
    stat = (
        " CHANGELOG.md                     |  14 ++++++\n docs/import_notes.md             |   7 ++-\n "
        "orderdesk/adapters/quarry.py     |   2 +-\n"
        " orderdesk/importer/amounts.py    |  24 ++++++++--\n orderdesk/importer/batch.py      |  41 "
        "++++++++++++----\n orderdesk/importer/dedupe.py     |  33 ++++++++++---\n"
        " tests/importer/test_amounts.py   |  16 +++++++\n tests/importer/test_batch.py     |   8 ++++\n "
        "tests/importer/test_dedupe.py    |  12 +++++\n 9 files changed, 137 insertions(+), 20 deletions(-)"
    )
    return Exchange(
        115.5,
        127,
        PROMPT_VERIFY,
        (
            Response(
                "The notes first.",
                "Known limits and the line about quarry are out of date.",
                (read("docs/import_notes.md", file_text("import_notes")),),
            ),
            Response(
                "Two limits are gone and one line is new.", "", (write_file("docs/import_notes.md", NOTES_FIXED),)
            ),
            Response(
                "Everything once more.",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q --durations=40",
                        "Run the whole suite",
                        short_report("tests", 871, (), "98.12", slowest=40),
                    ),
                ),
                wait_minutes=1.66,
            ),
            Response(
                "871 passed, none failed; there were ten failures two hours ago. Did the dry runs leave the ledger "
                "alone?",
                "Count and newest id before and after, from the nightly statistics.",
                (
                    python(
                        "from orderdesk.storage import connect\n\nwith connect() as connection:\n    count, newest "
                        "= connection.execute('select count(*), max(id) from ledger_entry').fetchone()\n"
                        "    noted = connection.execute('select rows, newest_id from nightly_statistics order by "
                        "night desc limit 1').fetchone()\nprint(count, newest, 'noted', *noted)",
                        "1204418 481311 noted 1204418 481311",
                    ),
                ),
            ),
            Response(
                "Same count and same newest id, 481311. One more dry run on the final code, errors only.",
                "",
                (
                    bash(
                        "orderdesk-import run 2291 --dry-run | tail -n 3",
                        "Final dry run",
                        "batch 2291: 1912 read, 1909 written, 3 duplicates",
                    ),
                ),
            ),
            Response("The changelog:", "", (write_file("CHANGELOG.md", CHANGELOG),)),
            Response("", "", (bash("git diff --stat", "Size of the change", stat),)),
            Response(
                "Last doubt: a batch that is repeated after a real run must write nothing.",
                "The notes promise that rows in the ledger are duplicates, not errors.",
                (
                    python(
                        "from orderdesk.importer.batch import import_batch\nfrom tests.factories import make_batch\n\n"
                        "batch, ledger = make_batch('b01')\n"
                        "first = import_batch(batch, ledger)\nsecond = import_batch(batch, ledger)\nprint('first ', "
                        "first.summary())\nprint('second', second.summary())",
                        "first  read=120 written=118 duplicates=2 errors=0\nsecond read=120 written=0 "
                        "duplicates=120 errors=0",
                    ),
                ),
            ),
            Response(
                "118 and then 0.",
                "",
                (
                    bash(
                        ".venv/bin/ruff check . && .venv/bin/mypy orderdesk",
                        "Lint and types",
                        "All checks passed!\nSuccess: no issues found in 38 source files",
                    ),
                ),
            ),
            Response(
                "Removing what my checks left in /tmp.",
                "",
                (
                    python(
                        "from pathlib import Path\n\nfor name in ('dry-run-2291.json', 'dry-run-2291.rows.jsonl', "
                        "'pytest.txt'):\n    path = Path('/tmp') / name\n    path.unlink(missing_ok=True)\n    "
                        "print('removed', name)",
                        "removed dry-run-2291.json\nremoved dry-run-2291.rows.jsonl\nremoved pytest.txt",
                    ),
                ),
            ),
            Response(
                "",
                "",
                (
                    bash(
                        "git add -u CHANGELOG.md && git commit -m 'Read thousands marks, tell feeds apart, keep "
                        "good rows'",
                        "Commit",
                        "[main 5d0c1e7] Read thousands marks, tell feeds apart, keep good rows\n 9 files changed, "
                        "137 insertions(+), 20 deletions(-)",
                    ),
                ),
            ),
            Response(
                """Committed as 5d0c1e7. In short:

- `parse_amount` reads quarry's `1.299,00` and refuses what can be read in two ways.
- `dedupe_key` tells feeds apart; HB-24077 and the six other orders will be written tonight. Old keys stay and still \
match their own order.
- `import_batch`, signature unchanged, keeps good rows when others fail, and its report adds up.
- 871 tests pass; the ten failures of this morning are gone. The ledger still ends at id 481311: no dry run wrote \
anything.

Tonight's run repeats 2291; I expect 1909 written, 3 duplicates, 0 errors and exit status 0.""",
                "Everything asked for is done: notes, tests, ledger check, commit.",
            ),
        ),
    )
