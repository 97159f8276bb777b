"""What holds for every text, kind and budget."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compression.engine.compressors import COMPRESSORS, UnknownKind, compress, head_tail
from compression.engine.content_types import KINDS, detect
from compression.engine.fidelity import fidelity
from tests.compression.engine.compressors import outputs
from tests.compression.engine.compressors.file_outputs import FILES
from tests.compression.engine.measuring import count

OUTPUTS = {**outputs.ALL, **FILES}
PIECES = st.sampled_from(
    [
        "2026-01-02 10:11:12,345 ERROR db.pool ", "level=warn ", "INFO ",
        "Traceback (most recent call last):\n", '  File "/srv/a_b.py", line 12, in f\n',
        "KeyError: 'some_key'", "a,b,c\n", "1,234,567.89", "| x | y |\n| --- | --- |\n", "-----+-----\n",
        " id | name \n", "(3 rows)\n", '{"a_b": 1.50, "c": [', "]}", '"\\u0041bc\\nd_e"', "     1\u2192",
        "     2\u2192", "tests/t.py::test_a FAILED\n", "E   AssertionError: x_1\n",
        "--- FAIL: TestX (0.00s)\n", "x_test.go:12: bad\n", "=== RUN   TestX\n", "Exit code 1\n",
        "\x1b[31mred_one\x1b[0m", "50 %\r100 %\r\n", "<system-reminder>\nx\n</system-reminder>", "日本語の文。",
        "文件foo_bar不存在", "größeFaktor", "The quick brown fox jumps over it. ", "https://e.org/x?y=1&z=", "\n",
        "\n\n", "\t", "  ", "0x7f3a9c21", "3f2a9bc", "550e8400-e29b-41d4-a716-446655440000", "😀", "e\u0301",
        "\u2028", "\x00", "=====", "a" * 300, "def load_all(a, b):\n    return a\n", "import os.path\n", "func F() {\n",
        "}\n", "src/a_b.py:12: x = 1\n", "src/a_b.py-13- y\n", "lib/c.ts:7\n", "--\n", "diff --git a/x_y.py b/x_y.py\n",
        "--- a/x_y.py\n+++ b/x_y.py\n", "@@ -1,2 +1,3 @@ def f\n", "+new_one\n", "-old_one\n", "rename from q_r\n",
        " src/z.py | 4 +--\n", "├── b_c.py\n", "-rw-r--r-- 1 a b 4.0K Jan  5 10:20 d.md\n", "docs/e_f/\n", "docs:\n",
        "<h1>T_1 &amp; x</h1>\n", "<a href='/q'>go</a>", "<script>", "<!--", "&#95;y", "<item>3</item>\n",
        "data:image/png;base64,", "iVBORw0KGgoAAAANSUhEUgAA" * 12, "00000000: 8950 4e47 0d0a 1a0a 0000  .PNG\n",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=120).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
    st.lists(PIECES, max_size=60).map(lambda pieces: json.dumps({"output": "".join(pieces), "exit_code": 2})),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PIECES,
        lambda inner: st.lists(inner, max_size=8) | st.dictionaries(PIECES, inner, max_size=6),
        max_leaves=60,
    ).map(lambda value: json.dumps(value, indent=1)),
)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(sorted(COMPRESSORS)), st.integers(1, 200))
def test_a_stub_is_true_within_its_budget_and_never_longer(text: str, kind: str, budget: int) -> None:
    stub = compress(text, kind=kind, budget=budget, count=count)
    before, after = count([text, stub.text])

    assert after <= budget
    assert after <= before
    assert len(stub.text) <= len(text)
    assert fidelity(text, stub.text, stub.counts)[2] == []
    assert stub == compress(text, kind=kind, budget=budget, count=count)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(1, 200))
def test_head_and_tail_are_true_within_their_budget_too(text: str, budget: int) -> None:
    stub = head_tail(text, budget=budget, count=count)
    before, after = count([text, stub.text])

    assert after <= min(budget, before)
    assert len(stub.text) <= len(text)
    assert fidelity(text, stub.text, stub.counts)[2] == []


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from(["", "Bash", "Read", "Task"]), st.text(max_size=20))
def test_detection_always_names_a_kind_with_a_compressor(text: str, tool: str, arguments: str) -> None:
    found = detect(text, tool, arguments)

    assert found.kind in COMPRESSORS
    assert 0 < found.confidence <= 1
    assert found.why


@pytest.mark.parametrize("budget", [5, 20, 60, 150, 400, 1_000])
@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_whole_outputs_stay_true_at_every_budget(name: str, budget: int) -> None:
    made = OUTPUTS[name]()

    stub = compress(made.text, kind=made.kind, budget=budget, count=count)

    assert count([stub.text])[0] <= budget
    assert fidelity(made.text, stub.text, stub.counts)[2] == []


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert compress("two words", kind="log", budget=10, count=count).text == "two words"


def test_the_first_twenty_and_last_ten_lines_are_the_chapters_rule() -> None:
    lines = [f"line_{n}" for n in range(100)]

    stub = head_tail("\n".join(lines), budget=200, count=count)

    assert stub.text.split("\n") == [*lines[:20], "... 70 lines omitted", *lines[90:]]
    assert stub.kept == ("first lines (20)", "last lines (10)")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_asked_for(kind: str) -> None:
    text = outputs.build_output().text

    assert count([compress(text, kind=kind, budget=150, count=count).text])[0] <= 150


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(UnknownKind, match="unknown content type 'poem'; known: test_report, "):
        compress("text " * 1_000, kind="poem", budget=10, count=count)


GIANTS = [
    "a",
    " ",
    "=",
    "-",
    "a ",
    "a,",
    "a|",
    "{",
    "[",
    '"',
    "\\",
    "<",
    "/",
    "a.b",
    ":",
    "é",
    "字",
    "\t",
    "\r",
    ". ",
    "| - ",
    "<a ",
    "<!--",
    "</",
    "A1b",
    "def f(",
    "a/",
    "-1-",
    "\x00",
]


@pytest.mark.parametrize("kind", [*sorted(COMPRESSORS), "detect"])
@pytest.mark.parametrize("piece", GIANTS)
def test_a_giant_line_does_not_hang(piece: str, kind: str) -> None:
    """Quadratic work on 100,000 characters would take minutes."""
    text = piece * (100_000 // len(piece))
    begin = time.process_time()

    if kind == "detect":
        detect(text)
    else:
        compress(text, kind=kind, budget=100, count=lambda texts: [len(text) for text in texts])

    assert time.process_time() - begin < 4


@pytest.mark.parametrize("kind", sorted(COMPRESSORS))
@pytest.mark.parametrize(
    "line",
    [
        "x = 1; | a, b\n",
        "def f(a):\n",
        "class A {\n",
        "if (a) {\n",
        "a/b.py:1: x\n",
        "@@ -1 +1 @@\n",
        "--- a/b\n+++ b/b\n",
        "│   ├── a\n",
        "<p>\n",
    ],
)
def test_many_lines_do_not_hang(kind: str, line: str) -> None:
    text = line * 10_000
    begin = time.process_time()

    compress(text, kind=kind, budget=100, count=lambda texts: [len(text) for text in texts])

    assert time.process_time() - begin < 8


def test_counting_takes_few_calls() -> None:
    calls: list[int] = []

    def counting(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return count(texts)

    compress(outputs.server_log().text, kind="log", budget=1_000, count=counting)

    assert len(calls) <= 3


def test_the_same_bytes_come_out_of_any_process() -> None:
    script = (
        "import hashlib\n"
        "from compression.engine.compressors import compress\n"
        "from tests.compression.engine.compressors import outputs\n"
        "from tests.compression.engine.measuring import count\n"
        "from tests.compression.engine.compressors.file_outputs import FILES\n"
        "made = [m() for m in (*outputs.ALL.values(), *FILES.values())]\n"
        "bodies = [compress(m.text, kind=m.kind, budget=150, count=count).text for m in made]\n"
        "print(hashlib.sha256('\\n'.join(bodies).encode()).hexdigest())\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }  # fmt: skip

    assert len(answers) == 1
