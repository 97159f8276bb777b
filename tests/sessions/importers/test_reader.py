import json
from pathlib import Path
from typing import Any

import pytest

from sessions.importers import reader as reader_module
from sessions.importers.parsed import ImportFailure
from sessions.importers.reader import Reader


def _read(tmp_path: Path, raw: bytes) -> tuple[list[Any], Reader]:
    path = tmp_path / "file.jsonl"
    path.write_bytes(raw)
    reader = Reader(path)
    return list(reader.values()), reader


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    raw = '{"a":"x\u2028y\u0085z\x0b"}\r\n{"b":1}'.encode().replace(b"\x0b", b"\\u000b")

    values, reader = _read(tmp_path, raw)

    assert values == [{"a": "x\u2028y\u0085z\x0b"}, {"b": 1}]
    assert reader.warnings == []


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    values, _ = _read(tmp_path, b'\xef\xbb\xbf{"a":1}\n{"b":2}\n')

    assert values == [{"a": 1}, {"b": 2}]


def test_several_values_on_one_line_are_all_kept(tmp_path: Path) -> None:
    values, reader = _read(tmp_path, b'{"a":1}\n{"b":2}{"c":3} {"d":4}\n')

    assert values == [{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}]
    assert reader.records == 4


def test_a_whole_record_behind_a_cut_off_one_is_kept_and_the_stub_counted(tmp_path: Path) -> None:
    line = b'{"type":"a","message":{"content":[{"type":"text","text":"in"}],"x":"cu{"parentUuid":null,"type":"b"}\n'

    values, reader = _read(tmp_path, b'{"type":"first"}\n' + line)

    assert values == [{"type": "first"}, {"parentUuid": None, "type": "b"}]
    assert dict(reader.skipped) == {"damaged record": 1}


def test_a_run_of_nul_bytes_costs_nothing_but_itself(tmp_path: Path) -> None:
    values, reader = _read(tmp_path, b'{"a":1}\n' + b"\x00" * 400 + b'{"b":2}\n' + b"\x00" * 300 + b'\n{"c":3}\n')

    assert values == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert dict(reader.skipped) == {"only NUL bytes": 1}


def test_a_last_line_that_was_cut_off_is_one_warning(tmp_path: Path) -> None:
    values, reader = _read(tmp_path, b'{"a":1}\n{"b":')

    assert values == [{"a": 1}]
    assert reader.warnings == ["truncated last line: first in line 2"]


def test_a_pretty_printed_document_is_one_value(tmp_path: Path) -> None:
    document = {"messages": [{"role": "user"}, {}], "n": 1}

    values, _ = _read(tmp_path, json.dumps(document, indent=2).encode())

    assert values == [document]


def test_split_surrogates_are_joined_and_half_ones_replaced(tmp_path: Path) -> None:
    escaped = b'{"a":"\\ud83d\\ude00 \\udcb2","b":"\\u0041"}\n'
    raw_halves = b'{"a":"\xed\xa0\xbd\xed\xb8\x80"}\n'

    values, _ = _read(tmp_path, escaped + raw_halves)

    assert values == [{"a": "😀 \ufffd", "b": "A"}, {"a": "😀"}]


def test_broken_utf8_is_replaced_with_a_warning(tmp_path: Path) -> None:
    values, reader = _read(tmp_path, b'{"a":1}\n{"b":"\xff"}\n')

    assert values == [{"a": 1}, {"b": "\ufffd"}]
    assert reader.warnings == ["text repaired (NUL or broken UTF-8): first in line 2"]


def test_nesting_that_is_too_deep_costs_the_line(tmp_path: Path) -> None:
    values, reader = _read(tmp_path, b'{"a":1}\n' + b"[" * 200_000 + b"\n" + b'{"b":2}\n')

    assert values == [{"a": 1}, {"b": 2}]
    assert dict(reader.skipped) == {"nested too deeply": 1}


def test_a_line_over_the_limit_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "LARGEST_VALUE", 2 * 1024 * 1024)
    long_line = b'{"a":"' + b"x" * (3 * 1024 * 1024) + b'"}\n'

    values, reader = _read(tmp_path, b'{"a":1}\n' + long_line + b'{"b":2}\n')

    assert values == [{"a": 1}, {"b": 2}]
    assert dict(reader.skipped) == {"line over 256 MB": 1}


def test_a_line_of_several_megabytes_is_read_whole(tmp_path: Path) -> None:
    values, _ = _read(tmp_path, b'{"a":"' + b"x" * (3 * 1024 * 1024) + b'"}\n{"b":2}\n')

    assert [len(value.get("a", "")) for value in values] == [3 * 1024 * 1024, 0]


def test_a_document_over_the_limit_is_refused_by_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "LARGEST_VALUE", 100)

    with pytest.raises(ImportFailure) as failure:
        _read(tmp_path, b'{\n"a": "' + b"x" * 200 + b'"\n}\n')

    assert failure.value.message == (
        "file.jsonl is not complete JSON: it is over 256 MB and its first line is not a complete JSON value"
    )


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(b'{"a":1}\n' * 1000)
    seen: list[int] = []

    list(Reader(path, seen.append).values())

    assert seen == [8000]
