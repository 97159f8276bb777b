"""A Claude Code session in which the agent itself cleared results once and compacted once.

Three exchanges about the adapters; between the first two old results are blanked, before the
third the whole conversation is replaced by a summary.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.example import outputs
from sessions.example.project_files import adapter_text, file_text, test_module_text
from sessions.example.pytest_report import short_report
from sessions.example.script import Exchange, Response, bash, python, read, write_file

KEPT_RESULTS = 3


@dataclass(frozen=True, slots=True)
class CompactedSession:
    """The three parts; ``micro_minute`` lies between the first two, ``compact_minute`` between the last two."""

    before_micro: Exchange
    before_compact: Exchange
    after_compact: Exchange
    summary: str
    micro_minute: float
    compact_minute: float


def compacted_session() -> CompactedSession:
    """The plan of the session."""
    reading = Exchange(
        0,
        14,
        "Every adapter repeats the same read_ functions. Find out what they have in common before we touch them.",
        (
            Response(
                "I will read all six, two at a time.",
                "The differences matter more than what is common.",
                (
                    read("orderdesk/adapters/atlas.py", adapter_text("atlas")),
                    read("orderdesk/adapters/harbour.py", adapter_text("harbour")),
                ),
            ),
            Response(
                "The limits differ, the shape does not.",
                "",
                (
                    read("orderdesk/adapters/meadow.py", adapter_text("meadow")),
                    read("orderdesk/adapters/north.py", adapter_text("north")),
                ),
            ),
            Response(
                "The last two.",
                "",
                (
                    read("orderdesk/adapters/quarry.py", adapter_text("quarry")),
                    read("orderdesk/adapters/summit.py", adapter_text("summit")),
                ),
            ),
            Response(
                "Which functions are used from outside?",
                "If anyone imports read_customer directly, it has to stay.",
                (
                    bash(
                        "grep -rn read_ orderdesk | head -70",
                        "Find uses of read_ functions",
                        outputs.search_hits("read_customer", 64),
                    ),
                ),
            ),
            Response(
                "Each adapter has fourteen `read_` functions that differ in the column and the limit only. A table "
                "of `(column, limit, may_be_empty)` "
                "for each feed and one function `read_cell` would replace 84 functions. read_customer is imported "
                "by orderdesk/shop/returns.py and must stay.",
                "Report and wait.",
            ),
        ),
    )
    trying = Exchange(
        17,
        33,
        "Good. Try it with atlas alone and keep the others as they are.",
        (
            Response(
                "The tests of atlas first.",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/adapters/test_atlas.py",
                        "Run the tests of atlas",
                        short_report("tests/adapters/test_atlas.py", 58),
                    ),
                ),
            ),
            Response(
                "How do the tests build a row?",
                "make_case builds values by the names of the columns.",
                (
                    read("tests/importer/test_reader.py", test_module_text("reader", 40)),
                    read("orderdesk/importer/reader.py", file_text("reader")),
                ),
            ),
            Response(
                "The limits of atlas as a table:",
                "Counting from the text instead of by hand.",
                (
                    python(
                        "import re\nfrom pathlib import Path\n\ntext = "
                        "Path('orderdesk/adapters/atlas.py').read_text()\n"
                        "for name, limit in re.findall(r'def read_(\\w+).*?> (\\d+):', text, re.S):\n    "
                        "print(f'{name:<12} {limit:>4}')",
                        "customer      214\nplaced         81\narticle       143\nquantity       36\nunit_price    "
                        "190\ntax            77\nnote          228\nchannel        15",
                    ),
                ),
            ),
            Response(
                "Writing read_cell beside the adapters.",
                "One function, one error message, the limit from the table.",
                (
                    write_file(
                        "orderdesk/adapters/cells.py",
                        (
                            '"""One way to read a cell: its column, its longest length, and if it may be empty."""\n\n'
                            "from orderdesk.importer.errors import RowError\n\n\ndef read_cell(values, column, "
                            "limit, *, may_be_empty=True):\n"
                            '    """The stripped text of one cell; too long or wrongly empty is a RowError."""\n'
                            '    text = values.get(column, "").strip()\n'
                            '    if len(text) > limit:\n        raise RowError(column, f"is longer than {limit} '
                            'characters")\n'
                            '    if not text and not may_be_empty:\n        raise RowError(column, "is empty")\n    '
                            "return text\n"
                        ),
                    ),
                ),
            ),
            Response(
                "And the tests again, with those of the reader.",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/adapters tests/importer/test_reader.py",
                        "Run adapters and reader",
                        short_report("tests/adapters", 388),
                    ),
                ),
            ),
            Response(
                "atlas works with `read_cell`, 388 tests pass. orderdesk/adapters/cells.py is new; read_customer "
                "stays as a thin wrapper.",
                "",
            ),
        ),
    )
    summary = (
        "This session is continued from a conversation that ran out of context. Summary of the work so far:\n\n"
        "1. The user wants the repeated read_ functions of the six adapters replaced, one feed at a time.\n"
        "2. Each adapter had fourteen read_ functions that differ in column and limit only. read_customer is "
        "imported by "
        "orderdesk/shop/returns.py and must stay.\n"
        "3. orderdesk/adapters/cells.py now has read_cell(values, column, limit, *, may_be_empty=True). atlas uses "
        "it; 388 tests pass.\n"
        "4. Open: meadow, north, quarry, summit, harbour. harbour writes minor units and has no currency column."
    )
    going_on = Exchange(
        36,
        47,
        "Continue with meadow.",
        (
            Response(
                "Reading meadow again; the summary does not hold its limits.",
                "After the compaction I have to look at the file once more.",
                (read("orderdesk/adapters/meadow.py", adapter_text("meadow")),),
            ),
            Response(
                "meadow has a correction column, previous_no, that atlas calls replaces. Its tests:",
                "",
                (
                    bash(
                        ".venv/bin/python -m pytest -q tests/adapters/test_meadow.py",
                        "Run the tests of meadow",
                        short_report("tests/adapters/test_meadow.py", 56),
                    ),
                ),
            ),
            Response(
                "meadow can use `read_cell` in the same way; 56 tests pass before the change. I will write it next.", ""
            ),
        ),
    )
    return CompactedSession(reading, trying, going_on, summary, micro_minute=15, compact_minute=34)
