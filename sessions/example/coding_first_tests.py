"""The coding session, minutes 29 to 47: what the tests say before any change."""

from __future__ import annotations

from sessions.example import outputs
from sessions.example.project_files import adapter_text, feed_named, file_text, test_module_text
from sessions.example.pytest_report import FAILED, verbose_report
from sessions.example.script import Call, Exchange, Response, bash, python, read
from sessions.example.shop import HOME

PROMPT_TESTS = """Good, that matches what the partner wrote about their new export. Before you change anything: run \
the whole suite verbosely and tell me which failures were there already. I do not want to argue later about what \
broke when. Also look at how the other feeds write their amounts, so that a fix for quarry does not disturb north or \
harbour."""


def first_tests() -> Exchange:
    """The second exchange: the whole suite, and how the feeds write amounts."""
    by_module = "\n".join(
        f"{path:<34} {sum(1 for name in FAILED if name.startswith(path)):3d} failed"
        for path in dict.fromkeys(name.split("::")[0] for name in FAILED)
    )
    missing = f"File does not exist: {HOME}/tests/conftest.py"
    return Exchange(
        29,
        47,
        PROMPT_TESTS,
        (
            Response(
                "Running all tests, one line each.",
                "The whole suite takes about a minute and a half.",
                (bash(".venv/bin/python -m pytest -v", "Run the whole suite verbosely", verbose_report()),),
                wait_minutes=1.62,
            ),
            Response(
                "10 failed, 835 passed, 2 skipped, of 847. By module:",
                "The failures should fall into the same groups as the log, or I have missed something.",
                (
                    python(
                        "from collections import Counter\nfrom pathlib import Path\n\nreport = "
                        "Path('/tmp/pytest.txt').read_text()\n"
                        "failed = [line.split()[1] for line in report.splitlines() if line.startswith('FAILED ')]\n"
                        "for path, count in Counter(name.split('::')[0] for name in failed).items():\n    "
                        "print(f'{path:<34} {count:3d} failed')",
                        by_module,
                    ),
                ),
            ),
            Response(
                "Six in test_quarry.py::test_thousands_point, two in test_dedupe.py, two in test_batch.py: the same "
                "three faults as in the log. "
                "How are the amount tests built?",
                "test_thousands_point[q03] exists already, so somebody saw the new export coming and left the test "
                "failing.",
                (read("tests/importer/test_amounts.py", test_module_text("amounts", 66)),),
            ),
            Response(
                "The cases hold recorded keys as well, so a new key format changes them. The same for the dedupe "
                "tests:",
                "Every case has five values and a key of twelve hex digits.",
                (read("tests/importer/test_dedupe.py", test_module_text("dedupe", 60)),),
            ),
            Response(
                "Both use `make_case` and `run`. Looking for the fixtures behind them.",
                "tests.factories is imported; conftest may hold the ledger fixture.",
                (
                    Call("Read", {"file_path": f"{HOME}/tests/conftest.py"}, missing, is_error=True),
                    bash(
                        "ls tests tests/importer tests/adapters",
                        "List the tests",
                        (
                            "tests:\nadapters\nfactories.py\nimporter\nshop\n\ntests/adapters:\ntest_atlas.py\n"
                            "test_harbour.py\n"
                            "test_meadow.py\ntest_north.py\ntest_quarry.py\ntest_summit.py\n\ntests/importer:\n"
                            "test_amounts.py\n"
                            "test_batch.py\ntest_dedupe.py\ntest_ledger.py\ntest_reader.py\ntest_retry.py"
                        ),
                    ),
                ),
            ),
            Response(
                "There is no conftest.py; everything is in tests/factories.py. Now how rows reach the adapter.",
                "reader.py decides on encoding and separator; a no-break space in an amount would come through here.",
                (read("orderdesk/importer/reader.py", file_text("reader")),),
            ),
            Response(
                "`decode` falls back to cp1252, so a no-break space can arrive in an amount. Reproducing the "
                "smallest failing test by hand.",
                "test_thousands_point[q03] in isolation, without the factories.",
                (
                    python(
                        "from orderdesk.adapters import adapter_for\nfrom orderdesk.importer.reader import RawRow\n\n"
                        "adapter = adapter_for('quarry')\n"
                        "row = RawRow(3, 'QR-77046', {'auftrag': 'QR-77046', 'summe': '1.299,00'}, adapter)\ntry:\n    "
                        "print(adapter.to_order(row))\n"
                        "except Exception as exc:\n    print(type(exc).__name__, exc)",
                        "AmountError cannot read amount '1.299,00'",
                    ),
                ),
            ),
            Response(
                "Same error as in the log. For the comparison: north also writes a decimal comma, atlas a point.",
                "If north has decimal commas and does not fail, it must convert before parse_amount, or its tests "
                "do not cover it.",
                (
                    read("orderdesk/adapters/north.py", adapter_text("north")),
                    read("orderdesk/adapters/atlas.py", adapter_text("atlas")),
                ),
            ),
            Response(
                "north declares the comma too and gets away with it only because its file has whole kronor. What "
                "does quarry's file look like this week?",
                "STYLE of north has decimal_mark ',' and nothing reads it. So north would fail on the first amount "
                "with a comma.",
                (
                    bash(
                        "head -n 121 var/batches/2291/quarry.csv",
                        "Head of quarry's file",
                        outputs.feed_rows(feed_named("quarry"), 120),
                    ),
                ),
            ),
            Response(
                "Points only appear from 1.000 upward, commas everywhere. Let me make sure that this is true of the "
                "whole batch and all feeds.",
                "The smaller amounts have a comma without a point. That they were read at all needs an explanation: "
                "cell() in adapters/base must replace it.",
                (
                    python(
                        "import csv\nimport re\nfrom collections import Counter\nfrom pathlib import Path\n\nfrom "
                        "orderdesk.adapters import adapter_for\n\n"
                        "for path in sorted(Path('var/batches/2291').glob('*.csv')):\n    adapter = "
                        "adapter_for(path.stem)\n"
                        "    rows = csv.DictReader(path.open(encoding='utf-8-sig'), delimiter=adapter.separator)\n"
                        "    shapes = Counter(re.sub(r'\\d+', '9', row[adapter.total_column]) for row in rows)\n    "
                        "print(path.stem, dict(shapes))",
                        "atlas {'9.9': 402}\nharbour {'9': 371}\nmeadow {'9.9': 344}\nnorth {'9': 338}\nquarry "
                        "{'9,9': 201, '9.9,9': 45}\nsummit {'9.9': 211}",
                    ),
                ),
            ),
            Response(
                """The ten failures that were there before any change:

- tests/adapters/test_quarry.py::test_thousands_point, six parameter sets, all `AmountError: cannot read amount \
'1.299,00'`
- tests/importer/test_dedupe.py::test_key_is_stable[d05] and [d12], keys shared by HB-24077 and AT-31552
- tests/importer/test_batch.py::test_counts_add_up[b09] and [b13], stopped by `MAX_ERRORS`

45 of quarry's 246 rows have a thousands point; only the first 21 were reached. harbour writes cents, north whole \
kronor, atlas, meadow and summit a decimal point. My plan: first `AmountStyle` and `parse_amount`, then the key, \
then the batch with savepoints.""",
                "Three faults, three steps, each with its own tests. I say what the plan is and wait.",
            ),
        ),
    )
