"""Requests of the Anthropic Messages API: content blocks, and results inside user messages.

Each result becomes an engine message of its own; what else a user message says follows them as another one. Signed
and encrypted blocks, block types of other kinds and cache marks are guarded byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from compression.engine.transcript import Part
from sessions.importers.media import media_from_block
from sessions.importers.parsed import Part as ParsedPart

_Found = tuple[Part, Place | None]
_HINT = "Anthropic content is a string or an array of blocks, each an object with a type"


def read(raw: bytes, array: Value, items: list[Value], system: Value | None, tools: Value | None) -> Request:
    """The request; Unreadable names the place of what no provider would take."""
    built = Builder(raw, "anthropic", array, items)
    if system is not None and system.kind != "other":
        built.marks_beside += marks(system)
        built.add("system", _system(system), SYSTEM)
    for i, item in enumerate(items):
        where = f"messages[{i}]"
        if item.kind != "object":
            raise Unreadable(where, "is not an object", 'a message is {"role": ..., "content": ...}')
        members = item.members()
        role = text_member(members, "role", where)
        if role not in ("user", "assistant"):
            hint = "Anthropic roles are user and assistant; the system prompt stands beside the messages"
            raise Unreadable(f"{where}.role", f"{role[:40]!r} is no role of this dialect", hint)
        built.roles.append(role)
        _message(built, i, role, members, where)
    return built.finish(tools)


def _system(system: Value) -> list[_Found]:
    text = system.text()
    if text is not None:
        return [(Part("text", text), None)]
    return [(Part("text", text_member(block, "text", f"system[{i}]")), None) for i, block in enumerate(
        objects(system, "system")
    )]  # fmt: skip


def _message(built: Builder, i: int, role: str, members: Mapping[str, Value], where: str) -> None:
    content = members.get("content")
    if content is None or content.kind not in ("string", "array"):
        raise Unreadable(f"{where}.content", "is missing" if content is None else "is neither text nor blocks", _HINT)
    text = content.text()
    if text is not None:
        built.settled(where)
        _add(built, role, [(Part("text", text), Place(i, content))], i)
        return
    values = content.items()
    fields = objects(content, f"{where}.content")
    places = [f"{where}.content[{b}]" for b in range(len(values))]
    kinds = [text_member(block, "type", place) for block, place in zip(fields, places, strict=True)]
    rows = list(zip(kinds, values, fields, places, strict=True))
    if any(kind == "tool_result" for kind in kinds) and role != "user":
        raise Unreadable(places[kinds.index("tool_result")], "a tool_result in an assistant message",
                         "results belong into user messages")  # fmt: skip
    if any(kind == "tool_use" for kind in kinds) and role != "assistant":
        raise Unreadable(places[kinds.index("tool_use")], "a tool_use in a user message",
                         "calls belong into assistant messages")  # fmt: skip
    for kind, block, members_, place in rows:
        if kind == "tool_result":
            built.mark(members_)
            parts = _result(built, i, members_, place)
            built.add("tool", parts, i, None if len(rows) == 1 else (block,))
    own = [row for row in rows if row[0] != "tool_result"]
    if own or not rows:
        built.settled(where)
        calls = [
            (text_member(row[2], "id", row[3]), text_member(row[2], "name", row[3]), row[3])
            for row in own
            if row[0] == "tool_use"
        ]
        ids = iter(built.expect(calls))
        found = [_own(built, i, row, ids) for row in own]
        _add(built, role, found, i, tuple(row[1] for row in own) if len(own) < len(rows) else None)


def _add(built: Builder, role: str, parts: list[_Found], source: int, blocks: tuple[Value, ...] | None = None) -> None:
    built.add("assistant" if role == "assistant" else "user", parts, source, blocks)


def _own(built: Builder, i: int, row: tuple[str, Value, dict[str, Value], str], ids: Iterator[str]) -> _Found:
    """A block that is no result, as a part."""
    kind, block, fields, place = row
    built.mark(fields)
    if kind == "text":
        return Part("text", text_member(fields, "text", place)), Place(i, fields["text"])
    if kind == "tool_use":
        given = fields.get("input")
        if given is None or given.kind != "object":
            raise Unreadable(f"{place}.input", "is missing" if given is None else "is not an object",
                             "Anthropic arguments are an object, {} when there are none")  # fmt: skip
        name = text_member(fields, "name", place)
        part = Part("tool_call", given.source.decode(), call_id=next(ids), name=name)
        return part, Place(i, given, json=True)
    if kind == "thinking":
        signature = optional_text(fields, "signature")
        text = text_member(fields, "thinking", place)
        if signature:
            built.guard(block)
            return Part("thinking", text, signature=signature), None
        return Part("thinking", text), Place(i, fields["thinking"])
    built.guard(block)
    if kind in ("image", "document") and optional_text(_members(fields, "source"), "type") != "text":
        return media(media_from_block(block.decoded())), None
    if kind == "redacted_thinking":
        return Part("opaque", name=kind, size=len(optional_text(fields, "data"))), None
    return Part("opaque", name=kind[:60], size=block.end - block.start), None


def _result(built: Builder, i: int, fields: dict[str, Value], place: str) -> list[_Found]:
    call_id, name = built.answered(text_member(fields, "tool_use_id", place), place)
    is_error = "is_error" in fields and fields["is_error"].source == b"true"
    content = fields.get("content")
    if content is None or content.source == b"null":
        return [(Part("tool_result", "", call_id=call_id, name=name, is_error=is_error), None)]
    if content.kind not in ("string", "array"):
        raise Unreadable(f"{place}.content", "is neither text nor blocks", _HINT)
    text = content.text()
    if text is not None:
        return [(Part("tool_result", text, call_id=call_id, name=name, is_error=is_error), Place(i, content))]
    texts: list[tuple[str, Value, Value, bool]] = []
    others: list[_Found] = []
    for b, (block, inner) in enumerate(zip(content.items(), objects(content, f"{place}.content"), strict=True)):
        where = f"{place}.content[{b}]"
        built.mark(inner)
        kind = text_member(inner, "type", where)
        if kind == "text":
            texts.append((text_member(inner, "text", where), inner["text"], block, "cache_control" in inner))
        elif kind in ("image", "document") and optional_text(_members(inner, "source"), "type") != "text":
            built.guard(block)
            others.append((media(media_from_block(block.decoded())), None))
        else:
            built.guard(block)
            others.append((Part("opaque", name=kind[:60], size=block.end - block.start), None))
    whole, found = joined(texts, i)
    return [(Part("tool_result", whole, call_id=call_id, name=name, is_error=is_error), found), *others]


def _members(fields: Mapping[str, Value], name: str) -> dict[str, Value]:
    return fields[name].members() if name in fields else {}


def media(part: ParsedPart) -> Part:
    """A picture as the importers read it, as the engine has it."""
    return Part(
        "media", name=part.name, media_type=part.media_type, size=part.size, sha256=part.sha256, width=part.width,
        height=part.height,
    )  # fmt: skip
