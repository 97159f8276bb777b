"""JSONPath of whoever has a token: what it reads, and what it may not do to a server."""

from __future__ import annotations

import re
from typing import Any

import pytest

from compression.engine.json_paths import BadPath, values_at

DOCUMENT = {"rows": [{"id": 1, "name": "ana"}, {"id": 2, "name": "bo"}], "meta": {"id": 7}}


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("$.rows[*].id", ["1", "2"]),
        ("$..id", ["1", "2", "7"]),
        ("$.rows[0]['id', 'name']", ["1", '"ana"']),
        ("$.rows[1, 0].id", ["2", "1"]),
        ("$.rows[?@.id > 1].name", ['"bo"']),
        ("$.rows[?match(@.name, 'b.')].id", ["2"]),
        ("$.rows[?match(@.name, 'b')].id", []),
        ("$.rows[?search(@.name, '^a|o$')].id", ["1", "2"]),
        ("$.rows[-1:].id", ["2"]),
    ],
)
def test_a_path_reads_its_values_one_a_line(path: str, lines: list[str]) -> None:
    assert values_at(DOCUMENT, path).split("\n") == (lines or [""])


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("rows[0]", "expected 'TOKEN_ROOT', found 'TOKEN_NAME'"),
        ("$..*..*", "`..` may stand once, and in no filter"),
        ("$.rows[?@..id]", "`..` may stand once, and in no filter"),
        ("$[*, *]", "several values in one pair of brackets have to be different names, or indexes from 0"),
        ("$[0, -1]", "several values in one pair of brackets have to be different names, or indexes from 0"),
        ("$['rows', 'rows']", "several values in one pair of brackets have to be different names, or indexes from 0"),
        ("$[?@['id', 'id']]", "several values in one pair of brackets have to be different names, or indexes from 0"),
        ("$.rows[?@.id == $.meta.id]", "a filter may ask of the value at hand, as in [?@.a == 1], not of `$`"),
        ("$.rows[?length($.rows) > 1]", "a filter may ask of the value at hand, as in [?@.a == 1], not of `$`"),
        ("$.rows[?match(@.name, '(')]", "'(' is no RE2 expression: missing ): ("),
        ("$[?" + "!" * 900 + "@.a]", "the path is nested too deep"),
    ],
)
def test_a_path_that_could_take_for_ever_is_refused(path: str, why: str) -> None:
    with pytest.raises(BadPath, match=f"^{re.escape(why)}$"):
        values_at(DOCUMENT, path)


def test_a_pattern_that_would_back_track_for_years_is_run_in_no_time() -> None:
    assert values_at([{"a": "a" * 5_000 + "!"}], "$[?search(@.a, '(a|aa)+$')]") == ""


def test_a_bare_value_has_no_paths() -> None:
    with pytest.raises(BadPath, match=r"^the original is one bare value; read it whole$"):
        values_at("[1]", "$")


def test_a_value_that_is_nested_too_deep_is_no_defect() -> None:
    deep: Any = []
    for _ in range(600):
        deep = [deep]

    with pytest.raises(BadPath, match=r"^a value there is nested too deep to be written; use lines or grep$"):
        values_at(deep, "$[0]")


def test_values_that_hold_each_other_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compression.engine.json_paths.MOST_BYTES", 60)

    with pytest.raises(BadPath, match=r"^the values come to more than 60 bytes; name fewer$"):
        values_at(DOCUMENT, "$..*")
