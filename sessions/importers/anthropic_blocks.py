"""Content blocks of the Anthropic API to parts. Shared by Claude Code logs and plain message arrays.

Knows nothing of files, records and order.
"""

from __future__ import annotations

from typing import Any

from sessions.importers.fields import JsonObject, json_text, mapping, sequence, string
from sessions.importers.media import media_from_block
from sessions.importers.parsed import Part

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def content_parts(content: Any) -> tuple[list[Part], list[list[Part]]]:
    """(parts of the message itself, one list of parts for each tool result), both in order.

    Results of server-side tools stand inside assistant messages; they leave it like all others.
    """
    if isinstance(content, str):
        return ([Part("text", content)] if content else []), []
    own: list[Part] = []
    results: list[list[Part]] = []
    for block in sequence(content):
        if isinstance(block, str):
            own.append(Part("text", block))
            continue
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text":
            own.append(Part("text", string(block.get("text"))))
        elif kind == "tool_result" or (isinstance(kind, str) and kind.endswith("_tool_result")):
            results.append(_result_parts(block))
        elif kind in _CALLS:
            own.append(_call_part(block))
        elif kind == "thinking":
            signature = string(block.get("signature"))
            own.append(Part("thinking", string(block.get("thinking")), signature=signature))
        elif kind == "redacted_thinking":
            own.append(Part("opaque", name="redacted_thinking", size=len(string(block.get("data")))))
        else:
            own.append(other_block(block))
    return own, results


def other_block(block: JsonObject) -> Part:
    """Media, text documents, and block types that nobody told us of: those keep their name and size."""
    kind = string(block.get("type"))
    source = mapping(block.get("source"))
    if kind == "document" and source.get("type") == "text":
        return Part("text", string(source.get("data")))
    if kind in ("image", "document") and source:
        return media_from_block(block)
    return Part("opaque", name=kind[:60], size=len(json_text(block)))


def _call_part(block: JsonObject) -> Part:
    arguments = json_text(block.get("input", {}))
    return Part("tool_call", arguments, call_id=string(block.get("id")), name=string(block.get("name")))


def _result_parts(block: JsonObject) -> list[Part]:
    content = block.get("content")
    texts: list[str] = []
    others: list[Part] = []
    if isinstance(content, str):
        texts.append(content)
    elif isinstance(content, list):
        for item in content:
            if isinstance(item, str):
                texts.append(item)
            elif isinstance(item, dict) and item.get("type") == "text":
                texts.append(string(item.get("text")))
            elif isinstance(item, dict) and item.get("type") in ("image", "document"):
                others.append(other_block(item))
            else:
                texts.append(json_text(item))
    elif content is not None:
        texts.append(json_text(content))
    call_id = string(block.get("tool_use_id"))
    result = Part("tool_result", "\n".join(texts), call_id=call_id, is_error=block.get("is_error") is True)
    return [result, *others]
