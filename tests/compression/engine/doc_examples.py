"""The examples of docs/engine.md: outputs before, and what the engine really makes of them.

``python -m tests.compression.engine.doc_examples`` writes the blocks between the document's markers anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compression.engine.calibration import Calibration
from compression.engine.edits import Edit
from compression.engine.lab import tried
from compression.engine.live import Compression, compress_window
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.stubs import Stubber
from tests.docs_examples.shop_session import shop_session

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "engine.md"
SHOWN = 7
LISTED = ("hermes", "chapter", "cache-first", "recall-first")
"""Presets whose settings the document lists beside each other."""

EDITED = ("superseded", "arguments", "thinking")
LEFT = {"marker": (8_000, 7_000), "state": (8_000, 7_450)}
"""Notes, with a window and the tokens in it that the log does not hold, so that the session is too long for it."""

_BLOCK = re.compile(r"<!-- example (\w+) -->\n.*?<!-- end -->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """An output of a tool, and the tokens that its stub may have."""

    kind: str
    tool: str
    text: str
    budget: int = 110


def _rows(count: int, row: Callable[[int], str]) -> str:
    return "\n".join(row(n) for n in range(count))


EXAMPLES = {
    example.kind: example
    for example in (
        Example(
            "test_report",
            "Bash",
            "============================= test session starts ==============================\ncollected 64 items\n\n"
            + _rows(62, lambda n: f"tests/test_orders.py::test_row_{n} PASSED")
            + "\ntests/test_orders.py::test_comma FAILED\ntests/test_orders.py::test_dot PASSED\n\n"
            "=================================== FAILURES ===================================\n"
            "__________________________________ test_comma __________________________________\n\n"
            "    def test_comma():\n>       assert parse('1.299,00') == 1299\n"
            "E       ValueError: not a number: '1.299,00'\n\n"
            "tests/test_orders.py:88: ValueError\n"
            "=========================== short test summary info ============================\n"
            "FAILED tests/test_orders.py::test_comma - ValueError: not a number: '1.299,00'\n"
            "========================= 1 failed, 63 passed in 2.14s =========================",
        ),
        Example(
            "code_output",
            "Bash",
            _rows(40, lambda n: f"step {n}: ok") + "\nTraceback (most recent call last):\n"
            '  File "/srv/feed/run.py", line 31, in <module>\n    main()\n'
            '  File "/srv/feed/run.py", line 22, in main\n    rows = read(path)\n'
            "FileNotFoundError: [Errno 2] No such file or directory: '/srv/feed/in/orders.csv'\nexit code: 1",
        ),
        Example(
            "log",
            "Bash",
            _rows(
                60,
                lambda n: (
                    f"2026-03-01 10:{n:02}:00 ERROR import: row {n} of batch-7 rejected: no price"
                    if n % 20 == 19
                    else f"2026-03-01 10:{n:02}:00 INFO import: row {n} stored"
                ),
            ),
        ),
        Example("table", "Bash", "id,price,sold\n" + _rows(80, lambda n: f"{n},{n * 1.5:.2f},2026-02-{n % 28 + 1:02}")),
        Example(
            "json",
            "fetch",
            "["
            + _rows(
                40,
                lambda n: (
                    f'{{"id": {n}, "state": "{("done", "failed")[n == 31]}", "ms": {(20 + n % 5, 9000)[n == 31]}}}'
                ),
            ).replace("\n", ",\n")
            + "]",
        ),
        Example(
            "source_code",
            "Read",
            '"""Reads the feeds of partners."""\n\nimport csv\nfrom pathlib import Path\n\n\n'
            + "\n\n\n".join(
                f'def read_{name}(path: Path, limit: int = 100) -> list[str]:\n    """Rows of the {name} feed."""\n'
                f"    rows = []\n    with path.open() as stream:\n        for row in csv.reader(stream):\n"
                f"            rows.append(row[{n}])\n    return rows[:limit]"
                for n, name in enumerate(("orders", "prices", "stock", "returns"))
            ),
            140,
        ),
        Example(
            "search_hits",
            "Grep",
            _rows(36, lambda n: f"src/{'abc'[n % 3]}/reader.py:{n * 7 + 3}:    amount = parse_amount(row[{n}])"),
        ),
        Example(
            "diff",
            "Bash",
            "".join(
                f"diff --git a/src/{name}.py b/src/{name}.py\n--- a/src/{name}.py\n+++ b/src/{name}.py\n"
                f"@@ -10,8 +10,9 @@ def read_{name}(path):\n"
                + "     rows = []\n" * 5
                + f"-    return rows\n+    rows.sort()\n+    return rows[:{n + 1}]\n"
                for n, name in enumerate(("orders", "prices", "stock", "returns"))
            ),
        ),
        Example(
            "listing",
            "Bash",
            _rows(70, lambda n: f"./{('src', 'tests', 'docs')[n % 3]}/part_{n}.{('py', 'py', 'md')[n % 3]}"),
        ),
        Example(
            "markup",
            "fetch",
            "<html><head><title>Feeds of partners</title></head><body><h1>Feeds</h1>"
            + "".join(f'<h2>Partner {n}</h2><div class="box"><p>Sends at {n}:30 by SFTP.</p></div>' for n in range(14))
            + "</body></html>",
        ),
        Example(
            "prose",
            "fetch",
            "The import of partner feeds runs every night. "
            + " ".join(
                f"Partner {n} sends its orders as a file of rows, and every row is checked before it is stored."
                for n in range(16)
            )
            + " One bad row must not roll back the good ones.",
        ),
        Example("binary", "Bash", "iVBORw0KGgoAAAANSUhEUgAA" + "AbCdEf0123456789+/" * 60, 60),
    )
}


EXCERPT = Example(
    "log",
    "Bash",
    _rows(9_000, lambda n: f"2026-03-01 10:{n // 60 % 60:02}:{n % 60:02} INFO import: row {n} stored in orders"),
)


@cache
def _compressed(window: int = 1_400, hidden: int = 0) -> Compression:
    """The shop session before its last call, in a small window."""
    policy = PRESETS["hermes"].model_copy(
        update={
            "context_window": window,
            "recent_tokens": 150,
            "min_reclaim_tokens": 0,
            "max_argument_tokens": 80,
            "clear_thinking": True,
        }
    )
    return compress_window(shop_session(), policy, Calibration(hidden=hidden), stubber=Stubber())


def example_block(name: str) -> str:
    """What stands between an example's markers."""
    if name == "presets":
        return presets_table()
    return "\n".join(("```text", *_abridged(before(name)), "```", "", "becomes", "", "```text", after(name), "```"))


