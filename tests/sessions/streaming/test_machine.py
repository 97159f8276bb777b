"""The whole way of a stream: which protocol it is, what its profile says, what its clocks say, what it costs."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest

from sessions.streaming.machine import Stream, UnknownProtocol
from tests.sessions.streaming.streams import Row, body, calls, chunk, run, told, tool


def profile(deltas: list[tuple[float, Row]], requested_at: float | None = 0.0) -> Row:
    stream = Stream(requested_at=requested_at)
    for at, payload in deltas:
        list(stream.feed(body(payload), at))
    list(stream.finish())
    return stream.profile_row()


def written(count: int, step: float, first: float = 1.0) -> list[tuple[float, Row]]:
    """A call whose long argument comes in ``count`` pieces."""
    pieces = (
        ['{"text":"', *["word " * (240 // count)] * (count - 2), '"}']
        if count > 1
        else ['{"text":"' + "x" * 240 + '"}']
    )
    deltas = [(first, chunk(tool("write", "", index=0, id="c")))]
    deltas += [(first + step * (n + 1), chunk(tool(None, text, index=0))) for n, text in enumerate(pieces)]
    return [*deltas, (first + step * (count + 1), chunk(finish="tool_calls"))]


@pytest.mark.parametrize(
    ("payload", "protocol"),
    [
        ({"type": "ping"}, "anthropic-messages"),
        ({"type": "response.created"}, "openai-responses"),
        ({"type": "error", "sequence_number": 1}, "openai-responses"),
        ({"choices": []}, "openai-chat"),
    ],
)
def test_the_first_event_that_tells_decides_the_protocol(payload: Row, protocol: str) -> None:
    assert run(body({"odd": 1}, payload))[0].profile_row()["protocol"] == protocol


def test_a_body_of_nothing_but_an_error_is_a_failed_stream() -> None:
    stream, facts = run(b'{"error":{"message":"no"}}')

    assert ([fact.value for fact in facts], stream.outcome) == ([{"message": "no"}], "failed")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"<html>no</html>", "No line of it"),
        (b"\x1f\x8b\x08\x00\xff\x00\n\n", "No line of it"),
        (b"data: hello\n\n", "None of its events"),
        (b'data: {"a":1}\n\n', "name no protocol"),
        (b'data: {"candidates":[]}\n\n', "gemini"),
        (b'data: {"a":1}\n\n' * 60, "first 50 events"),
    ],
)
def test_what_is_no_stream_is_refused_in_words(data: bytes, why: str) -> None:
    with pytest.raises(UnknownProtocol, match=why):
        run(data)


def test_the_wrong_protocol_tells_everything_as_unknown_and_nothing_as_complete() -> None:
    stream, facts = run(body({"type": "message_start"}, {"type": "ping"}), "openai-chat")

    assert ([fact.type for fact in facts], stream.outcome) == (["unknown", "unknown"], "truncated")


def test_firsts_and_gaps_are_milliseconds_since_the_request() -> None:
    row = profile([(0.5, chunk(role="assistant")), (1.5, chunk(content="a")), *written(4, 1.0, 3.0)])

    names = ("first_byte_ms", "first_token_ms", "first_tool_name_ms", "first_argument_ms", "longest_gap_ms")
    assert [row[name] for name in names] == [500.0, 1500.0, 3000.0, 4000.0, 1500.0]


def test_thinking_counts_as_first_token_and_says_so() -> None:
    row = profile([(1.0, chunk(reasoning_content="hm")), (2.0, chunk(content="a")), (2.0, chunk(finish="stop"))])

    assert (row["first_token_ms"], row["first_token_is_thinking"]) == (1000.0, True)


def test_a_recording_without_times_has_none() -> None:
    stream, _ = run(body(*(payload for _, payload in written(4, 1.0))))

    row = stream.profile_row()
    assert [value for name, value in row.items() if name.endswith("_ms")] == [None] * 5


@pytest.mark.parametrize(
    ("deltas", "kind", "streams"),
    [
        ([(0.0, chunk(content="a")), (0.1, chunk(finish="stop"))], "none", None),
        ([(0.0, chunk(tool("a", "{}", index=0))), (0.1, chunk(finish="tool_calls"))], "single_chunk", None),
        (written(1, 1.0), "single_chunk", False),
        (written(20, 0.001), "burst", False),
        (written(20, 0.01, first=30.0), "burst", False),
        (written(20, 0.1), "fine", True),
    ],
)
def test_whether_arguments_stream_is_said(deltas: list[tuple[float, Row]], kind: str, streams: bool | None) -> None:
    row = profile(deltas)

    assert (row["class"], row["streams_arguments"]) == (kind, streams)


def test_few_long_pieces_are_coarse() -> None:
    head = chunk(tool("w", '{"t":"' + "x" * 500, index=0))
    row = profile([(1.0, head), (2.0, chunk(tool(None, "x" * 500, index=0))), (3.0, chunk(finish="stop"))])

    assert (row["class"], row["argument_pieces"], row["bytes_per_piece"]) == ("coarse", 2, 503.0)


def test_comments_and_pings_keep_the_link_alive_and_are_no_progress() -> None:
    stream = Stream(requested_at=0.0)
    list(stream.feed(body(chunk(content="a")), 1.0))
    list(stream.feed(b": keep-alive\n\n", 5.0))

    assert stream.clocks is not None
    assert (stream.clocks.silent(8.0), stream.clocks.idle(8.0)) == (3.0, 7.0)


def test_empty_deltas_and_padding_are_no_progress() -> None:
    stream = Stream(requested_at=0.0)
    list(stream.feed(body(chunk(content="") | {"obfuscation": "xx"}), 4.0))

    assert stream.clocks is not None
    assert (stream.clocks.silent(5.0), stream.clocks.idle(5.0)) == (1.0, 5.0)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_facts_do_not_depend_on_where_the_network_cuts(size: int) -> None:
    data = body(chunk(content="żółw 🐢"), chunk(tool("read", '{"path":"ż\\ud83d', index=0, id="c1")))
    data += body(chunk(tool(None, '\\udc22"}', index=0)), chunk(finish="tool_calls"))
    stream = Stream()
    facts = [fact for start in range(0, len(data), size) for fact in stream.feed(data[start : start + size])]

    assert [*facts, *stream.finish()] == run(data)[1]
    assert (told(facts, "text"), calls(facts)) == ("żółw 🐢", [("read", {"path": "ż🐢"}, "closed")])


def test_no_cut_of_a_stream_reports_a_call_complete_before_its_provider_ended_it() -> None:
    parts = [chunk(tool("run", "", index=0, id="c")), *(chunk(tool(None, c, index=0)) for c in '{"c":"rm /tmp"}')]
    whole = [*parts, chunk(finish="tool_calls")]

    ends = [calls(run(body(*whole[:n]))[1]) for n in range(1, len(whole) + 1)]
    assert [state for ((_, _, state),) in ends] == ["truncated"] * len(parts) + ["closed"]


def test_the_cost_of_arguments_grows_with_their_size_and_not_faster() -> None:
    def seconds(pieces: int) -> float:
        data = body(chunk(tool("w", '{"t":"', index=0)), *[chunk(tool(None, "word", index=0))] * pieces)
        took = []
        for _ in range(3):
            begun = time.process_time()
            run(data)
            took.append(time.process_time() - begun)
        return min(took)

    times = [seconds(n) for n in (2_000, 8_000)]
    assert all(later < 12 * sooner for sooner, later in pairwise(times))


def test_rows_say_paths_with_dots_and_keep_null_values() -> None:
    _, facts = run(body(chunk(tool("e", '{"edits":[{"old":null}]}', index=0, id="c")), chunk(finish="stop")))
    row: dict[str, Any] = next(fact for fact in facts if fact.type == "argument_complete").as_row(3, 1.5)

    assert row == {
        "seq": 3,
        "type": "argument_complete",
        "call": 0,
        "tool": "e",
        "path": "edits.0.old",
        "value": None,
        "at": 1.5,
    }


def test_arguments_that_are_no_json_are_shown_as_plain_text() -> None:
    _, facts = run(body(chunk(tool("e", "rm -rf /", index=0, id="c")), chunk(finish="tool_calls")))

    assert told(facts, "argument") == "rm -rf /"
    assert calls(facts) == [("e", "rm -rf /", "truncated")]


def test_numbers_beyond_floats_and_lone_surrogates_are_read() -> None:
    data = b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"},"logprobs":NaN}]}\n\n'

    assert told(run(data + body(chunk(finish="stop")))[1], "text") == json.loads('"\\ud83d"')
