"""The two-hour coding session keeps the figures that its story tells."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import pairwise
from typing import Any

import orjson
import pytest
import toktok

from sessions.example import log, packages, pytest_report
from sessions.example.claude_code import MODEL
from sessions.example.writing import HIDDEN_TOKENS, TOKEN_FACTOR, coding_file

WINDOW = 100_000


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in coding_file().splitlines()]


def of_messages(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if record["type"] in ("user", "assistant")]


def blocks(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    contents = [record["message"]["content"] for record in of_messages(records)]
    return [block for content in contents if isinstance(content, list) for block in content if block["type"] == kind]


def minute(record: dict[str, Any], records: list[dict[str, Any]]) -> float:
    start, time = (datetime.fromisoformat(value["timestamp"]) for value in (of_messages(records)[0], record))
    return (time - start).total_seconds() / 60


def tokens(texts: list[str]) -> int:
    return sum(toktok.batch_count(texts, "o200k_base"))


def result_tokens(records: list[dict[str, Any]]) -> int:
    return tokens([block["content"] for block in blocks(records, "tool_result")])


def all_tokens(records: list[dict[str, Any]]) -> int:
    """Every part of every message, and 4 for each message: a response is one, a result is one."""
    calls = blocks(records, "tool_use")
    texts = [block["content"] for block in blocks(records, "tool_result")]
    texts += [block["thinking"] for block in blocks(records, "thinking")]
    texts += [block["text"] for block in blocks(records, "text")]
    texts += [text for call in calls for text in (call["name"], orjson.dumps(call["input"]).decode())]
    prompts = [r["message"]["content"] for r in of_messages(records) if isinstance(r["message"]["content"], str)]
    messages = len(prompts) + len(blocks(records, "tool_result")) + len(responses(records))
    return tokens(texts + prompts) + 4 * messages


def responses(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last record of each response, which has the final usage."""
    last = {r["message"]["id"]: r for r in records if r["type"] == "assistant"}
    return list(last.values())


def context(record: dict[str, Any]) -> int:
    usage = record["message"]["usage"]
    sides = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return int(sum(usage[side] for side in sides))


def test_it_takes_127_minutes_from_the_first_message_to_the_last(records: list[dict[str, Any]]) -> None:
    times = [minute(record, records) for record in of_messages(records)]

    assert times[0] == 0
    assert times[-1] == 127


def test_messages_are_in_the_order_of_their_times(records: list[dict[str, Any]]) -> None:
    times = [minute(record, records) for record in of_messages(records)]

    assert times == sorted(times)


def test_it_has_83_calls_of_three_tools(records: list[dict[str, Any]]) -> None:
    calls = Counter(block["name"] for block in blocks(records, "tool_use"))

    assert calls == {"Read": 24, "Bash": 31, "Python": 28}
    assert calls.total() == 83


def test_every_call_has_one_result_after_it(records: list[dict[str, Any]]) -> None:
    calls = [block["id"] for block in blocks(records, "tool_use")]
    results = [block["tool_use_id"] for block in blocks(records, "tool_result")]

    assert results == calls
    assert len(set(calls)) == 83


def test_some_responses_make_two_calls_at_once(records: list[dict[str, Any]]) -> None:
    calls = Counter(
        record["message"]["id"]
        for record in records
        if record["type"] == "assistant" and record["message"]["content"][0]["type"] == "tool_use"
    )

    assert Counter(calls.values()) == {1: 73, 2: 5}
    assert len(responses(records)) == 84


def test_one_result_is_an_error(records: list[dict[str, Any]]) -> None:
    errors = [block["content"] for block in blocks(records, "tool_result") if block.get("is_error")]

    assert errors == ["File does not exist: /home/dev/orderdesk/tests/conftest.py"]


def test_tool_results_have_their_exact_size(records: list[dict[str, Any]]) -> None:
    assert result_tokens(records) == 126_790


def test_all_messages_have_their_exact_size(records: list[dict[str, Any]]) -> None:
    assert all_tokens(records) == 173_741


def test_the_sizes_are_near_those_of_the_chapter(records: list[dict[str, Any]]) -> None:
    assert result_tokens(records) == pytest.approx(127_000, rel=0.005)
    assert all_tokens(records) == pytest.approx(174_000, rel=0.005)


