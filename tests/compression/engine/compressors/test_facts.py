"""Labelled outputs: the facts stand in the stub, at a twentieth of the size."""

import json

import pytest

from compression.engine.compressors import Compressed, compress
from compression.engine.content_types import detect
from compression.engine.fidelity import fidelity
from tests.compression.engine.compressors import outputs
from tests.compression.engine.compressors.file_outputs import FILES
from tests.compression.engine.measuring import budget_of, count


def stub_of(text: str) -> tuple[Compressed, int]:
    (tokens,) = count([text])
    return compress(text, kind=detect(text).kind, budget=budget_of(tokens), count=count), tokens


@pytest.mark.parametrize("name", sorted(outputs.ALL))
def test_every_labelled_fact_is_in_view_with_four_fifths_saved(name: str) -> None:
    made = outputs.ALL[name]()

    stub, tokens = stub_of(made.text)

    assert [fact for fact in made.facts if fact not in stub.text] == []
    assert count([stub.text])[0] <= 0.2 * tokens
    assert fidelity(made.text, stub.text, stub.counts)[2] == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_labelled_fact_about_files_is_in_view_with_four_fifths_saved(name: str) -> None:
    """Of source code seven tenths."""
    made = FILES[name]()
    (tokens,) = count([made.text])

    budget = tokens * (3 if made.kind == "source_code" else 2) // 10
    stub = compress(made.text, kind=detect(made.text).kind, budget=budget, count=count)

    assert tokens > 2_000
    assert [fact for fact in made.facts if fact not in stub.text] == []
    assert count([stub.text])[0] <= budget
    assert fidelity(made.text, stub.text, stub.counts)[2] == []


@pytest.mark.parametrize("name", ["pytest_report", "server_log", "psql_table", "csv_table", "go_test", "build_output"])
def test_the_facts_survive_a_json_wrapper_and_so_does_the_exit_code(name: str) -> None:
    made = outputs.ALL[name]()

    stub, _ = stub_of(json.dumps({"output": made.text, "exit_code": 1}))

    assert [fact for fact in (*made.facts, "exit_code: 1") if fact not in stub.text] == []


def test_compact_json_is_told_like_indented_json() -> None:
    made = outputs.json_records(indent=None)

    stub, _ = stub_of(made.text)

    assert [fact for fact in made.facts if fact not in stub.text] == []


def test_a_log_that_ends_in_a_traceback_keeps_both() -> None:
    made = outputs.server_log()
    frame = '  File "/srv/app/run.py", line 77, in serve\n    step()\n'
    crash = f"Traceback (most recent call last):\n{frame}RuntimeError: queue_full\n"

    stub, _ = stub_of(made.text + crash)

    expected = (
        *made.facts[1:2],
        "RuntimeError: queue_full",
        'File "/srv/app/run.py", line 77, in serve',
        "CRITICAL 2",
    )
    assert [fact for fact in expected if fact not in stub.text] == []


def test_levels_are_not_looked_for_inside_words_or_messages() -> None:
    lines = [f"2026-01-01 10:00:{n:02d} INFO ERROR_RATE is {n}, last error: none, FATAL is a word" for n in range(60)]
    text = "\n".join(lines * 5)

    stub, _ = stub_of(text)

    assert "levels: INFO 300" in stub.text.split("\n")


def test_a_log_tells_levels_in_its_own_spelling() -> None:
    lines = [f"time=2026-01-01T10:00:{n:02d}Z level={'error' if n == 9 else 'info'} msg=step_{n}" for n in range(60)]

    stub, _ = stub_of("\n".join(lines * 5))

    assert "levels: error 5, info 295" in stub.text.split("\n")


def test_numbers_of_json_keep_their_spelling() -> None:
    text = json.dumps({"records": [{"price": 0.5, "n": n} for n in range(500)]}).replace("0.5", "1.10", 1)

    stub, _ = stub_of(text)

    assert "max 1.10" in stub.text


def test_a_table_row_of_an_extreme_is_shown() -> None:
    stub, _ = stub_of(outputs.csv_table().text)

    assert "70201,customer 21,2025-10-06,98765.43,shipped" in stub.text.split("\n")


def test_a_csv_cell_with_a_line_break_is_one_row() -> None:
    rows = "".join(f'{n},"two\nlines",{n * 2}\n' for n in range(300))

    stub, _ = stub_of(f"id,note,twice\n{rows}")

    assert "300 rows, 3 columns" in stub.text.split("\n")


def test_two_long_tables_of_one_output_are_told_apart() -> None:
    first = "name,size\n" + "".join(f"file_{n},{n}\n" for n in range(250))
    second = "city,people\n" + "".join(f"town_{n},{n * 1_000}\n" for n in range(250))

    stub, _ = stub_of(f"{first}\n{second}")

    assert [row for row in stub.text.split("\n") if row.startswith(("250 rows", "name,", "city,"))] == [
        "name,size",
        "250 rows, 2 columns",
        "city,people",
        "250 rows, 2 columns",
    ]


def test_compile_errors_of_a_failed_go_build_are_kept() -> None:
    lines = [f"ok  \texample.org/shop/pkg{n}\t0.{n:03d}s" for n in range(200)]
    lines[90:90] = [
        "# example.org/shop/cart",
        "cart/total.go:41:7: undefined: roundUp",
        "FAIL\texample.org/shop/cart [build failed]",
    ]

    stub, _ = stub_of("\n".join([*lines, "FAIL"]))

    assert "cart/total.go:41:7: undefined: roundUp" in stub.text.split("\n")


def test_a_failing_unittest_is_told_with_place_and_error() -> None:
    dots = [f"test_step_{n} (tests.flow.FlowTest.test_step_{n}) ... ok" for n in range(200)]
    block = [
        "=" * 70,
        "FAIL: test_sum (tests.flow.FlowTest.test_sum)",
        "-" * 70,
        "Traceback (most recent call last):",
        '  File "/srv/app/tests/flow.py", line 58, in test_sum',
        "    self.assertEqual(total, 4)",
        "AssertionError: 3 != 4",
        "",
        "-" * 70,
        "Ran 201 tests in 0.412s",
        "",
        "FAILED (failures=1)",
    ]

    stub, _ = stub_of("\n".join(dots + block))

    expected = (
        "test_sum (tests.flow.FlowTest.test_sum)",
        'File "/srv/app/tests/flow.py", line 58',
        "AssertionError: 3 != 4",
        "Ran 201 tests in 0.412s",
        "FAILED (failures=1)",
    )
    assert [fact for fact in expected if fact not in stub.text] == []


def test_two_failures_of_one_name_in_two_files_are_both_told() -> None:
    passes = [f"tests/test_more.py::test_{n} PASSED" for n in range(200)]
    blocks = [
        "=================================== FAILURES ===================================",
        "__________________________________ test_same ___________________________________",
        "E   AssertionError: first_reason",
        "tests/test_a.py:11: AssertionError",
        "__________________________________ test_same ___________________________________",
        "E   AssertionError: second_reason",
        "tests/test_b.py:22: AssertionError",
        "=========================== short test summary info ============================",
        "FAILED tests/test_a.py::test_same - AssertionError: first_reason",
        "FAILED tests/test_b.py::test_same - AssertionError: second_reason",
        "========================= 2 failed, 200 passed in 1.10s ========================",
    ]

    stub, _ = stub_of("\n".join(passes + blocks))

    expected = blocks[2:4] + blocks[5:7] + blocks[8:10]
    assert [fact for fact in expected if fact.removeprefix("E   ") not in stub.text] == []
