"""The state machine over public recordings of streams, against the counts of their index and a whole-body reading.

Skips where the recordings are absent.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sessions.streaming.detect import PROTOCOLS
from sessions.streaming.machine import Stream, UnknownProtocol

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
INDEX = SAMPLES / "INDEX.tsv"

pytestmark = pytest.mark.skipif(not INDEX.is_file(), reason="the recordings are not here")


def _rows() -> list[dict[str, str]]:
    if not INDEX.is_file():
        return []
    with INDEX.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row for row in rows if row["format"].startswith("stream: ")]


def _protocol(row: dict[str, str]) -> str:
    return row["format"].removeprefix("stream: ")


READ = [row for row in _rows() if _protocol(row) in PROTOCOLS]
FOREIGN = [row for row in _rows() if _protocol(row) not in PROTOCOLS]


def _fragments(row: dict[str, str]) -> int:
    said = re.search(r"(\d+) non-empty argument fragments", row["remarks"])
    return int(said[1]) if said else 0


# What stands whole in an event is a fragment to us and none to the index.
IN_PIECES = [row for row in READ if _fragments(row) and "inside message_start" not in row["remarks"]]


def _name(row: dict[str, str]) -> str:
    return row["path"]


def _run(row: dict[str, str], read_bytes: int | None = None) -> tuple[Stream, list[dict[str, Any]]]:
    body = (SAMPLES / row["path"]).read_bytes()
    stream = Stream()
    size = read_bytes or len(body)
    facts = [fact for start in range(0, len(body), size) for fact in stream.feed(body[start : start + size])]
    facts += stream.finish()
    return stream, [fact.as_row(number, None) for number, fact in enumerate(facts)]


def _payloads(row: dict[str, str]) -> list[dict[str, Any]]:
    """The objects of the whole body, read without the reader under test."""
    found = []
    for line in re.split(r"\r\n|\r|\n", (SAMPLES / row["path"]).read_text(encoding="utf-8")):
        try:
            value = json.loads(line.removeprefix("data:").strip())
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _meant(row: dict[str, str]) -> list[tuple[str, Any]]:
    """Names and arguments of the calls by concatenation over the whole body, per protocol."""
    match _protocol(row):
        case "anthropic-messages":
            return _meant_anthropic(_payloads(row))
        case "openai-chat":
            return _meant_chat(_payloads(row))
        case _:
            return _meant_responses(_payloads(row))


def _meant_anthropic(payloads: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    calls: list[list[Any]] = []
    at: dict[int, list[Any]] = {}
    for payload in payloads:
        if payload.get("type") == "message_start":
            at = {}
            calls += [
                ["", block["name"], block["input"]]
                for block in payload["message"].get("content", [])
                if "name" in block
            ]
        elif payload.get("type") == "content_block_start" and "name" in (block := payload["content_block"]):
            at[payload["index"]] = call = ["", block["name"], block["input"]]
            calls.append(call)
        elif payload.get("type") == "content_block_delta" and payload["delta"]["type"] == "input_json_delta":
            at[payload["index"]][0] += payload["delta"]["partial_json"]
    return [(name, _value(raw) if raw else given) for raw, name, given in calls]


def _meant_chat(payloads: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    calls: list[list[str]] = []
    at: dict[tuple[str, int], list[str]] = {}
    for payload in payloads:
        for choice in payload.get("choices", []):
            for delta in (choice.get("delta") or {}).get("tool_calls") or []:
                key = (payload.get("id", ""), delta.get("index", 0))
                if delta.get("id"):
                    at[key] = [delta["function"]["name"], ""]
                    calls.append(at[key])
                at[key][1] += delta["function"].get("arguments") or ""
    return [(name, _value(raw or "{}")) for name, raw in calls]


def _meant_responses(payloads: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    calls = []
    for payload in payloads:
        item = payload.get("item", {})
        if payload.get("type") == "response.output_item.done" and item["type"].endswith("_call"):
            name = item.get("name") or item["type"].removesuffix("_call")
            given = item.get("operation") or item.get("action") or item.get("input")
            calls.append((name, given if given is not None else _value(item["arguments"] or "{}")))
    return calls


def _value(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _completed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted((row for row in rows if row["type"] == "tool_complete"), key=lambda row: row["call"])


@pytest.mark.parametrize("row", READ, ids=_name)
def test_the_protocol_is_recognised(row: dict[str, str]) -> None:
    assert _run(row)[0].profile_row()["protocol"] == _protocol(row)


@pytest.mark.parametrize("row", READ, ids=_name)
def test_calls_are_as_many_as_the_index_says(row: dict[str, str]) -> None:
    _, rows = _run(row)

    assert len([fact for fact in rows if fact["type"] == "call_started"]) == int(row["tool calls"])


@pytest.mark.parametrize("row", [row for row in READ if "tool_use_failed" not in row["remarks"]], ids=_name)
def test_names_and_arguments_are_those_of_a_whole_body_reading(row: dict[str, str]) -> None:
    _, rows = _run(row)

    assert [(fact["name"], fact["arguments"]) for fact in _completed(rows)] == _meant(row)


@pytest.mark.parametrize("row", IN_PIECES, ids=_name)
def test_argument_fragments_are_counted_as_the_index_says(row: dict[str, str]) -> None:
    assert _run(row)[0].profile.argument_pieces == _fragments(row)


@pytest.mark.parametrize("row", READ, ids=_name)
def test_one_byte_at_a_time_says_the_same(row: dict[str, str]) -> None:
    assert _run(row, read_bytes=1)[1] == _run(row)[1]


@pytest.mark.parametrize("row", FOREIGN, ids=_name)
def test_other_protocols_are_refused_by_name(row: dict[str, str]) -> None:
    with pytest.raises(UnknownProtocol, match=_protocol(row)):
        _run(row)