def test_a_log_of_2000_lines_is_among_the_results(records: list[dict[str, Any]]) -> None:
    text = log.import_log()

    assert len(text.split("\n")) == 2000
    assert [block["content"] for block in blocks(records, "tool_result")].count(text) == 1


def test_the_log_only_goes_forward_in_time() -> None:
    times = [line[:11] for line in log.import_log().split("\n") if not line.startswith(" ")]

    assert all(before < after for before, after in pairwise(times))


def test_a_verbose_report_of_847_tests_is_among_the_results(records: list[dict[str, Any]]) -> None:
    text = pytest_report.verbose_report()
    outcomes = Counter(line.rsplit(" [", 1)[0].rsplit(" ", 1)[1] for line in text.split("\n") if line.endswith("%]"))

    assert outcomes == {"PASSED": 835, "FAILED": 10, "SKIPPED": 2}
    assert [block["content"] for block in blocks(records, "tool_result")].count(text) == 1


def test_no_test_is_listed_twice() -> None:
    names = pytest_report.test_ids()

    assert len(names) == len(set(names)) == 847


def test_a_list_of_400_packages_is_among_the_results(records: list[dict[str, Any]]) -> None:
    text = packages.package_list()

    assert len(text.split("\n")) - 2 == 400
    assert [block["content"] for block in blocks(records, "tool_result")].count(text) == 1


def test_the_recorded_context_follows_from_what_was_said(records: list[dict[str, Any]]) -> None:
    first, last = context(responses(records)[0]), context(responses(records)[-1])
    closing = blocks([responses(records)[-1]], "text")[0]["text"]

    assert first < HIDDEN_TOKENS + 400
    assert last < HIDDEN_TOKENS + TOKEN_FACTOR * (all_tokens(records) - tokens([closing])) < last + 400


def test_it_overflows_100k_before_minute_60(records: list[dict[str, Any]]) -> None:
    over = next(record for record in responses(records) if context(record) > WINDOW)

    assert context(over) == 100_555
    assert minute(over, records) == pytest.approx(40.9, abs=0.1)
    assert minute(over, records) < 60


def test_the_context_only_grows(records: list[dict[str, Any]]) -> None:
    contexts = [context(record) for record in responses(records)]

    assert all(before < after for before, after in pairwise(contexts))


def test_the_cache_expires_once_while_the_user_thinks(records: list[dict[str, Any]]) -> None:
    reads = [record["message"]["usage"]["cache_read_input_tokens"] for record in responses(records)]

    assert [position for position, read in enumerate(reads) if read == 0] == [0, 40]


def test_lines_of_one_response_repeat_the_input_side_and_grow_in_output(records: list[dict[str, Any]]) -> None:
    by_id: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if record["type"] == "assistant":
            by_id.setdefault(record["message"]["id"], []).append(record["message"]["usage"])
    several = [usages for usages in by_id.values() if len(usages) > 1]

    assert len(several) == 84
    for usages in several:
        assert len({usage["input_tokens"] for usage in usages}) == 1
        assert usages[0]["output_tokens"] < usages[-1]["output_tokens"]


def test_every_record_hangs_on_the_one_before(records: list[dict[str, Any]]) -> None:
    chain = [record for record in records if "uuid" in record]

    assert chain[0]["parentUuid"] is None
    assert [record["parentUuid"] for record in chain[1:]] == [record["uuid"] for record in chain[:-1]]


def test_one_model_answers_throughout(records: list[dict[str, Any]]) -> None:
    assert {record["message"]["model"] for record in responses(records)} == {MODEL}


def test_thinking_is_signed(records: list[dict[str, Any]]) -> None:
    thinking = blocks(records, "thinking")

    assert len(thinking) == 84
    assert all(block["signature"] for block in thinking)


def test_later_words_name_what_earlier_results_showed(records: list[dict[str, Any]]) -> None:
    results = "\n".join(block["content"] for block in blocks(records, "tool_result"))
    closing = blocks([responses(records)[-1]], "text")[0]["text"]
    names = ("HB-24077", "1.299,00", "481311", "5d0c1e7", "import_batch", "dedupe_key", "parse_amount")

    assert [name for name in names if name in closing and name in results] == list(names)
