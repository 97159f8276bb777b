"""Every published case of dangerous and harmless commands, whole and at every prefix."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sessions.streaming.partial_json import PartialJson
from sessions.streaming.rules.judging import Judge, judge_call

CASES = Path(__file__).resolve().parents[3] / "shared" / "reference" / "danger-cases.tsv"
LEVELS = ["allow", "ask", "abort"]


def cases() -> list[tuple[str, str, str]]:
    if not CASES.exists():
        return []
    rows = [line.split("\t") for line in CASES.read_text(encoding="utf-8").split("\n")[1:] if line]
    letters = {"n": "\n", "t": "\t"}
    return [
        (name, re.sub(r"\\(.)", lambda found: letters.get(found[1], found[1]), command), expected.lower())
        for name, command, expected in rows
    ]


@pytest.mark.skipif(not cases(), reason="the published cases are not here")
def test_every_case_is_judged_as_published() -> None:
    judged = {name: judge_call("Bash", {"command": command}).level for name, command, _ in cases()}
    assert judged == {name: expected for name, _, expected in cases()}


@pytest.mark.skipif(not cases(), reason="the published cases are not here")
def test_no_prefix_of_any_case_is_judged_more_strictly_than_the_whole() -> None:
    for name, command, expected in cases():
        judge, scanner = Judge("Bash"), PartialJson()
        for char in json.dumps({"command": command}):
            judge.hear(scanner.feed(char))
            assert LEVELS.index(judge.level) <= LEVELS.index(expected), name
        assert judge.level == expected, name
