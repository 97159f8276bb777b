"""The importers over public recordings, against the counts of their index. Skips where the recordings are absent."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from sessions.importers import ImportFailure, ParsedSession, read_sessions

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
INDEX = SAMPLES / "INDEX.tsv"
READ = ("claude-code/", "codex/", "anthropic-messages/", "openai-chat/")

pytestmark = pytest.mark.skipif(not INDEX.is_file(), reason="the recordings are not here")


def _rows() -> list[dict[str, str]]:
    if not INDEX.is_file():
        return []
    with INDEX.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


SUPPORTED = [row for row in _rows() if row["path"].startswith(READ)]
CLAUDE = [row for row in SUPPORTED if row["path"].startswith("claude-code/")]
OTHERS = [row for row in _rows() if not row["path"].startswith(READ)]


def _name(row: dict[str, str]) -> str:
    return row["path"]


def _parts(sessions: list[ParsedSession], kind: str) -> int:
    return sum(part.kind == kind for item in sessions for message in item.messages for part in message.parts)


@pytest.mark.parametrize("row", SUPPORTED, ids=_name)
def test_counts_are_those_of_the_index(row: dict[str, str]) -> None:
    sessions = read_sessions(SAMPLES / row["path"])

    found = {"tool calls": _parts(sessions, "tool_call"), "tool results": _parts(sessions, "tool_result")}
    if row in CLAUDE:
        found["messages"] = sum(len(item.messages) for item in sessions)
        found["model calls"] = sum(len(item.turns) for item in sessions)
    else:
        found["messages"] = sum(item.source_messages for item in sessions)
    known = {name: count for name, count in found.items() if row[name] != "?"}
    assert known == {name: int(row[name]) for name in known}


@pytest.mark.parametrize("row", CLAUDE, ids=_name)
def test_every_record_is_a_message_a_boundary_metadata_or_skipped(row: dict[str, str]) -> None:
    sessions = read_sessions(SAMPLES / row["path"])

    counted = sum(
        item.message_records + item.boundary_records + item.metadata.total() + item.skipped.total() for item in sessions
    )

    assert (sum(item.records for item in sessions), counted) == (int(row["records"]), int(row["records"]))


@pytest.mark.parametrize("row", [row for row in CLAUDE if "cache creation" in row["remarks"]], ids=_name)
def test_usage_sums_to_the_figures_of_the_index(row: dict[str, str]) -> None:
    stated = re.search(r"input (\d+), output (\d+), cache read (\d+), cache creation (\d+)", row["remarks"])
    assert stated is not None

    usage = [turn.usage for item in read_sessions(SAMPLES / row["path"]) for turn in item.turns if turn.usage]

    sums = [
        sum(each)
        for each in zip(*((use.uncached, use.output, use.cache_read, use.cache_write) for use in usage), strict=True)
    ]
    assert sums == [int(figure) for figure in stated.groups()]


@pytest.mark.parametrize("row", [row for row in CLAUDE if row["compaction boundaries"] != "?"], ids=_name)
def test_boundaries_are_those_of_the_index(row: dict[str, str]) -> None:
    (session,) = read_sessions(SAMPLES / row["path"])

    kinds = [boundary.kind for boundary in session.boundaries]

    stated = [int(figure) for figure in re.findall(r"\d+", row["compaction boundaries"])] + [0]
    assert [kinds.count("compact"), kinds.count("micro")] == stated[:2]


@pytest.mark.parametrize("row", OTHERS, ids=_name)
def test_other_formats_are_refused_by_name(row: dict[str, str]) -> None:
    with pytest.raises(ImportFailure) as failure:
        read_sessions(SAMPLES / row["path"])

    assert failure.value.message.startswith(f"{Path(row['path']).name} looks like ")
