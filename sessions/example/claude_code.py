"""Writes a plan as a Claude Code session file: JSON lines, one content block a line, usage on every line.

The shapes are those of real files: parents, request ids, output tokens that grow from line to line,
calls before their results, boundaries of compactions. The system prompt is not in such files, so it is
not written here either; it shows in the usage only.
"""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson

from sessions.example.counting import count, prompt_tokens, response_tokens, result_tokens
from sessions.example.script import Call, Exchange, Response, minutes
from sessions.example.shop import HOME, between, hex_digits, source

MODEL = "claude-sonnet-4-5-20250929"
VERSION = "2.0.14"
CACHE_LIFETIME = timedelta(minutes=5)
CLEARED = "[Old tool result content cleared]"
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"


@dataclass(slots=True)
class ClaudeCodeFile:
    """One session file in the making. ``hidden`` are the tokens of the prompt that the file does not hold,
    ``factor`` what the provider's tokenizer makes of one o200k token."""

    subject: str
    started: datetime
    hidden: int
    factor: float
    title: str = ""
    records: list[dict[str, Any]] = field(default_factory=list)
    counted: int = 0
    results: dict[str, int] = field(default_factory=dict)
    call_ids: list[str] = field(default_factory=list)
    cached: int = 0
    last_request: datetime | None = None
    parent: str | None = None
    rng: random.Random = field(init=False)
    session_id: str = field(init=False)

    def __post_init__(self) -> None:
        self.rng = source(f"claude-code/{self.subject}")
        self.session_id = self.uuid()

    def uuid(self) -> str:
        digits = hex_digits(self.rng, 30)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-a{digits[15:18]}-{digits[18:]}"

    def short_id(self, prefix: str) -> str:
        return prefix + "".join(ALPHABET[int(self.rng.random() * len(ALPHABET))] for _ in range(22))

    def at(self, minute: float) -> datetime:
        return self.started + timedelta(milliseconds=round(minute * 60_000))

    @property
    def context_tokens(self) -> int:
        """What the provider would count for a request with all that was said so far."""
        return self.hidden + round(self.factor * self.counted)

    def add(self, kind: str, time: datetime, **values: Any) -> str:
        """Append one record below the last one and return its uuid."""
        uuid = self.uuid()
        self.records.append(
            {
                "parentUuid": self.parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": HOME,
                "sessionId": self.session_id,
                "version": VERSION,
                "gitBranch": "main",
                "type": kind,
                **values,
                "uuid": uuid,
                "timestamp": stamp(time),
            }
        )
        self.parent = uuid
        return uuid

    def exchange(self, exchange: Exchange) -> None:
        """A prompt and all responses to it, with their results."""
        self.prompt(exchange.prompt, self.at(exchange.start_minute))
        for response, minute in zip(exchange.responses, minutes(exchange), strict=True):
            self.respond(response, self.at(minute))
        length_ms = round((exchange.end_minute - exchange.start_minute) * 60_000)
        end = self.at(exchange.end_minute)
        self.add("system", end, subtype="turn_duration", durationMs=length_ms, isMeta=False)

    def prompt(self, text: str, time: datetime) -> None:
        self.add("user", time, message={"role": "user", "content": text})
        self.counted += prompt_tokens(text)

    def respond(self, response: Response, time: datetime) -> None:
        """The lines of one response, the last at ``time``, then one line for each result."""
        ids = [self.short_id("toolu_01") for _ in response.calls]
        blocks = self.blocks(response, ids)
        usage = self.usage(time - timedelta(seconds=3 * len(blocks)))
        output = round(self.factor * response_tokens(response))
        message_id, request_id = self.short_id("msg_01"), self.short_id("req_011C")
        for position, block in enumerate(blocks, start=1):
            is_last = position == len(blocks)
            self.add(
                "assistant",
                time - timedelta(milliseconds=1700 * (len(blocks) - position)),
                requestId=request_id,
                message={
                    "model": MODEL,
                    "id": message_id,
                    "type": "message",
                    "role": "assistant",
                    "content": [block],
                    "stop_reason": ("tool_use" if response.calls else "end_turn") if is_last else None,
                    "stop_sequence": None,
                    "usage": {**usage, "output_tokens": output if is_last else position * 4},
                },
            )
        self.counted += response_tokens(response)
        for position, (call, call_id) in enumerate(zip(response.calls, ids, strict=True)):
            seconds = response.wait_minutes * 60 + between(self.rng, 200, 2600) / 1000 + position * 3
            self.result(call, call_id, time + timedelta(milliseconds=round(seconds * 1000)))

    def blocks(self, response: Response, ids: list[str]) -> list[dict[str, Any]]:
        """The content blocks in the order in which a model writes them."""
        blocks: list[dict[str, Any]] = []
        if response.thinking:
            signature = base64.b64encode(bytes(between(self.rng, 0, 255) for _ in range(132))).decode()
            blocks.append({"type": "thinking", "thinking": response.thinking, "signature": signature})
        if response.text:
            blocks.append({"type": "text", "text": response.text})
        for call, call_id in zip(response.calls, ids, strict=True):
            blocks.append({"type": "tool_use", "id": call_id, "name": call.name, "input": call.arguments})
        return blocks

    def result(self, call: Call, call_id: str, time: datetime) -> None:
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": call.result}
        if call.is_error:
            block["is_error"] = True
        self.add("user", time, message={"role": "user", "content": [block]})
        self.call_ids.append(call_id)
        self.results[call_id] = count(call.result)
        self.counted += result_tokens(call)

    def usage(self, requested: datetime) -> dict[str, Any]:
        """The input side of the usage: what was cached is read unless it has expired, the rest is written."""
        is_warm = self.last_request is not None and requested - self.last_request < CACHE_LIFETIME
        context = self.context_tokens
        read = min(self.cached, context) if is_warm else 0
        uncached = between(self.rng, 3, 9)
        written = max(0, context - read - uncached)
        self.cached = read + written
        self.last_request = requested
        return {
            "input_tokens": context - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
        }

    def compact(self, summary: str, minute: float) -> None:
        """The agent compacts: a boundary without a parent, then the summary that stands for what was before."""
        logical, before = self.parent, self.context_tokens
        self.parent = None
        self.add(
            "system",
            self.at(minute),
            subtype="compact_boundary",
            logicalParentUuid=logical,
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata={"trigger": "auto", "preTokens": before},
        )
        self.add(
            "user",
            self.at(minute),
            isVisibleInTranscriptOnly=True,
            isCompactSummary=True,
            message={"role": "user", "content": summary},
        )
        self.counted, self.cached = prompt_tokens(summary), 0

    def micro_compact(self, keep: int, minute: float) -> None:
        """The agent blanks all results but the newest ``keep``, and says which."""
        cleared = [call_id for call_id in self.call_ids if self.results[call_id] > count(CLEARED)][:-keep]
        before = self.context_tokens
        for call_id in cleared:
            self.counted -= self.results[call_id] - count(CLEARED)
            self.results[call_id] = count(CLEARED)
        self.add(
            "system",
            self.at(minute),
            subtype="microcompact_boundary",
            content="Context microcompacted",
            isMeta=False,
            level="info",
            microcompactMetadata={
                "trigger": "auto",
                "preTokens": before,
                "tokensSaved": before - self.context_tokens,
                "compactedToolIds": cleared,
                "clearedAttachmentUUIDs": [],
            },
        )
        self.cached = self.hidden

    def as_bytes(self) -> bytes:
        """The file: the title of the session first, then all records."""
        head = {"type": "summary", "summary": self.title, "leafUuid": self.parent}
        return b"".join(orjson.dumps(record) + b"\n" for record in [head, *self.records])


def stamp(time: datetime) -> str:
    """Milliseconds and Z, as the agent writes times."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"
