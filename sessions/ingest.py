"""The one way into the database: a parsed session becomes rows, in one transaction.

The same content twice changes nothing; a longer version of a session rewrites only the
rows that differ and keeps the session's address. An older, shorter copy changes nothing
either: what is known of a session never shrinks. It knows no HTTP and no file.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import orjson
from django.db import IntegrityError, transaction

from sessions import describe, measures
from sessions.identity import Home, home_of, stored_key
from sessions.importers.parsed import ParsedMessage, ParsedSession, Part, Usage
from sessions.importers.storable_text import make_storable, storable_text
from sessions.models import NAME_LENGTH, TITLE_LENGTH, Message, Project, Session, Turn
from sessions.originals import Originals, write_originals
from sessions.rows import Row, write_rows
from sessions.storable import (
    bounded_integer,
    bounded_text,
    json_column,
    storable_json,
    storable_time,
)

MESSAGE_FIELDS = (
    "session", "index", "role", "turn", "timestamp", "source_id", "response_id", "model", "flags", "tokens", "parts",
    "original",
)  # fmt: skip
TURN_FIELDS = (
    "session", "index", "request_end", "response_end", "results_end", "model", "time", "has_usage",
    "context_tokens", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning",
)  # fmt: skip
ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The file that a session was read from; ``size`` in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Ingested:
    session: Session
    status: Literal["created", "updated", "unchanged"]


def ingest(parsed: ParsedSession, *, project: Project, file: FileFacts, apart_from: Collection[int] = ()) -> Ingested:
    """Store the session in the project, or bring the stored one up to date.

    ``apart_from``: stored sessions that other recordings of the same file are, which this one cannot be.
    """
    make_storable(parsed)
    originals = Originals()
    parts = [[part_record(part, originals) for part in message.parts] for message in parsed.messages]
    content = content_sha256(parsed, parts)
    measurement = None
    for _ in range(ATTEMPTS):
        home = home_of(parsed, content, parts, project=project, apart_from=apart_from)
        if home.session is not None and home.is_covered:
            return Ingested(home.session, "unchanged")
        measurement = measurement or measures.measure(parsed)
        facts = session_facts(parsed, measurement, file) | {"content_sha256": content}
        with transaction.atomic():
            session = claimed(home, project, facts)
            if session is None:
                continue
            rows = message_rows(session.pk, parsed, parts, measurement.part_tokens)
            write_originals(originals.rows())
            replace_rows(session, Message, MESSAGE_FIELDS, rows, is_new=home.session is None)
            replace_rows(session, Turn, TURN_FIELDS, turn_rows(session.pk, parsed), is_new=home.session is None)
        return Ingested(session, "created" if home.session is None else "updated")
    raise IntegrityError(f"Other imports keep writing session {home.key}; try again when they are done.")


def claimed(home: Home, project: Project, facts: dict[str, Any]) -> Session | None:
    """The session with its new facts, locked until the transaction ends; None where another import, or a deletion,
    was faster, so that the recording has to find its home again."""
    if home.session is None:
        try:
            with transaction.atomic():
                session = Session.objects.create(project=project, key=home.key, **facts)
        except IntegrityError:
            return None
    else:
        locked = Session.objects.select_for_update().filter(pk=home.session.pk, project=project)
        found = locked.filter(content_sha256=home.session.content_sha256).first()
        if found is None:
            return None
        session = found
        session.project = project
        for name, value in facts.items():
            setattr(session, name, value)
        session.revision += 1
        session.save()
    link_family(session)
    return session


def part_record(part: Part, originals: Originals) -> dict[str, Any]:
    """The fields of a part that say something; a tool result's text goes among the originals."""
    record: dict[str, Any] = {"kind": part.kind, "tokens": 0}
    if part.kind == "tool_result":
        record["original"] = originals.add(part.text)
    elif part.text:
        record["text"] = part.text
    if part.call_id:
        record["call_id"] = part.call_id
    if part.name:
        record["name"] = part.name
    if part.is_error:
        record["is_error"] = True
    if part.signature:
        record["signature"] = part.signature
    if part.kind == "media" or part.size or part.media_type or part.sha256:
        sizes = ("media_type", "size", "sha256", "width", "height")
        record |= {name: value for name in sizes if (value := getattr(part, name))}
    return record


def content_sha256(parsed: ParsedSession, parts: list[list[dict[str, Any]]]) -> str:
    """Identifies everything that was read, so that an unchanged session is known before anything is counted."""
    digest = sha256()
    for message, records in zip(parsed.messages, parts, strict=True):
        digest.update(json_column([message_head(message), records]).encode())
    rest = [
        parsed.turns,
        parsed.boundaries,
        [parsed.format, parsed.title, parsed.agent, parsed.parent, parsed.spawned_by, parsed.models],
        [parsed.started_at, parsed.ended_at, parsed.context_window, parsed.system_in_log, parsed.tools_json],
        [parsed.source_messages, dict(parsed.metadata), dict(parsed.skipped), parsed.warnings],
    ]
    digest.update(json_column(rest).encode())
    return digest.hexdigest()


def message_head(message: ParsedMessage) -> list[Any]:
    return [
        message.role, message.timestamp, message.source_id, message.response_id, message.model, sorted(message.flags),
    ]  # fmt: skip


