"""Hermes Agent text files: session JSON, ``sessions export`` JSONL, and legacy transcripts (one message a line).

The database has more (all generations of a conversation); see hermes_database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sessions.importers.assembly import finish
from sessions.importers.chat_entries import ChatEntries
from sessions.importers.decoding import Undecodable, decode_value
from sessions.importers.fields import JsonObject, json_text, mapping, moment, sequence, string, tally
from sessions.importers.parsed import Detection, ParsedMessage, ParsedSession, Part
from sessions.importers.reader import Reader

_STRUCTURED = "\x00json:"


def read(values: Iterator[Any], reader: Reader, detection: Detection) -> list[ParsedSession]:
    found: list[ParsedSession] = []
    legacy = _Legacy(detection)
    for record in reader.objects(values):
        if isinstance(record.get("messages"), list):
            found.append(_document(record, detection))
        elif "role" in record:
            legacy.take(record)
        else:
            reader.skip("no message")
    if legacy.session.records:
        found.insert(0, legacy.finish())
    if found:
        found[0].skipped.update(reader.skipped)
        found[0].records += reader.skipped.total()
    return found


def entry_from_row(row: Mapping[str, Any]) -> JsonObject:
    """A row of ``messages`` as an entry of a chat list: what was sent, with structured content decoded."""
    entry = {name: value for name, value in row.items() if value is not None and name != "id"}
    sent = row.get("api_content")
    content = sent if isinstance(sent, str) and sent else row.get("content")
    if isinstance(content, str) and content.startswith(_STRUCTURED):
        try:
            content = decode_value(content.removeprefix(_STRUCTURED))
        except Undecodable:
            content = content.removeprefix("\x00")
    entry["content"] = content
    if row.get("id") is not None:
        entry["id"] = str(row["id"])
    return entry


def start_session(about: Mapping[str, Any], detection: Detection) -> ParsedSession:
    """A session with what its own columns or header say; messages are still to come."""
    session = ParsedSession(string(about.get("session_id")) or string(about.get("id")), detection.format, detection)
    session.agent = "Hermes Agent"
    session.title = string(about.get("title"))
    session.parent = string(about.get("parent_session_id"))
    session.started_at = moment(about.get("started_at")) or moment(about.get("session_start"))
    session.ended_at = moment(about.get("ended_at")) or moment(about.get("last_updated"))
    model = string(about.get("model"))
    session.models = [model] if model else []
    if "_delegate_from" in string(about.get("model_config")):
        session.spawned_by = "delegate_task"
    tools = about.get("tools")
    if tools:
        session.tools_json = json_text(tools)
    prompt = string(about.get("system_prompt"))
    if prompt:
        session.system_in_log = True
        session.messages.append(ParsedMessage("system", [Part("text", prompt)], session.started_at))
    return session


def _document(record: JsonObject, detection: Detection) -> ParsedSession:
    session = start_session(record, detection)
    entries = ChatEntries(session, string(record.get("model")))
    rows = sequence(record.get("messages"))
    for row in rows:
        entries.add(entry_from_row(row) if isinstance(row, dict) else row)
    if "source" in record and "session_id" not in record:
        session.warnings.append(
            "An export holds active rows only: this is the view after compaction. Import state.db to see all."
        )
    session.message_records = session.source_messages
    session.records = session.message_records + session.skipped.total()
    finish(session, entries.usage)
    return session


class _Legacy:
    """One message a line; the first line may carry the tool schemas under the role ``session_meta``."""

    def __init__(self, detection: Detection) -> None:
        self.session = start_session({}, detection)
        self._entries = ChatEntries(self.session)

    def take(self, record: JsonObject) -> None:
        self.session.records += 1
        if record.get("role") == "session_meta":
            tally(self.session.metadata, "session_meta")
            self._note(record)
        else:
            self._entries.add(entry_from_row(record))

    def finish(self) -> ParsedSession:
        session = self.session
        session.message_records = session.source_messages
        finish(session, self._entries.usage)
        return session

    def _note(self, record: JsonObject) -> None:
        session = self.session
        if record.get("tools"):
            session.tools_json = json_text(record["tools"])
        session.key = (
            session.key or string(record.get("session_id")) or string(mapping(record.get("session")).get("id"))
        )
        model = string(record.get("model"))
        if model:
            session.models = [model]
