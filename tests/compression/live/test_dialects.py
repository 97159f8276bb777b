"""Requests of both dialects: read as the engine has them, written back byte for byte but for what was edited."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compression.dialects.bodies import read_request
from compression.dialects.raw_json import parse
from compression.dialects.request import Dialect, Request, Unreadable
from compression.dialects.writing import Change, write
from tests.compression.live.requests import ANTHROPIC, OPENAI

BOTH = pytest.mark.parametrize("raw", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])


def shapes(request: Request) -> list[tuple[str, list[str]]]:
    return [(message.role, [part.kind for part in message.parts]) for message in request.messages]


def part_at(request: Request, kind: str, text: str) -> tuple[int, int]:
    """The place of a part by what it says."""
    [found] = [
        (m.index, j) for m in request.messages for j, p in enumerate(m.parts) if p.kind == kind and p.text == text
    ]
    return found


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)  # fmt: skip


@given(json_values, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_value_of_a_document_is_found_where_it_stands(value: Any, indent: int | None, ascii_only: bool) -> None:
    raw = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()

    def rebuilt(found: Any) -> Any:
        if found.kind == "object":
            return {key: rebuilt(item) for key, item in found.members().items()}
        if found.kind == "array":
            return [rebuilt(item) for item in found.items()]
        return found.decoded()

    assert rebuilt(parse(b" " + raw + b"\n")) == value


def test_of_a_key_that_stands_twice_the_last_one_counts() -> None:
    assert parse(b'{"a": 1, "a": 2}').members()["a"].source == b"2"


@pytest.mark.parametrize("text", ["[1, 2", '{"a": NaN}', '["\\ud800"]', "[1] [2]", ""])
def test_what_no_provider_reads_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(Unreadable, match=r"body: not JSON: .* at line 1, column"):
        read_request(text.encode())


def test_openai_messages_become_messages_of_the_engine() -> None:
    request = read_request(OPENAI)

    assert request.dialect == "openai"
    assert shapes(request) == [
        ("system", ["text"]),
        ("user", ["text"]),
        ("assistant", ["thinking", "tool_call", "tool_call"]),
        ("tool", ["tool_result"]),
        ("tool", ["tool_result"]),
        ("assistant", ["text"]),
        ("user", ["text", "media"]),
    ]
    assert request.messages[0].parts[0].text == "You fix builds."
    assert request.messages[4].parts[0].text == "alpha\nbeta"
    assert [request.messages[i].parts[0].name for i in (3, 4)] == ["bash", "read"]


def test_each_result_of_an_anthropic_message_becomes_one_of_its_own_and_the_rest_follows() -> None:
    request = read_request(ANTHROPIC)

    assert request.dialect == "anthropic"
    assert shapes(request) == [
        ("system", ["text"]),
        ("user", ["text"]),
        ("assistant", ["thinking", "opaque", "tool_call", "tool_call"]),
        ("tool", ["tool_result"]),
        ("tool", ["tool_result"]),
        ("user", ["text"]),
        ("assistant", ["thinking", "text"]),
        ("user", ["text"]),
    ]
    assert request.sources == (-1, 0, 1, 2, 2, 2, 3, 4)
    assert request.messages[4].parts[0].is_error
    assert request.messages[2].parts[2].text == '{"command":"make","n":1.50}'


def test_every_answer_ended_a_request_and_the_newest_request_is_all_of_it() -> None:
    turns = read_request(OPENAI).transcript().turns

    assert [(t.request_end, t.response_end, t.results_end) for t in turns] == [(2, 3, 5), (5, 6, 6), (7, 7, 7)]


def test_a_system_prompt_or_tools_of_null_are_none() -> None:
    request = read_request(b'{"system": null, "tools": null, "messages": [{"role": "user", "content": "x"}]}')

    assert (len(request.messages), request.beside) == (1, ())


def test_the_system_prompt_and_the_tools_are_counted() -> None:
    tools = b'"tools":[{"name":"bash","description":"runs a command","input_schema":{}}],'
    with_tools = read_request(ANTHROPIC.replace(b'"messages"', tools + b'"messages"'))

    assert with_tools.calibration(hidden_tokens=100).hidden > 110
    assert read_request(ANTHROPIC).calibration(hidden_tokens=100).hidden == 100


@BOTH
def test_without_a_change_every_byte_is_what_came(raw: bytes) -> None:
    request = read_request(raw)

    assert write(request, Change()).body == request.array.source


@BOTH
def test_an_edit_changes_the_bytes_of_its_own_text_and_no_others(raw: bytes) -> None:
    request = read_request(raw)
    place = part_at(request, "tool_result", "line 1\nline 2")

    assert write(request, Change(texts={place: 'a "stub"'})).body == request.array.source.replace(
        rb'"line 1\nline 2"', rb'"a \"stub\""'
    )


def test_the_stub_of_a_result_in_blocks_takes_the_place_of_all_of_them() -> None:
    request = read_request(OPENAI)

    body = write(request, Change(texts={part_at(request, "tool_result", "alpha\nbeta"): "stub"})).body

    assert body == request.array.source.replace(b'"alpha"},{"text":"beta","type":"text"}', b'"stub"}')


def test_a_block_with_a_cache_mark_is_the_one_that_stays() -> None:
    request = read_request(ANTHROPIC)

    body = write(request, Change(texts={part_at(request, "tool_result", "alpha\nbeta"): "stub"})).body

    assert body == request.array.source.replace(b'{"type":"text","text":"alpha"},', b"").replace(b'"beta"', b'"stub"')


def test_shortened_arguments_are_text_for_one_and_an_object_for_the_other() -> None:
    for raw, old, new in (
        (OPENAI, rb'"{\"command\": \"make\", \"n\": 1.50}"', rb'"{\"command\":\"m\"}"'),
        (ANTHROPIC, b'{"command":"make","n":1.50}', b'{"command":"m"}'),
    ):
        request = read_request(raw)
        [place] = [p for p in request.places if "make" in request.messages[p[0]].parts[p[1]].text]

        assert write(request, Change(texts={place: '{"command":"m"}'})).body == request.array.source.replace(old, new)


def test_thinking_without_a_signature_can_be_replaced() -> None:
    request = read_request(ANTHROPIC)

    body = write(request, Change(texts={part_at(request, "thinking", "Unsigned"): "-"})).body

    assert body == request.array.source.replace(b'"Unsigned"', b'"-"')


def test_signed_thinking_has_no_place_to_edit() -> None:
    request = read_request(ANTHROPIC)

    assert part_at(request, "thinking", "Signed thought") not in request.places


def test_a_group_that_leaves_takes_its_blocks_and_the_note_stands_in_its_place() -> None:
    raw = json.dumps([
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "Going."},
        {"role": "user", "content": "On"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]},
        {"role": "assistant", "content": "Gone."},
        {"role": "user", "content": "Last"},
    ]).encode()  # fmt: skip
    request = read_request(raw)

    written = write(request, Change(left=(3, 4, 5), note="[left]", note_before=2))

    assert json.loads(written.body) == [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "Going."},
        {"role": "user", "content": [
            {"type": "text", "text": "[left]"}, {"type": "text", "text": "On"}, {"type": "text", "text": "Last"}
        ]},
    ]  # fmt: skip


def test_a_result_that_leaves_alone_leaves_the_text_beside_it() -> None:
    request = read_request(ANTHROPIC)
    going = [m.index for m in request.messages if m.role == "tool"] + [2]

    body = json.loads(write(request, Change(left=tuple(going))).body)

    assert body[0] == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Why does it fäil?"},
            {"type": "text", "text": "<system-reminder>be brief</system-reminder>"},
        ],
    }


def test_a_note_never_stands_between_a_call_and_its_results() -> None:
    request = read_request(OPENAI)

    body = json.loads(write(request, Change(note="[note]", note_before=3)).body)

    assert [message["role"] for message in body] == [
        "system", "user", "assistant", "tool", "tool", "user", "assistant", "user",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "messages: holds 0 messages"),
        (["hello"], "messages[0]: is not an object"),
        ([{"role": "robot", "content": "x"}], "messages[0].role: 'robot' is no role of this dialect"),
        ([{"role": "user"}], "messages[0].content: is missing"),
        ([{"role": "user", "content": 7}], "messages[0].content: is neither text nor parts"),
        ([{"role": "user", "content": [{"text": "x"}]}], "messages[0].content[0].type: is missing"),
        ([{"role": "tool", "tool_call_id": "c1", "content": "x"}], "messages[0]: no call of the message before"),
        (
            [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {}}]},
                {"role": "user", "content": "x"},
            ],
            "messages[0].content[0]: the call of 'a' has no result before messages[1]",
        ),
        (
            [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": "{}"}]}],
            "messages[0].content[0].input: is not an object",
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}],
            "messages[0].content[0]: no call of the message before waits for a result 't'",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {}}] * 5}],
            "messages: 5 cache_control marks in the request",
        ),
    ],
)
def test_a_request_that_no_provider_takes_is_refused_by_its_place(messages: list[Any], complaint: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        read_request(json.dumps(messages).encode())

    assert str(refusal.value).startswith(complaint)


def test_ids_that_a_server_uses_again_are_told_apart() -> None:
    call = {"id": "0", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    round_trip = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "0", "content": "x"},
    ]

    request = read_request(json.dumps([{"role": "user", "content": "Go"}, *round_trip, *round_trip]).encode())

    ids = [message.parts[0].call_id for message in request.messages[1:]]
    assert (ids[0], ids[2]) == (ids[1], ids[3])
    assert ids[0] != ids[2]


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        ({"messages": [{"role": "user", "content": "x"}]}, "openai"),
        ({"system": "s", "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
        ({"tools": [{"name": "a", "input_schema": {}}], "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
        ({"messages": [{"role": "developer", "content": "x"}]}, "openai"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, "anthropic"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "openai"),
    ],
)
def test_the_dialect_is_found_out(body: dict[str, Any], dialect: Dialect) -> None:
    assert read_request(json.dumps(body).encode()).dialect == dialect


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 300, 250) + b"\0" * 200_000).decode()


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ],
)
def test_a_picture_costs_what_its_pixels_cost_and_not_its_base64(block: dict[str, Any]) -> None:
    request = read_request(json.dumps([{"role": "user", "content": [block]}]).encode())

    assert request.transcript("claude-opus-4").counts == ((100,),)
