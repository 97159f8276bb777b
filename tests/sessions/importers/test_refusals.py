import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.importers import FORMATS, ImportFailure, read_sessions
from tests.sessions.importers.files import LOGS


def _refusal(path: Path, raw: bytes, **options: Any) -> ImportFailure:
    path.write_bytes(raw)
    with pytest.raises(ImportFailure) as failure:
        read_sessions(path, **options)
    return failure.value


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("notes.txt", "hello")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "log is empty (0 bytes)"),
        (b" \n\n", "log holds only white space or NUL bytes"),
        (b"\x00" * 5000, "log holds only white space or NUL bytes"),
        (_zip(), "log is a zip archive"),
        (b"\x1f\x8b\x08\x00rest", "log is gzip data"),
        (bytes(range(256)) * 20, "log is a binary file, not text"),
        ('{"a":1}'.encode("utf-16"), "log is UTF-16 text"),
        (b"[]", "log is an empty list"),
        (b'{"a":1}', "log is JSON, but of no known session format"),
        (b"hello\nworld\n", "log holds no JSON object or array (damaged record: first in line 1)"),
        (b'"text"', "log holds no JSON object or array"),
        (b'{\n "messages": [\n  {"role": "us', "log is not complete JSON: "),
    ],
)
def test_what_is_no_session_is_refused_with_its_name_and_a_remedy(tmp_path: Path, raw: bytes, message: str) -> None:
    failure = _refusal(tmp_path / "log", raw)

    assert failure.message.startswith(message)
    assert failure.hint


@pytest.mark.parametrize(
    "raw",
    [b"", _zip(), b"[]", b"hello\n", b'{\n "messages": [\n  {"role": "us', b"SQLite format 3\x00rest", b'{"a":1}'],
)
def test_a_file_under_a_temporary_name_is_called_as_its_sender_calls_it(tmp_path: Path, raw: bytes) -> None:
    failure = _refusal(tmp_path / "tmp8f3a.upload", raw, name="mine.log")

    assert failure.message.startswith("mine.log ")
    assert "tmp8f3a" not in failure.message + failure.hint


@pytest.mark.parametrize(
    ("document", "format_name"),
    [
        ({"sessionId": "x", "projectHash": "y", "messages": []}, "gemini-cli"),
        ({"schema_version": "ATIF-v1.5", "steps": []}, "atif"),
        ({"resourceSpans": []}, "otlp"),
        ({"log": {"entries": []}}, "har"),
        ({"trajectory_format": "mini-swe-agent-1.1", "messages": [{"role": "user", "content": "x"}]}, "mini-swe-agent"),
        ([{"conversations": [{"from": "human", "value": "x"}]}], "sharegpt"),
        ({"history": [], "trajectory": []}, "swe-agent"),
        ({"trace": {}, "observations": []}, "langfuse"),
    ],
)
def test_a_known_format_that_is_not_read_yet_is_named(tmp_path: Path, document: object, format_name: str) -> None:
    failure = _refusal(tmp_path / "log", json.dumps(document).encode())

    assert failure.guesses[0].format == format_name
    assert "looks like" in failure.message


def test_a_text_format_that_is_not_read_yet_is_named(tmp_path: Path) -> None:
    failure = _refusal(tmp_path / "log", b"event: message_start\ndata: {}\n\n")

    assert failure.guesses[0].format == "sse"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailure) as failure:
        read_sessions(tmp_path / "gone.jsonl")

    assert failure.value.message == "gone.jsonl cannot be read: No such file or directory"


def test_an_unknown_format_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    failure = _refusal(tmp_path / "log", b"{}", format="cobol")

    assert failure.hint == f"Known formats: {', '.join(FORMATS)}."


def test_a_format_named_by_the_user_overrides_detection(tmp_path: Path) -> None:
    (session,) = read_sessions(LOGS / "anthropic.json", format="openai-chat")

    assert session.format == "openai-chat"


def test_a_format_named_wrongly_says_what_the_content_looks_like() -> None:
    with pytest.raises(ImportFailure) as failure:
        read_sessions(LOGS / "anthropic.json", format="claude-code")

    assert failure.value.guesses[0].format == "anthropic-messages"


def test_more_than_fifty_records_are_sniffed_when_they_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    noise = [json.dumps({"kind": "noise", "n": n}) for n in range(80)]
    path.write_text("\n".join([*noise, (LOGS / "claude-code.jsonl").read_text()]))

    (session,) = read_sessions(path)

    assert session.format == "claude-code"


def test_one_huge_line_of_garbage_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as stream:
        stream.truncate(0)
        for _ in range(30):
            stream.write(b"garbage " * 131072)

    with pytest.raises(ImportFailure) as failure:
        read_sessions(path)

    assert failure.value.message == "log holds no JSON object or array (line that is not JSON: first in the file)"


NAMES = sorted(path.name for path in LOGS.iterdir() if path.suffix in (".json", ".jsonl"))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_bytes_raise_nothing_but_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    raw = bytearray((LOGS / data.draw(st.sampled_from(NAMES))).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, max(0, len(raw) - 1)))
        end = min(len(raw), start + data.draw(st.integers(0, 40)))
        patch = data.draw(
            st.one_of(st.binary(max_size=12), st.sampled_from([b"null", b"[]", b"{}", b"1e400", b'"\\ud800"']))
        )
        raw[start:end] = patch
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(bytes(raw))

    _read_or_refuse(path)


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_values_of_any_type_in_any_field_raise_nothing_but_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([name for name in NAMES if "damaged" not in name]))
    raw = (LOGS / name).read_text()
    values = [json.loads(raw)] if name.endswith(".json") else [json.loads(line) for line in raw.split("\n") if line]
    for _ in range(data.draw(st.integers(1, 4))):
        _replace_somewhere(data.draw(st.sampled_from(values)), data)
    path = tmp_path_factory.getbasetemp() / "mistyped"
    path.write_text("\n".join(json.dumps(value) for value in values))

    _read_or_refuse(path, data.draw(st.sampled_from([None, *FORMATS])))


def _replace_somewhere(value: Any, data: st.DataObject) -> None:
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = data.draw(st.sampled_from(keys))
        child = value[key]
        if not (isinstance(child, dict | list) and child) or data.draw(st.integers(0, 3)) == 0:
            value[key] = data.draw(_ANYTHING)
            return
        value = child


def _read_or_refuse(path: Path, format_name: str | None = None) -> None:
    try:
        sessions = read_sessions(path, format=format_name)
    except ImportFailure:
        return
    for session in sessions:
        counted = (
            session.message_records + session.boundary_records + session.metadata.total() + session.skipped.total()
        )
        assert counted == session.records
        for message in session.messages:
            for part in message.parts:
                part.text.encode()
                assert "\x00" not in part.text


def test_a_pipe_is_refused_before_anything_waits_for_it(tmp_path: Path) -> None:
    pipe = tmp_path / "log.jsonl"
    os.mkfifo(pipe)

    with pytest.raises(ImportFailure) as failure:
        read_sessions(pipe)

    assert failure.value.message == "log.jsonl is not a regular file but a pipe, a socket or a device"


def test_a_device_is_refused_before_it_is_read() -> None:
    with pytest.raises(ImportFailure, match="zero is not a regular file"):
        read_sessions(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("message", "hint", "sentences"),
    [("It broke", "Mend it.", "It broke. Mend it."), ("It broke.", "Mend it.", "It broke. Mend it."), ("It", "", "It")],
)
def test_message_and_hint_become_sentences(message: str, hint: str, sentences: str) -> None:
    assert ImportFailure(message, hint).sentences == sentences
