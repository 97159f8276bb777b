from __future__ import annotations

import pytest

from sessions.streaming.sse import SseEvent, SseReader


def read(data: bytes, size: int | None = None) -> list[tuple[str, str]]:
    return [(event.name, event.data) for event in events(SseReader(), data, size)]


def events(reader: SseReader, data: bytes, size: int | None = None) -> list[SseEvent]:
    step = size or max(len(data), 1)
    found = [event for start in range(0, len(data), step) for event in reader.feed(data[start : start + step])]
    return [*found, *reader.finish()]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("size", [None, 1, 2, 3])
def test_lines_end_with_lf_cr_or_both_wherever_the_network_cuts(end: bytes, size: int | None) -> None:
    data = end.join([b"event: ping", b"data: {}", b"", b"data: 2", b"", b""])

    assert read(data, size) == [("ping", "{}"), ("", "2")]


def test_line_ends_may_be_mixed() -> None:
    assert read(b"data: 1\r\ndata: 2\r\rdata: 3\n\n") == [("", "1\n2"), ("", "3")]


def test_a_cr_at_the_end_of_a_read_dispatches_at_once() -> None:
    reader = SseReader()

    assert [event.data for event in reader.feed(b"data: 1\r\r")] == ["1"]
    assert [event.data for event in reader.feed(b"\ndata: 2\r\n\r\n")] == ["2"]


def test_an_event_comes_only_with_its_blank_line() -> None:
    assert list(SseReader().feed(b"data: 1\n")) == []


def test_data_lines_of_one_event_are_joined_by_line_feeds() -> None:
    assert read(b"data: a\ndata\ndata: b\n\n") == [("", "a\n\nb")]


def test_exactly_one_space_is_removed_and_none_is_needed() -> None:
    assert read(b"data:a\n\ndata:  b\n\n") == [("", "a"), ("", " b")]


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert read(b"\xef\xbb\xbfdata: 1\n\n", 1) == [("", "1")]


def test_comments_are_counted_and_say_nothing() -> None:
    reader = SseReader()

    assert [event.data for event in events(reader, b": keep-alive\n\n:\ndata: 1\n\n")] == ["1"]
    assert reader.comments == 2


def test_an_event_without_data_is_not_dispatched_and_its_name_is_forgotten() -> None:
    assert read(b"event: lost\n\ndata: 1\n\n") == [("", "1")]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_character_cut_in_two_is_put_together(size: int) -> None:
    assert read("data: żółw 🐢\n\n".encode(), size) == [("", "żółw 🐢")]


def test_other_line_separators_of_unicode_end_no_line() -> None:
    assert read("data: a\u2028b\u0085c\x0bd\n\n".encode()) == [("", "a\u2028b\u0085c\x0bd")]


def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    reader = SseReader()

    assert [event.data for event in events(reader, b"data: \xff\n\n")] == ["\ufffd"]
    assert reader.notes == {"invalid_utf8": 1}


def test_the_last_id_stays_and_retry_must_be_digits() -> None:
    reader = SseReader()
    found = events(reader, b"id: 7\nretry: 1500\ndata: 1\n\nretry: soon\nid: a\0b\ndata: 2\n\n")

    assert [event.id for event in found] == ["7", "7"]
    assert (reader.retry_ms, reader.notes) == (1500, {"bad_field": 2})


def test_an_event_without_its_last_blank_line_is_given_and_marked() -> None:
    assert events(SseReader(), b'data: {"a":1}') == [SseEvent("", '{"a":1}', terminated=False)]


def test_bare_json_lines_are_events() -> None:
    assert read(b'{"a":1}\r\n{"b":2}') == [("", '{"a":1}'), ("", '{"b":2}')]


def test_unknown_lines_are_counted() -> None:
    reader = SseReader()

    assert events(reader, b"<html>\nfoo: bar\n\n") == []
    assert reader.notes == {"unknown_line": 2}


@pytest.mark.parametrize("size", [None, 1, 7])
def test_an_event_over_the_limit_is_dropped_and_the_next_one_read(size: int | None) -> None:
    reader = SseReader(longest_event=20)
    found = events(reader, b"data: " + b"x" * 50 + b"\ndata: y\n\ndata: z\n\n", size)

    assert ([event.data for event in found], reader.notes) == (["z"], {"oversized_event": 1})


def test_many_data_lines_of_one_event_are_bounded_too() -> None:
    reader = SseReader(longest_event=20)

    assert events(reader, b"data: xx\n" * 5 + b"\n") == []
    assert reader.notes == {"oversized_event": 1}


def test_a_bare_line_over_the_limit_takes_no_other_line_with_it() -> None:
    reader = SseReader(longest_event=20)

    assert [event.data for event in events(reader, b'{"a":"' + b"x" * 50 + b'"}\n{"b":1}\n', 7)] == ['{"b":1}']
