"""Entries of an OpenAI-style message list to messages. Shared by OpenAI chat files and Hermes Agent.

Takes one entry at a time and adds to a session; where the entries come from is decided elsewhere.
"""

from __future__ import annotations

from typing import Any

from sessions.importers.anthropic_blocks import content_parts
from sessions.importers.assembly import SUMMARY_PREFIXES
from sessions.importers.decoding import Undecodable, decode_value
from sessions.importers.fields import JsonObject, json_text, mapping, moment, sequence, string, tally, whole
from sessions.importers.media import media_from_url
from sessions.importers.parsed import ParsedBoundary, ParsedMessage, ParsedSession, Part, Role, Usage

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "model": "assistant", "tool": "tool", "function": "tool", "ipython": "tool",
}  # fmt: skip


class ChatEntries:
    """Appends entries to ``session.messages``; ``usage`` collects what entries say about their own call."""

    def __init__(self, session: ParsedSession, model: str = "") -> None:
        self.usage: dict[str, Usage] = {}
        self._session = session
        self._model = model

    def add(self, entry: object) -> ParsedMessage | None:
        """The message of an entry, already appended; None, and counted as skipped, when it has none."""
        if not isinstance(entry, dict):
            tally(self._session.skipped, "not an object")
            return None
        role = _ROLES.get(string(entry.get("role")))
        if role is None:
            tally(self._session.skipped, f"unknown role {string(entry.get('role'))!r}")
            return None
        message = self._message(role, entry)
        self._session.source_messages += 1
        self._session.messages.append(message)
        if role == "system":
            self._session.system_in_log = True
        is_text = bool(message.parts) and message.parts[0].kind == "text"
        if is_text and role in ("user", "assistant") and message.parts[0].text.startswith(SUMMARY_PREFIXES):
            self._mark_summary(message)
        return message

    def _message(self, role: Role, entry: JsonObject) -> ParsedMessage:
        when = moment(entry.get("timestamp"))
        model = string(entry.get("model")) or self._model if role == "assistant" else ""
        message = ParsedMessage(role, [], when, string(entry.get("id")), model=model)
        if role == "tool":
            message.parts = _result_parts(entry)
            return message
        if role == "assistant":
            message.response_id = f"message-{len(self._session.messages)}"
            message.parts.extend(_thinking(entry))
            figures = _usage(entry, model, when)
            if figures is not None:
                self.usage[message.response_id] = figures
        message.parts.extend(text_parts(entry.get("content")))
        refusal = string(entry.get("refusal"))
        if refusal:
            message.parts.append(Part("text", refusal))
        if role == "assistant":
            message.parts.extend(_calls(entry))
        if not message.parts:
            message.parts.append(Part("text", ""))
        return message

    def _mark_summary(self, message: ParsedMessage) -> None:
        """A summary stands where the old turns stood; what they were is not in a plain list."""
        position = len(self._session.messages) - 1
        message.flags.add("compact_summary")
        self._session.boundaries.append(
            ParsedBoundary(position, "compact", position, tuple(range(position)), originals_in_file=False)
        )


def text_parts(content: Any) -> list[Part]:
    """Text, images, files and whatever else a ``content`` may be."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Part("text", content)] if content else []
    if not isinstance(content, list):
        return [Part("text", json_text(content))]
    parts: list[Part] = []
    for item in content:
        block = mapping(item)
        kind = string(block.get("type"))
        if isinstance(item, str):
            parts.append(Part("text", item))
        elif kind in ("text", "input_text", "output_text", "refusal") or (not kind and "text" in block):
            parts.append(Part("text", string(block.get("text")) or string(block.get("refusal"))))
        elif kind in ("image_url", "input_image"):
            address = block.get("image_url")
            url = string(address) or string(mapping(address).get("url"))
            parts.append(media_from_url(url))
        elif kind == "input_audio":
            audio = mapping(block.get("input_audio"))
            parts.append(media_from_url(f"data:audio/{string(audio.get('format'))};base64,{string(audio.get('data'))}"))
        elif kind in ("file", "input_file"):
            file = mapping(block.get("file")) or block
            parts.append(media_from_url(string(file.get("file_data")) or string(file.get("file_id")), "file"))
        elif block:
            parts.extend(content_parts([block])[0])
        else:
            parts.append(Part("text", json_text(item)))
    return parts


def _result_parts(entry: JsonObject) -> list[Part]:
    parts = text_parts(entry.get("content"))
    text = "\n".join(part.text for part in parts if part.kind == "text")
    ids = sequence(entry.get("tool_call_ids"))
    call_id = string(entry.get("tool_call_id")) or (string(ids[0]) if ids else "")
    name = string(entry.get("name")) or string(entry.get("tool_name"))
    result = Part("tool_result", text, call_id=call_id, name=name, is_error=entry.get("is_error") is True)
    return [result, *(part for part in parts if part.kind != "text")]


def _calls(entry: JsonObject) -> list[Part]:
    calls = entry.get("tool_calls")
    if isinstance(calls, str):  # a database column holds them as the text of a JSON array
        try:
            calls = decode_value(calls)
        except Undecodable:
            return [Part("opaque", name="tool_calls", size=len(calls))] if calls else []
    parts: list[Part] = []
    for item in sequence(calls):
        call = mapping(item)
        function = mapping(call.get("function")) or mapping(call.get("custom")) or call
        arguments = function.get("arguments", function.get("input", function.get("args")))
        text = "" if arguments is None else json_text(arguments)
        parts.append(Part("tool_call", text, call_id=string(call.get("id")), name=string(function.get("name"))))
    legacy = mapping(entry.get("function_call"))
    if legacy:
        text = json_text(legacy.get("arguments") or "")
        parts.append(Part("tool_call", text, name=string(legacy.get("name"))))
    return parts


def _thinking(entry: JsonObject) -> list[Part]:
    for name in ("reasoning_content", "reasoning", "thinking"):
        text = string(entry.get(name))
        if text:
            return [Part("thinking", text)]
    return []


def _usage(entry: JsonObject, model: str, when: float | None) -> Usage | None:
    """Prompt tokens include the cached ones, unless there are more cached ones than prompt tokens."""
    figures = mapping(entry.get("usage"))
    prompt = whole(figures.get("prompt_tokens"))
    if not prompt:
        return None
    cached = whole(mapping(figures.get("prompt_tokens_details")).get("cached_tokens"))
    reasoning = whole(mapping(figures.get("completion_tokens_details")).get("reasoning_tokens"))
    uncached = prompt - cached if cached <= prompt else prompt
    output = whole(figures.get("completion_tokens"))
    return Usage(uncached, cached, output=output, reasoning=reasoning, model=model, time=when)
