from __future__ import annotations

from typing import Any

import pytest

from sessions.streaming.machine import Stream
from tests.sessions.streaming.streams import Row, body, calls, kinds, run, told


def start(identity: str = "msg_1", content: list[Row] | None = None) -> Row:
    return {"type": "message_start", "message": {"id": identity, "model": "m", "content": content or []}}


def block(number: int, name: str | None = "read", **fields: Any) -> Row:
    content = {"type": "tool_use", "id": f"t{number}", "name": name, "input": {}} | fields
    return {"type": "content_block_start", "index": number, "content_block": content}


def piece(number: int, text: str) -> Row:
    return {
        "type": "content_block_delta",
        "index": number,
        "delta": {"type": "input_json_delta", "partial_json": text},
    }


def end(number: int) -> Row:
    return {"type": "content_block_stop", "index": number}


STOP: list[Row] = [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]


def test_the_tool_is_named_at_the_start_of_its_block_and_its_arguments_grow() -> None:
    _, facts = run(body(start(), block(0), piece(0, ""), piece(0, '{"path":"a'), piece(0, '"}'), end(0), *STOP))

    assert kinds(facts) == ["call_started", "tool_named", "argument", "argument_complete", "tool_complete", "stop"]
    assert calls(facts) == [("read", {"path": "a"}, "closed")]


def test_only_empty_fragments_are_an_empty_object() -> None:
    assert calls(run(body(start(), block(0), piece(0, ""), end(0), *STOP))[1]) == [("read", {}, "closed")]


def test_input_given_at_the_start_is_the_input() -> None:
    _, facts = run(body(start(), block(0, input={"player": "p"}, caller={}), end(0), *STOP))

    assert calls(facts) == [("read", {"player": "p"}, "closed")]
    assert [fact.text for fact in facts if fact.type == "argument"] == ["p"]


def test_fragments_after_a_given_input_replace_it() -> None:
    _, facts = run(body(start(), block(0, input={"a": 1}), piece(0, '{"b":2}'), end(0), *STOP))

    assert calls(facts) == [("read", {"b": 2}, "closed")]


def test_calls_that_stand_whole_inside_message_start_are_calls() -> None:
    content = [{"type": "tool_use", "id": "t", "name": "roll", "input": {"n": 1}}]

    assert calls(run(body(start(content=content), *STOP))[1]) == [("roll", {"n": 1}, "closed")]


def test_overlapping_blocks_are_kept_apart_by_index() -> None:
    _, facts = run(
        body(
            start(),
            block(0),
            block(1),
            piece(0, '{"a":'),
            piece(1, '{"b":'),
            piece(0, "1}"),
            piece(1, "2}"),
            end(1),
            end(0),
        )
    )

    assert calls(facts) == [("read", {"a": 1}, "closed"), ("read", {"b": 2}, "closed")]


def test_a_spliced_message_aborts_the_open_call() -> None:
    stream, facts = run(body(start(), block(0), piece(0, '{"a":1}'), start("msg_2"), block(0), end(0), *STOP))

    assert calls(facts) == [("read", '{"a":1}', "aborted"), ("read", {}, "closed")]
    assert (stream.outcome, stream.notes()) == ("complete", {"spliced_message": 1})


def test_a_repeated_message_start_says_nothing_new() -> None:
    stream, facts = run(body(start(), start(), block(0), end(0), *STOP))

    assert (calls(facts), stream.notes()) == ([("read", {}, "closed")], {"duplicate_message_start": 1})


def test_a_delta_at_index_minus_one_goes_to_the_open_block() -> None:
    _, facts = run(body(start(), block(0), piece(-1, '{"a":1}'), end(0), *STOP))

    assert calls(facts) == [("read", {"a": 1}, "closed")]


def test_a_delta_without_a_block_is_counted() -> None:
    assert run(body(start(), piece(4, "{}"), *STOP))[0].notes() == {"delta_without_block": 1}


@pytest.mark.parametrize("fragments", ['{"a":1}', '{"a":'])
def test_a_block_that_never_stops_is_truncated_however_whole_it_looks(fragments: str) -> None:
    stream, facts = run(body(start(), block(0), piece(0, fragments)))

    assert (calls(facts), stream.outcome) == ([("read", fragments, "truncated")], "truncated")


def test_a_call_that_is_stopped_with_half_its_arguments_is_not_complete() -> None:
    _, facts = run(body(start(), block(0), piece(0, '{"a":"b'), end(0), *STOP))

    assert calls(facts) == [("read", '{"a":"b', "truncated")]


def test_an_abort_leaves_no_call_complete() -> None:
    stream = Stream()
    list(stream.feed(body(start(), block(0), piece(0, '{"a":1}'))))

    assert calls(stream.abort()) == [("read", '{"a":1}', "aborted")]


def test_nothing_that_follows_an_abort_closes_a_call() -> None:
    stream = Stream()
    list(stream.feed(body(start(), block(0), piece(0, '{"a":1}'))))
    list(stream.abort())

    assert (calls(stream.feed(body(end(0), *STOP))), stream.outcome) == ([], "aborted")


def test_text_and_thinking_are_told_from_starts_and_deltas() -> None:
    first = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "He"}}
    second = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "llo"}}
    third = {"type": "content_block_delta", "index": 1, "delta": {"type": "thinking_delta", "thinking": "hm"}}
    _, facts = run(body(start(), first, second, third, *STOP))

    assert (told(facts, "text"), told(facts, "thinking")) == ("Hello", "hm")


def test_a_refusal_without_any_block_is_a_stop_with_its_details() -> None:
    delta = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"type": "refusal"}}}
    _, facts = run(body(start(), delta, {"type": "message_stop"}))

    assert [(fact.text, fact.value) for fact in facts] == [("refusal", {"type": "refusal"})]


def test_an_error_fails_the_stream_and_truncates_the_open_call() -> None:
    data = (
        body(start(), block(0), piece(0, '{"a":1}')) + b'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n'
    )
    stream, facts = run(data)

    assert (calls(facts), stream.outcome) == ([("read", '{"a":1}', "truncated")], "failed")


def test_the_name_of_the_event_stands_in_for_a_missing_type() -> None:
    assert kinds(run(b"event: ping\ndata: {}\n\n")[1]) == ["ping"]


def test_usage_is_told_each_time_and_a_stop_once() -> None:
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}

    assert kinds(run(body(start(), delta, delta, {"type": "message_stop"}))[1]) == ["usage", "stop", "usage"]


def test_calls_at_the_provider_are_calls() -> None:
    _, facts = run(body(start(), block(0, "web_search", type="server_tool_use"), end(0), *STOP))

    assert calls(facts) == [("web_search", {}, "closed")]


def test_unknown_events_pass_and_are_counted() -> None:
    stream, facts = run(body(start(), {"type": "message_sparkle"}, {"type": "message_sparkle"}, *STOP))

    assert [fact.text for fact in facts if fact.type == "unknown"] == ["message_sparkle"] * 2
    assert stream.profile_row()["unknown"] == {"message_sparkle": 2}


def test_the_copy_of_the_whole_message_at_the_end_is_not_told_twice() -> None:
    whole = {
        "type": "message",
        "id": "msg_1",
        "content": [{"type": "tool_use", "id": "t0", "name": "read", "input": {}}],
    }

    assert calls(run(body(start(), block(0), end(0), *STOP, whole))[1]) == [("read", {}, "closed")]


def test_an_answer_that_was_not_streamed_is_read() -> None:
    whole = {"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}

    assert told(run(body(whole))[1], "text") == "Hi"
