"""Anthropic Messages: blocks keyed by index, each with a start, deltas and a stop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from sessions.streaming.adapter import Adapter
from sessions.streaming.call_state import Call, Calls
from sessions.streaming.facts import Fact
from sessions.streaming.fields import index, record, records, text
from sessions.streaming.payloads import DONE, Payload

CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


class AnthropicMessages(Adapter):
    protocol: ClassVar[str] = "anthropic-messages"

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls)
        self._message = ""
        self._open: dict[int, Call] = {}
        self._given: dict[int, Any] = {}
        self._blocks: set[int] = set()
        self._ended = False
        self._last_stop = ""

    def feed(self, payload: Payload) -> Iterator[Fact]:
        match payload.get("type"):
            case "content_block_delta":
                yield from self._delta(payload)
            case "content_block_start":
                yield from self._start(index(payload.get("index")), record(payload.get("content_block")))
            case "content_block_stop":
                yield from self._stop(index(payload.get("index")))
            case "message_start":
                yield from self._message_start(record(payload.get("message")))
            case "message_delta":
                yield from self._message_delta(payload)
            case "message_stop":
                yield from self._message_stop()
            case "ping":
                yield Fact("ping")
            case "error":
                yield from self.failed(payload.get("error"))
            case "message":
                yield from self._whole(payload)
            case kind if kind == DONE:
                pass
            case kind:
                yield self.passed(text(kind))

    def _message_start(self, message: dict[str, Any]) -> Iterator[Fact]:
        identity = text(message.get("id"))
        if self._message and not self._ended:
            if identity == self._message:
                self.notes["duplicate_message_start"] += 1
                return
            self.notes["spliced_message"] += 1
            yield from self._discard()
        self._message = identity or "unnamed"
        self._ended = False
        self._last_stop = ""
        self.model = text(message.get("model")) or self.model
        if self.outcome == "complete":
            self.outcome = "open"
        if usage := record(message.get("usage")):
            yield Fact("usage", value=usage)
        yield from self._content(message)

    def _content(self, message: dict[str, Any]) -> Iterator[Fact]:
        """Blocks that stand whole inside a message, without events of their own."""
        for number, block in enumerate(records(message.get("content"))):
            yield from self._start(number, block)
            yield from self._stop(number)
        self._blocks.clear()

    def _start(self, number: int | None, block: dict[str, Any]) -> Iterator[Fact]:
        if number is None:
            number = max(self._blocks, default=-1) + 1
            self.notes["missing_index"] += 1
        if (older := self._open.pop(number, None)) is not None:
            self.notes["reopened_block"] += 1
            yield from older.abandon("aborted")
        self._blocks.add(number)
        kind = text(block.get("type"))
        if kind in CALL_BLOCKS:
            call, facts = self.calls.start(text(block.get("id")), text(block.get("name")))
            yield from facts
            self._open[number] = call
            if block.get("input"):
                # Given whole before any delta; held beside the call until its stop says that no delta replaces it.
                self._given[number] = block["input"]
                self.notes["input_at_start"] += 1
        elif kind == "text" and text(block.get("text")):
            yield Fact("text", text=block["text"])
        elif kind == "thinking" and text(block.get("thinking")):
            yield Fact("thinking", text=block["thinking"])

    def _delta(self, payload: Payload) -> Iterator[Fact]:
        delta = record(payload.get("delta"))
        number = index(payload.get("index"))
        match delta.get("type"):
            case "input_json_delta":
                call = self._open.get(-1 if number is None else number)
                if call is None and (number is None or number < 0) and len(self._open) == 1:
                    (call,) = self._open.values()
                    self.notes["bad_index"] += 1
                fragment = text(delta.get("partial_json"))
                if call is None:
                    self.notes["delta_without_block"] += 1
                elif fragment:
                    self._given.pop(-1 if number is None else number, None)
                    yield from call.append(fragment)
            case "text_delta":
                yield Fact("text", text=text(delta.get("text")))
            case "thinking_delta":
                yield Fact("thinking", text=text(delta.get("thinking")))
            case "signature_delta" | "citations_delta" | "compaction_delta":
                pass
            case kind:
                yield self.passed(text(kind))

    def _stop(self, number: int | None) -> Iterator[Fact]:
        if number is None and len(self._open) == 1:
            (number,) = self._open
        call = self._open.pop(number, None) if number is not None else None
        if call is not None:
            given = self._given.pop(number, None) if number is not None else None
            if given is not None:
                yield from call.append(json.dumps(given, ensure_ascii=False))
            yield from call.close()

    def _message_delta(self, payload: Payload) -> Iterator[Fact]:
        if usage := record(payload.get("usage")):
            yield Fact("usage", value=usage)
        delta = record(payload.get("delta"))
        reason = text(delta.get("stop_reason"))
        if reason and reason != self._last_stop:
            self._last_stop = reason
            yield Fact("stop", text=reason, value=delta.get("stop_details") or None)

    def _message_stop(self) -> Iterator[Fact]:
        yield from self._discard()
        self._ended = True
        if self.outcome == "open":
            self.outcome = "complete"

    def _discard(self) -> Iterator[Fact]:
        for call in self._open.values():
            yield from call.abandon("aborted")
        self._open.clear()
        self._given.clear()
        self._blocks.clear()

    def _whole(self, message: Payload) -> Iterator[Fact]:
        """An answer that was not streamed, or the copy of one that was: that one is not told twice."""
        if self._message:
            self.notes["whole_message_repeated"] += 1
            return
        yield from self._message_start(message)
        if reason := text(message.get("stop_reason")):
            yield Fact("stop", text=reason)
        yield from self._message_stop()