def before(name: str) -> str:
    """The text that an example starts from."""
    if name in LEFT:
        done = _compressed(*LEFT[name])
        assert done.note is not None
        return done.snapshots[done.note.sha256]
    if name in EDITED:
        return _compressed().snapshots[_edit(name).sha256]
    return EXCERPT.text if name == "excerpt" else EXAMPLES[name].text


def after(name: str) -> str:
    """What the engine makes of it."""
    if name in LEFT:
        note = _compressed(*LEFT[name]).note
        assert note is not None
        assert note.kind == name
        return note.text
    if name in EDITED:
        return _edit(name).text
    example = EXCERPT if name == "excerpt" else EXAMPLES[name]
    found = tried(
        example.text, tool=example.tool, budget=example.budget, allocation="per_result", policy=PRESETS["hermes"],
        stubber=Stubber(),
    )  # fmt: skip
    assert found.stub is not None, name
    assert found.content.kind == example.kind, (name, found.content)
    return found.stub.text


def _edit(kind: str) -> Edit:
    return next(edit for edit in _compressed().edits.values() if edit.kind == kind)


def presets_table() -> str:
    """The settings in which the listed presets differ, in the order of the policy's fields."""
    rows = [f"| setting | {' | '.join(LISTED)} |", "| --- |" + " --- |" * len(LISTED)]
    for field in Policy.model_fields:
        values = [getattr(PRESETS[name], field) for name in LISTED]
        if field not in ("name", "about") and any(value != values[0] for value in values):
            rows.append(f"| `{field}` | {' | '.join(map(_shown, values))} |")
    return "\n".join(rows)


def _shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _abridged(text: str) -> list[str]:
    lines = [line if len(line) <= 110 else line[:107] + "..." for line in text.split("\n")]
    return lines if len(lines) <= SHOWN + 2 else [*lines[:SHOWN], f"... ({len(lines) - SHOWN:,} more lines)"]


def rewritten(document: str) -> str:
    """The document with every block as the engine makes it today."""
    return _BLOCK.sub(lambda found: f"<!-- example {found[1]} -->\n{example_block(found[1])}\n<!-- end -->", document)


if __name__ == "__main__":
    DOCUMENT.write_text(rewritten(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
