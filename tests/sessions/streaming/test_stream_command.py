from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.sessions.streaming.streams import Row, body, chunk, tool


def rows(path: Path, *options: str) -> list[Row]:
    out = StringIO()
    call_command("stream", str(path), *options, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "answer.sse"
    call = chunk(tool("read", '{"path":"a"}', index=0, id="c1"))
    path.write_bytes(body(chunk(content="Hi"), call, chunk(finish="tool_calls"), "[DONE]"))
    return path


def test_events_are_numbered_and_the_profile_comes_last(recording: Path) -> None:
    found = rows(recording)

    assert [(row.get("seq"), row["type"]) for row in found] == [
        (0, "text"),
        (1, "call_started"),
        (2, "tool_named"),
        (3, "argument"),
        (4, "argument_complete"),
        (5, "tool_complete"),
        (6, "stop"),
        (None, "profile"),
    ]


def test_a_complete_call_carries_id_name_and_arguments(recording: Path) -> None:
    (row,) = (row for row in rows(recording) if row["type"] == "tool_complete")

    assert {key: row[key] for key in ("id", "name", "arguments", "closed")} == {
        "id": "c1",
        "name": "read",
        "arguments": {"path": "a"},
        "closed": True,
    }


def test_reading_byte_by_byte_prints_the_same(recording: Path) -> None:
    assert rows(recording, "--read-bytes", "1") == rows(recording)


def test_a_named_protocol_is_taken_at_its_word(recording: Path) -> None:
    assert rows(recording, "--protocol", "openai-responses")[-1]["protocol"] == "openai-responses"


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"", "empty"), (b"hello", "No line of it")])
def test_a_bad_file_is_a_complaint_that_names_it(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "bad.sse"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(CommandError, match=said) as caught:
        rows(path)
    assert (caught.value.returncode, "bad.sse" in str(caught.value)) == (2, True)


def test_reading_nothing_at_a_time_is_refused(recording: Path) -> None:
    with pytest.raises(CommandError, match="at least 1"):
        rows(recording, "--read-bytes", "0")
