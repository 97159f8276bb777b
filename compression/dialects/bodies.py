"""The way in: the bytes of a request body or of a bare messages array, in a dialect that is named or found out."""

from __future__ import annotations

from collections.abc import Iterable

from compression.dialects import anthropic_messages, openai_chat
from compression.dialects.raw_json import NoJson, Value, parse
from compression.dialects.request import Dialect, Request, Unreadable

MOST_MESSAGES = 20_000
_ANTHROPIC_BLOCKS = frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"))
_OPENAI_BLOCKS = frozenset(("image_url", "input_audio", "file", "refusal"))


def document(raw: bytes) -> Value:
    """The checked document; Unreadable when it is no JSON."""
    try:
        return parse(raw)
    except NoJson as error:
        raise Unreadable("body", str(error), "send JSON in UTF-8") from None


def read_request(raw: bytes, dialect: Dialect | None = None) -> Request:
    """The request in ``raw``: an object with ``messages`` (and ``system``, ``tools``), or the array alone."""
    top = document(raw)
    if top.kind == "array":
        return read_messages(raw, top, dialect)
    members = top.members()
    return read_messages(raw, members.get("messages"), dialect, members.get("system"), members.get("tools"))


def read_messages(
    raw: bytes,
    array: Value | None,
    dialect: Dialect | None = None,
    system: Value | None = None,
    tools: Value | None = None,
) -> Request:
    """The request whose messages stand in ``array``, a value of the checked document ``raw``."""
    if array is None or array.kind != "array":
        why = "is missing" if array is None else "is not an array"
        raise Unreadable("messages", why, 'send {"messages": [...]}')
    system, tools = (None if value is None or value.source == b"null" else value for value in (system, tools))
    if system is not None and system.kind not in ("string", "array"):
        raise Unreadable("system", "is neither text nor blocks", "send what the provider takes, or leave it out")
    if tools is not None and tools.kind != "array":
        raise Unreadable("tools", "is not an array", "send what the provider takes, or leave it out")
    for i, tool in enumerate(tools.items() if tools is not None else ()):
        if tool.kind != "object":
            raise Unreadable(f"tools[{i}]", "is not an object", "a tool is an object with its name and its schema")
    items = array.items()
    if not 0 < len(items) <= MOST_MESSAGES:
        raise Unreadable("messages", f"holds {len(items):,} messages", f"send 1 to {MOST_MESSAGES:,}")
    read = {"openai": openai_chat.read, "anthropic": anthropic_messages.read}[
        dialect or dialect_of(items, system, tools)
    ]
    return read(raw, array, items, system, tools)


def dialect_of(items: Iterable[Value], system: Value | None = None, tools: Value | None = None) -> Dialect:
    """What a request is written in. Messages of text alone are the same in both; they are read as OpenAI's."""
    if tools is not None:
        first = next((tool.members() for tool in tools.items()), {})
        if "input_schema" in first or "function" in first:
            return "anthropic" if "input_schema" in first else "openai"
    for item in items:
        found = _dialect_of_message(item.members())
        if found is not None:
            return found
    return "openai" if system is None else "anthropic"


def _dialect_of_message(members: dict[str, Value]) -> Dialect | None:
    role = members["role"].text() if "role" in members else None
    if role in ("system", "developer", "tool") or "tool_calls" in members or "reasoning_content" in members:
        return "openai"
    kinds = set(_kinds(members["content"].items())) if "content" in members else set()
    if kinds & _ANTHROPIC_BLOCKS:
        return "anthropic"
    return "openai" if kinds & _OPENAI_BLOCKS else None


def _kinds(blocks: Iterable[Value]) -> Iterable[str | None]:
    for block in blocks:
        fields = block.members()
        yield fields["type"].text() if "type" in fields else None
