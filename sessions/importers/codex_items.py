"""One item of the Responses API, as Codex logs it, to parts. Knows nothing of order and usage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sessions.importers.chat_entries import text_parts
from sessions.importers.fields import JsonObject, json_text, mapping, sequence, string
from sessions.importers.parsed import Part, Role, Usage

ItemKind = Literal["message", "reasoning", "call", "result", "opaque", "compacted", "usage"]

_INJECTED = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<subagent_notification>",
    "<turn_aborted>", "<permissions instructions>", "<skill>", "<collaboration_mode>", "<app-context>",
    "<user_shell_command>",
)  # fmt: skip
_MEMORY = ("<user_instructions>", "# AGENTS.md instructions")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "mcp_call")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


@dataclass(slots=True)
class Item:
    """A record that matters for the conversation. ``order`` is its place in the file."""

    kind: ItemKind
    payload: JsonObject
    time: float | None
    model: str
    role: Role = "assistant"
    parts: list[Part] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    usage: Usage | None = None
    order: int = 0
    mirror_of: str = ""


def is_model_item(item: Item) -> bool:
    """Whether a model wrote it."""
    return item.kind in ("reasoning", "call", "opaque") or (item.kind == "message" and item.role == "assistant")


def item_from(payload: JsonObject, when: float | None, model: str) -> Item | None:
    """None for an item of no known type that has no role either."""
    kind = string(payload.get("type"))
    if kind == "message" or (not kind and "role" in payload):
        role = _ROLES.get(string(payload.get("role")))
        if role is None:
            return None
        return _message(payload, role, when, model)
    if kind == "reasoning":
        return Item("reasoning", {}, when, model, parts=_reasoning(payload))
    if kind in _CALLS:
        return Item("call", {}, when, model, parts=[_call(payload, kind)])
    if kind.endswith("_call_output") or kind == "tool_search_output":
        return Item("result", {}, when, model, role="tool", parts=_result(payload))
    if "encrypted_content" in payload:
        return Item("opaque", {}, when, model, parts=[_sealed(payload, kind)])
    return None


def _message(payload: JsonObject, role: Role, when: float | None, model: str) -> Item:
    parts = text_parts(payload.get("content")) or [Part("text", "")]
    flags: set[str] = set()
    if parts[0].text.lstrip().startswith(_INJECTED):
        flags.add("injected")
        if parts[0].text.lstrip().startswith(_MEMORY):
            flags.add("memory")
    return Item("message", {}, when, model, role=role, parts=parts, flags=flags)


def _reasoning(payload: JsonObject) -> list[Part]:
    blocks = [*sequence(payload.get("summary")), *sequence(payload.get("content"))]
    texts = [string(block) or string(mapping(block).get("text")) for block in blocks]
    parts = [Part("thinking", text) for text in texts if text]
    if payload.get("encrypted_content"):
        parts.append(_sealed(payload, "reasoning"))
    return parts or [Part("thinking", "")]


def _sealed(payload: JsonObject, name: str) -> Part:
    return Part("opaque", name=name, size=len(string(payload.get("encrypted_content"))))


def _call(payload: JsonObject, kind: str) -> Part:
    names = ("arguments", "input", "action", "query")
    arguments = next((payload[name] for name in names if payload.get(name) is not None), "")
    call_id = string(payload.get("call_id")) or string(payload.get("id"))
    name = string(payload.get("name")) or kind.removesuffix("_call")
    return Part("tool_call", json_text(arguments), call_id=call_id, name=name)


def _result(payload: JsonObject) -> list[Part]:
    """The text as the model saw it: JSON inside a string stays as it is."""
    output = payload.get("output", payload.get("tools"))
    call_id = string(payload.get("call_id"))
    is_error = mapping(output).get("success") is False
    if isinstance(output, dict) and isinstance(output.get("content"), str):
        output = output["content"]
    if isinstance(output, list):
        parts = text_parts(output)
        text = "\n".join(part.text for part in parts if part.kind == "text")
        media = [part for part in parts if part.kind != "text"]
        return [Part("tool_result", text, call_id=call_id, is_error=is_error), *media]
    text = "" if output is None else json_text(output)
    return [Part("tool_result", text, call_id=call_id, is_error=is_error)]