def session_facts(parsed: ParsedSession, measurement: measures.Measurement, file: FileFacts) -> dict[str, Any]:
    kinds = describe.part_counts(parsed)
    recorded = describe.recorded(parsed)
    boundaries = describe.boundary_records(parsed, measurement.silent)
    return {
        "title": bounded_text(parsed.title, TITLE_LENGTH),
        "agent": bounded_text(parsed.agent, NAME_LENGTH),
        "format": bounded_text(parsed.format, NAME_LENGTH),
        "detection_score": parsed.detection.score,
        "detection_why": storable_text(parsed.detection.why),
        "models": storable_json(parsed.models),
        "model": bounded_text(parsed.models[0], NAME_LENGTH) if parsed.models else "",
        "started_at": storable_time(parsed.started_at),
        "ended_at": storable_time(parsed.ended_at),
        "file_name": bounded_text(file.name, 400),
        "file_sha256": file.sha256,
        "file_size": file.size,
        "source_messages": parsed.source_messages,
        "message_count": len(parsed.messages),
        "turn_count": len(parsed.turns),
        "tool_call_count": kinds["tool_call"],
        "tool_result_count": kinds["tool_result"],
        "tool_error_count": describe.tool_errors(parsed),
        "boundary_count": len(boundaries),
        "media_count": kinds["media"],
        "thinking_count": kinds["thinking"],
        "counted_tokens": measurement.counted_tokens,
        "peak_context_tokens": bounded_integer(recorded["max_context_tokens"]) or None,
        "window_tokens": None if measurement.window_tokens is None else bounded_integer(measurement.window_tokens),
        "context_window": None if parsed.context_window is None else bounded_integer(parsed.context_window),
        "system_in_log": parsed.system_in_log,
        "tools_json": storable_text(parsed.tools_json),
        "recorded": storable_json(recorded),
        "calibration": storable_json(measurement.calibration),
        "boundaries": storable_json(boundaries),
        "metadata_counts": storable_json(dict(parsed.metadata)),
        "skipped": storable_json(describe.skipped(parsed)),
        "warnings": storable_json(parsed.warnings),
        "parent_key": stored_key(parsed.parent),
        "spawned_by": bounded_text(parsed.spawned_by, NAME_LENGTH),
    }


def link_family(session: Session) -> None:
    """Tie the session to its parent and to its children, whichever of them came first."""
    family = Session.objects.filter(project=session.project).exclude(pk=session.pk)
    parent = family.filter(key=session.parent_key).first() if session.parent_key else None
    if parent != session.parent:
        session.parent = parent
        session.save(update_fields=["parent"])
    family.filter(parent_key=session.key, parent=None).update(parent=session)


def message_rows(
    session_id: int, parsed: ParsedSession, parts: list[list[dict[str, Any]]], part_tokens: list[list[int]]
) -> list[Row]:
    """Puts the tokens into the records of the parts, too."""
    for records, counts in zip(parts, part_tokens, strict=True):
        for record, tokens in zip(records, counts, strict=True):
            record["tokens"] = tokens
    turns = describe.turns_of_messages(parsed)
    return [
        (
            session_id,
            index,
            message.role,
            turns[index],
            message.timestamp,
            storable_text(message.source_id),
            storable_text(message.response_id),
            bounded_text(message.model, NAME_LENGTH),
            sorted(message.flags),
            sum(record["tokens"] for record in records) + measures.MESSAGE_OVERHEAD_TOKENS,
            records,
            next((record["original"] for record in records if "original" in record), None),
        )
        for index, (message, records) in enumerate(zip(parsed.messages, parts, strict=True))
    ]


def turn_rows(session_id: int, parsed: ParsedSession) -> list[Row]:
    rows: list[Row] = []
    for index, turn in enumerate(parsed.turns):
        usage = turn.usage or Usage()
        figures = (
            usage.context_tokens,
            usage.cache_read,
            usage.cache_write,
            usage.cache_write_1h,
            usage.output,
            usage.reasoning,
        )
        rows.append(
            (
                session_id,
                index,
                turn.request_end,
                turn.response_end,
                turn.results_end,
                bounded_text(turn.model or usage.model, NAME_LENGTH),
                turn.time if turn.time is not None else usage.time,
                turn.usage is not None,
                *map(bounded_integer, figures),
            )
        )
    return rows


def replace_rows(
    session: Session, model: type[Message] | type[Turn], fields: tuple[str, ...], rows: list[Row], *, is_new: bool
) -> None:
    """Make the session's rows these ones; of a stored session only what differs is written."""
    if not is_new:
        stored = model._default_manager.filter(session=session)
        known = {comparable(row) for row in stored.values_list(*fields)}
        stored.filter(index__gte=len(rows)).delete()
        rows = [row for row in rows if comparable(row) not in known]
    write_rows(model, fields, rows, key=("session", "index"), overwrite=True)


def comparable(row: Row) -> Row:
    """A row whose lists can be hashed; PostgreSQL keeps the keys of an object in an order of its own."""
    return tuple(
        orjson.dumps(storable_json(value), option=orjson.OPT_SORT_KEYS) if isinstance(value, list) else value
        for value in row
    )
