"""Anthropic messages: a bare array, a request body (system, messages, tools), or one message or request a line.

A request body is one session. Requests that repeat each other's history are not stitched together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.importers.anthropic_blocks import content_parts
from sessions.importers.assembly import finish
from sessions.importers.conversations import Conversation, conversations
from sessions.importers.fields import json_text, mapping, moment, string, tally, whole
from sessions.importers.parsed import Detection, ParsedMessage, ParsedSession, Usage
from sessions.importers.reader import Reader


def read(values: Iterator[Any], reader: Reader, detection: Detection) -> list[ParsedSession]:
    sessions = [_session(found, detection) for found in conversations(values, reader)]
    if sessions:
        sessions[0].skipped.update(reader.skipped)
        sessions[0].records += reader.skipped.total()
    return sessions


def _session(found: Conversation, detection: Detection) -> ParsedSession:
    session = ParsedSession("", detection.format, detection, agent=string(found.about.get("agent")))
    model = string(found.about.get("model"))
    session.models = [model] if model else []
    if found.about.get("tools"):
        session.tools_json = json_text(found.about["tools"])
    system, _ = content_parts(found.about.get("system"))
    if system:
        session.system_in_log = True
        session.messages.append(ParsedMessage("system", system))
    usage: dict[str, Usage] = {}
    for at, entry in enumerate(found.messages):
        if not _add_entry(session, entry, at, model, usage):
            reason = "not an object" if not isinstance(entry, dict) else "message without content"
            tally(session.skipped, reason)
            continue
        session.source_messages += 1
    session.message_records = session.source_messages
    session.records = session.message_records + session.skipped.total()
    session.key = string(found.about.get("session_id"))
    finish(session, usage)
    return session


def _add_entry(session: ParsedSession, entry: object, at: int, model: str, usage: dict[str, Usage]) -> bool:
    message = mapping(entry)
    role = message.get("role")
    own, results = content_parts(message.get("content"))
    if not own and not results:
        return False
    when = moment(message.get("timestamp") or message.get("ts"))
    source = string(message.get("id"))
    tool_messages = [ParsedMessage("tool", parts, when, source) for parts in results]
    if role == "assistant":
        answer = ParsedMessage("assistant", own, when, source, f"message-{at}", string(message.get("model")) or model)
        figures = _usage(message.get("usage"), answer)
        if figures is not None:
            usage[answer.response_id] = figures
        session.messages.extend([answer, *tool_messages] if own else tool_messages)
        return True
    session.messages.extend(tool_messages)
    if own:
        is_system = role in ("system", "developer")
        session.system_in_log |= is_system
        session.messages.append(ParsedMessage("system" if is_system else "user", own, when, source))
    return True


def _usage(value: object, answer: ParsedMessage) -> Usage | None:
    """``input_tokens`` is uncached input only; None where the context is not known."""
    figures = mapping(value)
    found = Usage(
        whole(figures.get("input_tokens")),
        whole(figures.get("cache_read_input_tokens")),
        whole(figures.get("cache_creation_input_tokens")),
        whole(mapping(figures.get("cache_creation")).get("ephemeral_1h_input_tokens")),
        whole(figures.get("output_tokens")),
        model=answer.model,
        time=answer.timestamp,
    )
    return found if found.context_tokens else None
