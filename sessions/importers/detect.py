"""Which format a file is, from the shape of its first records: a score from 0 to 1 and a reason.

The most specific shape wins. File names and self-declared labels are not looked at, because they lie.
Formats that are known but not read yet are recognised too, so that the refusal can name them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.importers.fields import JsonObject, mapping, sequence, string
from sessions.importers.parsed import Detection

FORMATS: dict[str, str] = {
    "claude-code": "Claude Code session (JSONL)",
    "codex": "Codex CLI rollout (JSONL, new and old layout)",
    "anthropic-messages": "Anthropic messages array or request",
    "openai-chat": "OpenAI chat messages array, request or runs",
    "hermes-agent": "Hermes Agent state.db, session JSON, export or legacy JSONL",
}

NOT_READ_YET: dict[str, str] = {
    "aider": "an Aider chat history",
    "atif": "an ATIF trajectory",
    "claude-stream-json": "Claude Code stream-json output",
    "cline": "a Cline session",
    "codex-exec": "codex exec --json output",
    "gemini-cli": "a Gemini CLI session",
    "har": "a HAR recording",
    "inspect-eval": "an Inspect log",
    "langchain": "serialised LangChain messages",
    "langfuse": "a Langfuse trace export",
    "langsmith": "LangSmith runs",
    "mini-swe-agent": "a mini-swe-agent trajectory",
    "openai-responses": "OpenAI Responses items",
    "opencode": "an OpenCode session",
    "openhands": "an OpenHands trajectory",
    "openinference": "OpenInference or AI SDK spans",
    "otlp": "OTLP traces",
    "pi": "a pi session",
    "sharegpt": "ShareGPT conversations",
    "sse": "a recorded event stream (SSE)",
    "stream-chunks": "a recorded stream of model API chunks",
    "swe-agent": "a SWE-agent trajectory",
}

_CLAUDE_META = {
    "file-history-snapshot", "summary", "queue-operation", "progress", "system", "pr-link", "ai-title", "last-prompt",
    "custom-title", "mode", "attachment", "agent-name",
}  # fmt: skip
_RESPONSES_ITEMS = {
    "function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call",
}  # fmt: skip
_ANTHROPIC_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}


@dataclass(frozen=True, slots=True)
class Shape:
    """The first records of a file. ``top`` is the document when it is one object, else empty."""

    records: Sequence[JsonObject]
    top: JsonObject
    is_array: bool

    def count(self, holds: Callable[[JsonObject], bool]) -> int:
        return sum(1 for record in self.records if holds(record))

    def share(self, holds: Callable[[JsonObject], bool]) -> float:
        return self.count(holds) / len(self.records) if self.records else 0.0


def shape_of(values: Sequence[Any]) -> Shape:
    """From the first values of a file; a document that is one array counts by its elements."""
    if values and isinstance(values[0], list) and values[0]:
        items = [item for item in values[0][:200] if isinstance(item, dict)]
        return Shape(items, {}, is_array=True)
    records = [value for value in values if isinstance(value, dict)]
    return Shape(records, records[0] if len(records) == 1 else {}, is_array=False)


def detect(values: Sequence[Any]) -> list[Detection]:
    """All formats whose shape fits, best first; among equals the more specific detector comes first."""
    shape = shape_of(values)
    if not shape.records:
        return []
    found = [detection for detector in _DETECTORS if (detection := detector(shape)) is not None]
    return sorted(found, key=lambda detection: -detection.score)


def _claude_code(shape: Shape) -> Detection | None:
    def is_turn(record: JsonObject) -> bool:
        return (
            record.get("type") in ("user", "assistant")
            and "message" in record
            and ("uuid" in record or "parentUuid" in record)
        )

    turns = shape.count(is_turn)
    meta = shape.count(lambda record: string(record.get("type")) in _CLAUDE_META and "payload" not in record)
    if turns:
        score = round(0.6 + 0.4 * (turns + meta) / len(shape.records), 2)
        return Detection(
            "claude-code", score, f"{turns} of the first {len(shape.records)} records have uuid, parentUuid and message"
        )
    named = shape.count(
        lambda record: ("uuid" in record and "sessionId" in record) or "leafUuid" in record or "snapshot" in record
    )
    if named and meta == len(shape.records):
        return Detection("claude-code", 0.5, "only Claude Code's own record types, no messages so far")
    return None


def _claude_stream(shape: Shape) -> Detection | None:
    found = shape.count(
        lambda record: "session_id" in record and record.get("type") in ("system", "assistant", "user", "result")
    )
    if found and found * 2 >= len(shape.records):
        return Detection("claude-stream-json", 0.85, "records of type system, assistant, result with session_id")
    return None


def _codex(shape: Shape) -> Detection | None:
    new = shape.share(lambda record: "type" in record and isinstance(record.get("payload"), dict))
    if new >= 0.5:
        return Detection("codex", round(0.55 + 0.4 * new, 2), "every record is {timestamp, type, payload}")
    states = shape.count(lambda record: record.get("record_type") == "state")
    items = shape.count(lambda record: string(record.get("type")) in _RESPONSES_ITEMS)
    first = shape.records[0]
    begins = "instructions" in first and "timestamp" in first and "id" in first and "role" not in first
    if states or (begins and not shape.is_array):
        return Detection("codex", 0.9 if states and items else 0.8, "an old rollout: bare items and state records")
    if items:
        return Detection("openai-responses", 0.7, f"{items} items of the Responses API")
    return None


def _codex_exec(shape: Shape) -> Detection | None:
    if shape.count(lambda record: record.get("type") in ("thread.started", "item.completed", "turn.completed")):
        return Detection("codex-exec", 0.9, "events thread.started, item.completed, turn.completed")
    return None


def _hermes_agent(shape: Shape) -> Detection | None:
    top = shape.records[0]
    if isinstance(top.get("messages"), list):
        if "session_id" in top and ("session_start" in top or "platform" in top or "last_updated" in top):
            return Detection("hermes-agent", 0.95, "a session document with session_id, session_start and messages")
        if "id" in top and "source" in top and ("started_at" in top or "message_count" in top):
            return Detection("hermes-agent", 0.9, "an export: the columns of a session and its messages")
    if shape.count(lambda record: record.get("role") == "session_meta"):
        return Detection("hermes-agent", 0.95, "a legacy transcript: a session_meta record before the messages")
    own = ("finish_reason", "reasoning", "tool_name", "reasoning_details", "codex_reasoning_items")
    lines = shape.count(lambda record: "role" in record and "content" in record and any(key in record for key in own))
    if lines and not shape.is_array and "messages" not in top:
        return Detection("hermes-agent", 0.75, f"one message a line, {lines} with Hermes Agent's own fields")
    return None


def _blocks(message: JsonObject) -> list[Any]:
    return sequence(message.get("content"))


def _has_anthropic_block(message: JsonObject) -> bool:
    return any(isinstance(block, dict) and string(block.get("type")) in _ANTHROPIC_BLOCKS for block in _blocks(message))


def _has_openai_field(message: JsonObject) -> bool:
    return (
        bool(message.get("tool_calls"))
        or message.get("role") in ("tool", "function", "developer")
        or bool(message.get("function_call"))
    )


def message_lists(shape: Shape) -> list[list[Any]]:
    """The lists of messages that a document, an array of runs or lines of requests hold."""
    lists = [sequence(record.get(key)) for record in shape.records for key in ("messages", "traj") if key in record]
    return lists or ([list(shape.records)] if shape.count(lambda record: "role" in record) else [])


def _chat(shape: Shape) -> Detection | None:
    lists = message_lists(shape)
    messages = [message for items in lists for message in items[:200] if isinstance(message, dict)]
    with_role = [message for message in messages if isinstance(message.get("role"), str)]
    if not with_role or len(with_role) * 2 < len(messages):
        return None
    anthropic = sum(1 for message in with_role if _has_anthropic_block(message))
    openai = sum(1 for message in with_role if _has_openai_field(message))
    if anthropic > openai:
        return Detection(
            "anthropic-messages", 0.85, f"{anthropic} messages with tool_use, tool_result or thinking blocks"
        )
    if openai:
        return Detection("openai-chat", 0.85, f"{openai} messages with tool_calls or the role tool")
    if shape.top and "messages" in shape.top and "system" in shape.top:
        return Detection("anthropic-messages", 0.7, "a top-level system beside messages")
    return Detection("openai-chat", 0.4, "a generic chat: text-only messages with role and content")


def _mini_swe_agent(shape: Shape) -> Detection | None:
    if string(shape.top.get("trajectory_format")).startswith("mini-swe-agent"):
        return Detection("mini-swe-agent", 0.98, "trajectory_format names it")
    answers = [string(record.get("content")) for record in shape.records if record.get("role") == "assistant"]
    fenced = sum(1 for text in answers if "```bash" in text or "```mswea_bash_command" in text)
    if shape.is_array and fenced and fenced * 3 >= len(answers) * 2 and not shape.count(_has_openai_field):
        return Detection("mini-swe-agent", 0.7, "a list of text messages whose answers hold a fenced bash command")
    return None


def _swe_agent(shape: Shape) -> Detection | None:
    top = shape.top
    if isinstance(top.get("history"), list) and ("trajectory" in top or "replay_config" in top):
        return Detection("swe-agent", 0.95, "history beside trajectory")
    steps = [item for item in sequence(top.get("history")) if isinstance(item, dict)]
    if any("message_type" in item or "agent" in item for item in steps):
        return Detection("swe-agent", 0.9, "a history of messages with agent and message_type")
    return None


def _openhands(shape: Shape) -> Detection | None:
    def is_event(record: JsonObject) -> bool:
        return "source" in record and ("action" in record or "observation" in record)

    if shape.share(is_event) > 0.5:
        return Detection("openhands", 0.9, "events with source and action or observation")
    for record in shape.records:
        history = sequence(record.get("history"))
        first = history[0] if history else None
        if is_event(mapping(first)) or (isinstance(first, list) and first and is_event(mapping(first[0]))):
            return Detection("openhands", 0.92, "runs with a history of OpenHands events")
    return None


def _spans(shape: Shape) -> Detection | None:
    def is_span(record: JsonObject) -> bool:
        context = mapping(record.get("spanContext")) or mapping(record.get("context"))
        return ("traceId" in context or "trace_id" in context) and ("attributes" in record or "span_kind" in record)

    if shape.share(is_span) > 0.5:
        return Detection("openinference", 0.9, "spans with a trace id in their context")
    return None


def _langfuse(shape: Shape) -> Detection | None:
    if "trace" in shape.top and isinstance(shape.top.get("observations"), list):
        return Detection("langfuse", 0.95, "trace beside observations")
    entries = [mapping(entry) for entry in shape.top.values()]
    if entries and all("success" in mapping(entry.get("input")) for entry in entries):
        return Detection("langfuse", 0.6, "parsed inputs and outputs by observation id")
    return None


def _cline(shape: Shape) -> Detection | None:
    top = shape.top
    if "sessionId" in top and isinstance(top.get("messages"), list) and ("version" in top or "system_prompt" in top):
        return Detection("cline", 0.93, "a session document with version, sessionId and messages")
    return None


def _gemini(shape: Shape) -> Detection | None:
    if shape.count(lambda record: "projectHash" in record and ("messages" in record or record.get("kind") == "main")):
        return Detection("gemini-cli", 0.97, "projectHash beside messages or a main record")
    return None


def _pi(shape: Shape) -> Detection | None:
    def has_result(record: JsonObject) -> bool:
        return mapping(record.get("message")).get("role") == "toolResult"

    begins = shape.records[0].get("type") == "session"
    if begins and shape.count(lambda record: record.get("type") == "message" and "message" in record):
        return Detection("pi", 0.9, "a session record, then message records")
    if shape.count(has_result):
        return Detection("pi", 0.85, "messages with the role toolResult")
    return None


def _inspect(shape: Shape) -> Detection | None:
    if "eval" in shape.top and ("samples" in shape.top or "plan" in shape.top):
        return Detection("inspect-eval", 0.95, "eval beside samples")
    return None


def _langchain(shape: Shape) -> Detection | None:
    if shape.share(lambda record: "lc" in record and "kwargs" in record) > 0.5:
        return Detection("langchain", 0.95, "objects with lc, id and kwargs")
    return None


def _chunks(shape: Shape) -> Detection | None:
    def is_chunk(record: JsonObject) -> bool:
        kind = string(record.get("type"))
        return (
            record.get("object") == "chat.completion.chunk"
            or kind.startswith(("response.", "content_block_", "message_", "message-", "content-", "tool-"))
            or "candidates" in record
            or any(key.startswith(("contentBlock", "messageSt")) for key in record)
            or ("choices" in record and "messages" not in record)
        )

    if shape.share(is_chunk) > 0.5:
        return Detection("stream-chunks", 0.9, "chunks of a streamed model answer")
    return None


def _by_key(format_name: str, score: float, key: str, why: str) -> Callable[[Shape], Detection | None]:
    def detector(shape: Shape) -> Detection | None:
        return Detection(format_name, score, why) if shape.count(lambda record: key in record) else None

    return detector


def _har(shape: Shape) -> Detection | None:
    if isinstance(mapping(shape.top.get("log")).get("entries"), list):
        return Detection("har", 0.95, "log.entries")
    return None


def _atif(shape: Shape) -> Detection | None:
    if string(shape.top.get("schema_version")).startswith("ATIF"):
        return Detection("atif", 0.98, "schema_version names it")
    return None


def _opencode(shape: Shape) -> Detection | None:
    messages = sequence(shape.top.get("messages"))
    if "info" in shape.top and any("parts" in mapping(message) for message in messages[:50]):
        return Detection("opencode", 0.95, "info beside messages with parts")
    return None


_DETECTORS: tuple[Callable[[Shape], Detection | None], ...] = (
    _har, _by_key("otlp", 0.97, "resourceSpans", "resourceSpans"), _atif, _mini_swe_agent, _swe_agent, _gemini, _codex,
    _codex_exec, _pi, _claude_code, _claude_stream, _openhands, _opencode,
    _by_key("sharegpt", 0.9, "conversations", "a list of conversations"), _hermes_agent, _cline, _inspect, _langchain,
    _chunks, _langfuse, _by_key("langsmith", 0.8, "run_type", "run_type"), _spans, _chat,
)  # fmt: skip
