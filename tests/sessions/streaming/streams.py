"""Builds bodies of streams by hand and runs them: what the tests of the protocols share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sessions.streaming.facts import Fact
from sessions.streaming.machine import Stream

Row = dict[str, Any]


def body(*payloads: Row | str) -> bytes:
    """Each payload as one event; a string stands for its data as it is."""
    return b"".join(
        b"data: " + (item if isinstance(item, str) else json.dumps(item)).encode() + b"\n\n" for item in payloads
    )


def run(data: bytes, protocol: str = "auto") -> tuple[Stream, list[Fact]]:
    stream = Stream(protocol)
    return stream, [*stream.feed(data), *stream.finish()]


def calls(facts: Iterable[Fact]) -> list[tuple[str | None, Any, str | None]]:
    """Name, arguments and end of each call, in the order in which they began."""
    ended = sorted((fact for fact in facts if fact.type == "tool_complete"), key=lambda fact: fact.call or 0)
    return [(fact.tool, fact.arguments, fact.state) for fact in ended]


def told(facts: Iterable[Fact], kind: str) -> str:
    return "".join(fact.text or "" for fact in facts if fact.type == kind)


def kinds(facts: Iterable[Fact]) -> list[str]:
    return [fact.type for fact in facts]


def chunk(*tool_calls: Row, finish: str | None = None, **delta: Any) -> Row:
    """A chunk of Chat Completions with one choice."""
    if tool_calls:
        delta["tool_calls"] = list(tool_calls)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def tool(name: Any = None, arguments: Any = None, **fields: Any) -> Row:
    """One entry of ``tool_calls``; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**fields, "function": function}
