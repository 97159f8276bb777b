"""Files of junk are refused by their bytes; sessions of the same size are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessions.importers import large_values, read_sessions
from sessions.importers.parsed import ImportFailure

MEGABYTE = 1024 * 1024


def refused(path: Path, raw: bytes) -> ImportFailure:
    path.write_bytes(raw)
    with pytest.raises(ImportFailure) as failure:
        read_sessions(path)
    return failure.value


@pytest.mark.parametrize("filler", [b"0,", b"{},", b"[],", b"["], ids=["numbers", "objects", "arrays", "brackets"])
def test_a_long_line_of_junk_is_never_kept(tmp_path: Path, filler: bytes) -> None:
    failure = refused(tmp_path / "log", b"[" + filler * (9 * MEGABYTE // len(filler)) + b"0]")

    assert (
        failure.message == f"log holds no JSON object or array (line {large_values.NO_KNOWN_FIELD}: first in the file)"
    )


def test_a_document_of_junk_is_never_read_whole(tmp_path: Path) -> None:
    failure = refused(tmp_path / "log", b"[\n" + b"{}," * (3 * MEGABYTE) + b"{}\n]")

    assert failure.message == f"log is a document {large_values.NO_KNOWN_FIELD}"
    assert failure.hint == "Split it, or export it as JSONL."


def test_tiny_values_behind_a_good_beginning_are_refused_for_their_memory(tmp_path: Path) -> None:
    failure = refused(tmp_path / "log", b'[{"role":"user","content":"hi"},\n' + b"{}," * (8 * MEGABYTE) + b"{}]")

    assert failure.message == f"log is a document {large_values.TOO_MANY_VALUES}"


def test_a_long_line_of_junk_costs_only_itself(tmp_path: Path) -> None:
    good = b'{"role":"user","content":"hi"}\n{"role":"assistant","content":"ho"}\n'
    path = tmp_path / "log.jsonl"
    path.write_bytes(good + b"[" + b"0," * (5 * MEGABYTE) + b"0]\n" + good)

    [session] = read_sessions(path)

    assert len(session.messages) == 4


def test_a_session_with_one_result_of_many_megabytes_is_read(tmp_path: Path) -> None:
    code = "if (a[0]) { call(a, b); }\n" * (9 * MEGABYTE // 26)
    path = tmp_path / "log.json"
    path.write_text(json.dumps([{"role": "user", "content": code}, {"role": "assistant", "content": "ok"}]))

    [session] = read_sessions(path)

    assert session.messages[0].parts[0].text == code
