"""A window as the OpenAI messages that peers take, and what came back of it: tokens, changes, broken promises.

Thinking is not sent: it stays as it is for everybody and counts in everybody's window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from compression.engine.history import Course, Request
from compression.engine.tokens import MESSAGE_OVERHEAD, default_counter
from compression.engine.transcript import Message

ChatMessage = dict[str, Any]

TOOLS = {
    "Bash": "terminal",
    "Read": "read_file",
    "Grep": "search_files",
    "Glob": "search_files",
    "Write": "write_file",
    "Edit": "patch",
    "MultiEdit": "patch",
}
"""Claude Code's names -> Hermes Agent's, which would else describe every result by its general line."""


def chat_messages(
    course: Course,
    request: Request,
    replaced: Mapping[int, str] | None = None,
    tools: Mapping[str, str] | None = None,
) -> list[ChatMessage]:
    """The messages of a request, oldest first. ``replaced`` = texts that stand for the results of some messages,
    ``tools`` = other names for tools."""
    texts, names = replaced or {}, tools or {}
    messages = course.transcript.messages
    return [_chat_message(messages[i], texts.get(i), names) for i in request.indexes() if i not in course.excluded]


def _chat_message(message: Message, replaced: str | None, names: Mapping[str, str]) -> ChatMessage:
    texts = [p.text for p in message.parts if p.kind in ("text", "tool_result")]
    texts += ["[picture]" for p in message.parts if p.kind == "media"]
    found: ChatMessage = {"role": message.role, "content": "\n".join(texts) if replaced is None else replaced}
    if message.role == "tool":
        found["tool_call_id"] = next((p.call_id for p in message.parts if p.kind == "tool_result"), "")
    calls = [
        {"id": p.call_id, "type": "function", "function": {"name": names.get(p.name, p.name), "arguments": p.text}}
        for p in message.parts
        if p.kind == "tool_call"
    ]
    if calls:
        found["tool_calls"] = calls
    return found


def content_of(message: ChatMessage) -> str:
    """The text of a message, whether it is a string or a list of blocks."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if isinstance(block, dict))


def calls_of(message: ChatMessage) -> list[tuple[str, str, str]]:
    """(id, name, arguments) of a message's tool calls."""
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    ]


def tokens_of(messages: Sequence[ChatMessage]) -> int:
    """Tokens of messages by the engine's rules: their texts and calls, and 4 for each message."""
    texts = [text for m in messages for text in (content_of(m), *(t for _, *call in calls_of(m) for t in call))]
    return sum(default_counter().count_many(texts)) + MESSAGE_OVERHEAD * len(messages)


def texts_of(messages: Sequence[ChatMessage]) -> list[str]:
    """All that a model would read: contents, and the arguments of calls."""
    return [text for m in messages for text in (content_of(m), *(arguments for *_, arguments in calls_of(m)))]


def first_changed(before: Sequence[ChatMessage], after: Sequence[ChatMessage]) -> int | None:
    """Where the first message that differs stands; None when none does."""
    for at, (old, new) in enumerate(zip(before, after, strict=False)):
        if _essence(old) != _essence(new):
            return at
    return None if len(before) == len(after) else min(len(before), len(after))


def _essence(message: ChatMessage) -> tuple[Any, ...]:
    """What a message says; arguments written in another way, as some peers do by mere passing on, say the same."""
    calls = [(call, name, _parsed(arguments)) for call, name, arguments in calls_of(message)]
    return message["role"], content_of(message), calls, message.get("tool_call_id", "")


def _parsed(arguments: str) -> Any:
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments


def violations(before: Sequence[ChatMessage], after: Sequence[ChatMessage], head: int) -> Counter[str]:
    """Promises broken in ``after``, by name; what the log itself had broken in ``before`` is not counted again.

    ``head``: messages that no event may touch (what leads in, the first prompt, the first response).
    """
    return Counter(_broken(after)) - Counter(_broken(before)) + Counter(_harmed(before, after, head))


def _broken(messages: Sequence[ChatMessage]) -> Iterator[str]:
    """Calls without results, results without calls, batches torn apart, arguments that are no JSON."""
    results = Counter(m.get("tool_call_id", "") for m in messages if m["role"] == "tool")
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id", "") not in waiting:
                yield "result without its call"
            waiting.discard(message.get("tool_call_id", ""))
            continue
        if waiting:
            yield "batch torn apart"
        waiting = set()
        for call, _, arguments in calls_of(message):
            if not results[call]:
                yield "call without its result"
            else:
                waiting.add(call)
            try:
                orjson.loads(arguments or "{}")
            except orjson.JSONDecodeError:
                yield "arguments are no JSON"


def _harmed(before: Sequence[ChatMessage], after: Sequence[ChatMessage], head: int) -> Iterator[str]:
    """The head or the latest request changed; a result or the whole grew."""
    at = first_changed(before, after)
    if at is not None and at < head:
        yield "head changed"
    prompts = [content_of(m) for m in before if m["role"] == "user"]
    if prompts and prompts[-1] not in [content_of(m) for m in after if m["role"] == "user"]:
        yield "latest request changed"
    sizes = {m.get("tool_call_id", ""): len(content_of(m)) for m in before if m["role"] == "tool"}
    for message in after:
        call = message.get("tool_call_id", "")
        if message["role"] == "tool" and len(content_of(message)) > sizes.get(call, len(content_of(message))):
            yield "result grew"
    if tokens_of(after) > tokens_of(before):
        yield "request grew"
