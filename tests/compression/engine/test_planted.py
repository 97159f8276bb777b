"""The planted facts stand in the stubs, at the default budget of one result, whatever the output is wrapped in."""

import json
from collections.abc import Callable

import pytest

from compression.engine.compressors import compress, units
from compression.engine.content_types import detect
from compression.engine.fidelity import fidelity
from compression.engine.presets import PRESETS
from tests.compression.engine.measuring import count
from tests.compression.engine.planted import FIXTURES, Fixture

BY_NAME = {fixture.name: fixture for fixture in FIXTURES}
HERMES = PRESETS["hermes"]
LEAST_SAVED = {"source_code": 0.7, "prose": 0.7}


def stub_of(fixture: Fixture, text: str) -> tuple[str, float]:
    """The stub, and the share that it saves."""
    (tokens,) = count([text])
    kind = detect(text, fixture.tool, fixture.arguments).kind
    stub = compress(text, kind=kind, budget=HERMES.stub_budget(tokens), count=count, arguments=fixture.arguments)
    assert fidelity(text, stub.text, stub.counts)[2] == []
    return stub.text, 1 - count([stub.text])[0] / tokens


def body(fixture: Fixture) -> str:
    """The output without the wrapper that it came in."""
    text = fixture.text
    return str(json.loads(text)["output"]) if text.startswith('{"output"') else text


def numbered(mark: str, width: int = 6) -> Callable[[str], str]:
    def number(text: str) -> str:
        lines = text.rstrip("\n").split("\n")
        return "\n".join(f"{row:>{width}}{mark}{line}" for row, line in enumerate(lines, 1))

    return number


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "JSON with an exit code": lambda text: json.dumps({"output": text, "exit_code": 1}),
    "JSON with stdout": lambda text: json.dumps({"exitCode": 1, "stdout": text, "stderr": ""}, indent=2),
    "numbers and arrows": numbered("\u2192"),
    "numbers and tabs": numbered("\t"),
    "numbers and colons": numbered(":", 0),
    "numbers, colons and blanks": numbered(": "),
    "numbers and bars": numbered("|"),
    "colours": lambda text: "".join(f"\x1b[32m{line[:5]}\x1b[0m{line[5:]}\n" for line in text.split("\n")),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "a reminder": lambda text: f"{text}\n\n<system-reminder>\nKeep the list.\n</system-reminder>\n",
    "a progress bar": lambda text: "".join(f"\rfetching {share} %" for share in range(100)) + "\r" + text,
}


def test_every_kind_has_a_fixture_of_more_than_two_thousand_tokens() -> None:
    assert {fixture.kind for fixture in FIXTURES} == {
        "test_report", "code_output", "log", "table", "json", "source_code", "search_hits", "diff", "listing", "markup",
        "prose", "binary",
    }  # fmt: skip
    assert [
        f.name for f, tokens in zip(FIXTURES, count([f.text for f in FIXTURES]), strict=True) if tokens <= 2_000
    ] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_the_facts_for_peers_stand_in_the_output(name: str) -> None:
    fixture = BY_NAME[name]

    assert [fact for fact in fixture.facts if fact not in body(fixture)] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_all_planted_facts_are_in_view_at_the_default_budget(name: str) -> None:
    fixture = BY_NAME[name]

    stub, saved = stub_of(fixture, fixture.text)

    assert detect(fixture.text, fixture.tool, fixture.arguments).kind == fixture.kind
    assert [fact for fact in (*fixture.facts, *fixture.computed) if fact not in stub] == []
    assert saved >= LEAST_SAVED.get(fixture.kind, 0.8)


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "Go source, numbered"])
def test_wrapping_changes_neither_kind_nor_facts(name: str, wrapping: str) -> None:
    fixture = BY_NAME[name]
    text = WRAPPINGS[wrapping](body(fixture))

    stub, _ = stub_of(fixture, text)

    assert detect(text).kind == fixture.kind
    assert [fact for fact in fixture.facts if fact not in stub] == []


def test_a_log_that_ends_in_a_traceback_tells_both() -> None:
    log = BY_NAME["access log, 700 lines"]
    frame = '  File "/srv/web/run.py", line 88, in main\n    serve()\n'
    crash = f"Traceback (most recent call last):\n{frame}OSError: port_busy\n"

    stub, _ = stub_of(log, f"{log.text}\n{crash}")

    expected = (*log.facts, 'File "/srv/web/run.py", line 88', "OSError: port_busy")
    assert [fact for fact in expected if fact not in stub] == []


def pods_and_volumes() -> str:
    pods = BY_NAME["kubectl get pods"].text
    volumes = ["VOLUME           SIZE     CLAIMED BY"]
    volumes += [f"vol-{number:<12} {number * 3 % 40 + 1:<3} Gi   claim-{number * 7}" for number in range(60)]
    return "\n".join([pods, "", *volumes])


@pytest.mark.parametrize(
    ("text", "totals"),
    [
        (f"{BY_NAME['psql, 400 rows'].text}\n{BY_NAME['psql, 400 rows'].text}", ["400 rows, 6 columns"] * 2),
        ("a,b,c\n1,2,3\n4,5,6\n7,8,9\n\nkey,worth\nx,1\ny,2\nz,3\n", ["3 rows, 3 columns", "3 rows, 2 columns"]),
        (pods_and_volumes(), ["120 rows, 6 columns", "60 rows, 3 columns"]),
    ],
    ids=["psql", "CSV", "columns"],
)
def test_several_tables_in_one_output_are_told_each(text: str, totals: list[str]) -> None:
    assert detect(text).kind == "table"
    assert [unit.text for unit in units(text, "table").units if unit.label == "row count"] == totals


def test_a_log_in_chinese_is_told_like_any_other() -> None:
    lines = [f"2026-05-01 10:{n // 60:02d}:{n % 60:02d} INFO 处理订单 order_{n} 完成" for n in range(300)]
    lines[120] = "2026-05-01 10:02:00 ERROR 数据库连接失败 db_replica_3"
    stub, _ = stub_of(Fixture("", "log", "", "", "", ()), "\n".join(lines))

    assert detect("\n".join(lines)).kind == "log"
    assert [fact for fact in (lines[120], "300 lines", "ERROR 1") if fact not in stub] == []


def test_a_read_log_with_line_numbers_keeps_the_numbers_of_its_errors() -> None:
    fixture = BY_NAME["failed build, wrapped"]
    text = WRAPPINGS["numbers and arrows"](body(fixture))

    stub, _ = stub_of(fixture, text)

    assert "136\u2192src/billing/unit_133.cpp:88:13: error: 'tax_table' was not declared in this scope" in stub.split(
        "\n"
    )


def test_rows_with_numbers_and_bars_are_no_listing() -> None:
    text = "\n".join(f"{n}|name_{n}|{n * 7}" for n in range(1, 60))

    assert detect(text).kind == "table"
