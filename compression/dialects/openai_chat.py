"""Requests of the OpenAI Chat Completions API and of the many servers that speak it.

Content is text or parts, arguments are the text of a JSON value, each result is a message of the role tool. Reasoning
that came without a signature may be cleared; encrypted or detailed reasoning is guarded byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping

from compression.dialects.anthropic_messages import media
from compression.dialects.raw_json import Value
from compression.dialects.request import (
    SYSTEM,
    Builder,
    Place,
    Request,
    Unreadable,
    joined,
    marks,
    objects,
    optional_text,
    text_member,
)
from compression.engine.transcript import Part, Role
from sessions.importers.media import media_from_url

_Found = tuple[Part, Place | None]
_ROLES: Mapping[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
}  # fmt: skip
_HINT = "content is a string, null, or an array of parts, each an object with a type"
_REASONING = ("reasoning_content", "reasoning")
_GUARDED = ("reasoning_details", "encrypted_content", "thinking_blocks", "audio")
"""Members that servers sign, encrypt or keep for themselves."""


def read(raw: bytes, array: Value, items: list[Value], system: Value | None, tools: Value | None) -> Request:
    """The request; Unreadable names the place of what no provider would take."""
    built = Builder(raw, "openai", array, items)
    if system is not None and system.kind != "other":
        built.marks_beside += marks(system)
        built.add("system", [(Part("text", system.text() or system.source.decode()), None)], SYSTEM)
    for i, item in enumerate(items):
        where = f"messages[{i}]"
        if item.kind != "object":
            raise Unreadable(where, "is not an object", 'a message is {"role": ..., "content": ...}')
        members = item.members()
        given = text_member(members, "role", where)
        role = _ROLES.get(given)
        if role is None:
            hint = f"OpenAI roles are {', '.join(_ROLES)}"
            raise Unreadable(f"{where}.role", f"{given[:40]!r} is no role of this dialect", hint)
        built.roles.append(given)
        built.mark(members)
        if role == "tool":
            built.add("tool", _result(built, i, members, where), i)
            continue
        built.settled(where)
        parts = _thinking(built, i, members) if role == "assistant" else []
        parts += _content(built, i, members, where, may_lack=role == "assistant")
        if role == "assistant":
            parts += _calls(built, i, members, where)
        built.add(role, parts, i)
    return built.finish(tools)


def _thinking(built: Builder, i: int, members: Mapping[str, Value]) -> list[_Found]:
    private = [name for name in _GUARDED if name in members and members[name].source != b"null"]
    found: list[_Found] = []
    for name in _REASONING:
        text = optional_text(members, name)
        if text and private:
            built.guard(members[name])
            found.append((Part("thinking", text, signature=private[0]), None))
        elif text:
            found.append((Part("thinking", text), Place(i, members[name])))
    for name in private:
        built.guard(members[name])
        found.append((Part("opaque", name=name, size=members[name].end - members[name].start), None))
    return found


def _content(built: Builder, i: int, members: Mapping[str, Value], where: str, *, may_lack: bool) -> list[_Found]:
    content = members.get("content")
    if content is None or content.source == b"null":
        if not may_lack:
            raise Unreadable(f"{where}.content", "is missing", _HINT)
        return []
    text = content.text()
    if text is not None:
        return [(Part("text", text), Place(i, content))] if text or not may_lack else []
    if content.kind != "array":
        raise Unreadable(f"{where}.content", "is neither text nor parts", _HINT)
    found: list[_Found] = []
    for b, (block, fields) in enumerate(zip(content.items(), objects(content, f"{where}.content"), strict=True)):
        place = f"{where}.content[{b}]"
        kind = text_member(fields, "type", place)
        built.mark(fields)
        if kind == "text":
            found.append((Part("text", text_member(fields, "text", place)), Place(i, fields["text"])))
        else:
            built.guard(block)
            found.append((_other(kind, block, fields), None))
    return found


def _other(kind: str, block: Value, fields: Mapping[str, Value]) -> Part:
    """A part that is no text: a picture by its size, anything else by its length."""
    if kind == "image_url" and "image_url" in fields:
        return media(media_from_url(optional_text(fields["image_url"].members(), "url")))
    if kind in ("input_audio", "file"):
        return Part("media", media_type="audio" if kind == "input_audio" else "file", size=block.end - block.start)
    return Part("opaque", name=kind[:60], size=block.end - block.start)


def _calls(built: Builder, i: int, members: Mapping[str, Value], where: str) -> list[_Found]:
    value = members.get("tool_calls")
    if value is None or value.source == b"null":
        return []
    if value.kind != "array":
        raise Unreadable(f"{where}.tool_calls", "is not an array")
    rows = []
    for c, call in enumerate(objects(value, f"{where}.tool_calls")):
        place = f"{where}.tool_calls[{c}]"
        custom = "custom" in call
        inner = call["custom" if custom else "function"].members() if custom or "function" in call else {}
        if not inner:
            raise Unreadable(f"{place}.function", "is missing", "a call is {id, type, function: {name, arguments}}")
        text = text_member(inner, "input" if custom else "arguments", f"{place}.{'custom' if custom else 'function'}")
        name = text_member(inner, "name", f"{place}.{'custom' if custom else 'function'}")
        spot = None if custom else Place(i, inner["arguments"])
        rows.append((text_member(call, "id", place), name, place, text, spot))
    ids = built.expect([(call_id, name, place) for call_id, name, place, _, _ in rows])
    return [
        (Part("tool_call", text, call_id=engine_id, name=name), spot)
        for engine_id, (_, name, _, text, spot) in zip(ids, rows, strict=True)
    ]


def _result(built: Builder, i: int, members: Mapping[str, Value], where: str) -> list[_Found]:
    call_id, name = built.answered(text_member(members, "tool_call_id", where), where)
    content = members.get("content")
    if content is None or content.source == b"null":
        return [(Part("tool_result", "", call_id=call_id, name=name), None)]
    text = content.text()
    if text is not None:
        return [(Part("tool_result", text, call_id=call_id, name=name), Place(i, content))]
    if content.kind != "array":
        raise Unreadable(f"{where}.content", "is neither text nor parts", _HINT)
    texts: list[tuple[str, Value, Value, bool]] = []
    others: list[_Found] = []
    for b, (block, fields) in enumerate(zip(content.items(), objects(content, f"{where}.content"), strict=True)):
        place = f"{where}.content[{b}]"
        kind = text_member(fields, "type", place)
        built.mark(fields)
        if kind == "text":
            texts.append((text_member(fields, "text", place), fields["text"], block, "cache_control" in fields))
        else:
            built.guard(block)
            others.append((_other(kind, block, fields), None))
    whole, found = joined(texts, i)
    return [(Part("tool_result", whole, call_id=call_id, name=name), found), *others]
