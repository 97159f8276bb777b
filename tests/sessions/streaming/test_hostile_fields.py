"""A field of the wrong type is an absent field: each one of a small stream, replaced by each kind of value in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sessions.terminal import json_bytes
from tests.sessions.streaming.streams import Row, body, chunk, run, tool

ODD: list[Any] = [None, "", -1, 1.5, True, [], {}, [None], [{}], {"a": 1}, "x", "\ud800", 10**30]

STREAMS: dict[str, list[Row]] = {
    "openai-chat": [
        chunk(tool("read", '{"a":1}', index=0, id="c"), content="a", reasoning_content="b"),
        chunk(finish="stop") | {"usage": {"n": 1}, "error": {"message": "m"}},
    ],
    "anthropic-messages": [
        {"type": "message_start", "message": {"id": "m", "content": [{"type": "tool_use", "name": "a", "input": {}}]}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "read"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
    ],
    "openai-responses": [
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "call_id": "c"}},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "i", "delta": "{}"},
        {"type": "response.output_item.done", "output_index": 0, "item": {"type": "shell_call", "action": {}}},
        {"type": "response.completed", "response": {"output": [{"type": "message", "content": []}], "usage": {}}},
    ],
}


def replaced(value: Any, odd: Any) -> Iterator[Any]:
    """Every copy of ``value`` in which one thing is ``odd``."""
    yield odd
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from (value | {key: other} for other in replaced(inner, odd))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in replaced(inner, odd))


@pytest.mark.parametrize("protocol", STREAMS)
@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_a_field_of_any_type_is_survived_and_can_be_printed(protocol: str, odd: Any) -> None:
    for payloads in replaced(STREAMS[protocol], odd):
        if not isinstance(payloads, list) or not all(isinstance(payload, dict) for payload in payloads):
            continue  # what is no object is dropped before any adapter
        stream, facts = run(body(*payloads), protocol)
        printed = [json_bytes(fact.as_row(0, None)) for fact in facts]

        assert len(printed) == len(facts)
        assert stream.outcome in ("complete", "truncated", "failed")
