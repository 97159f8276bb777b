"""OpenAI chat messages: a bare array, a request body, a list of runs, or one message or request a line.

Calls and results pair by position, because ids repeat within one conversation. Every run is a session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.importers.assembly import finish
from sessions.importers.chat_entries import ChatEntries
from sessions.importers.conversations import Conversation, conversations
from sessions.importers.fields import json_text, string
from sessions.importers.parsed import Detection, ParsedSession
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
    tools = found.about.get("tools") or found.about.get("functions")
    if tools:
        session.tools_json = json_text(tools)
    entries = ChatEntries(session, model)
    for entry in found.messages:
        entries.add(entry)
    session.message_records = session.source_messages
    session.records = session.message_records + session.skipped.total()
    session.key = string(found.about.get("session_id"))
    finish(session, entries.usage)
    return session
