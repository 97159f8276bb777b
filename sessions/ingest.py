"""The one way into the database: a parsed session becomes rows, in one transaction.

The same content twice changes nothing; a longer version of a session rewrites only the
rows that differ and keeps the session's address. An older, shorter copy changes nothing
either: what is known of a session never shrinks. It knows no HTTP and no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import orjson
from django.db import IntegrityError, transaction

from sessions import describe, measures
from sessions.importers.parsed import ParsedMessage, ParsedSession, Part, Usage
from sessions.importers.storable_text import make_storable, storable_text
from sessions.models import KEY_LENGTH, NAME_LENGTH, TITLE_LENGTH, Message, Original, Project, Session, Turn
from sessions.originals import Originals
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
)  # fmt: skip
TURN_FIELDS = (
    "session", "index", "request_end", "response_end", "results_end", "model", "time", "has_usage",
    "context_tokens", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning",
)  # fmt: skip
ORIGINAL_FIELDS = ("sha256", "text", "size_bytes", "lines")


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


def ingest(parsed: ParsedSession, *, project: Project, file: FileFacts) -> Ingested:
    """Store the session in the project, or bring the stored one up to date."""
    make_storable(parsed)
    key = stored_key(parsed.key)
    originals = Originals()
    parts = [[part_record(part, originals) for part in message.parts] for message in parsed.messages]
    content = content_sha256(parsed, parts)
    known = Session.objects.filter(project=project, key=key).select_related("project").first()
    if known is not None and is_covered(known, content, parts):
        return Ingested(known, "unchanged")

    measurement = measures.measure(parsed)
    facts = session_facts(parsed, measurement, file) | {"content_sha256": content}
    for records, counts in zip(parts, measurement.part_tokens, strict=True):
        for record, tokens in zip(records, counts, strict=True):
            record["tokens"] = tokens

    with transaction.atomic():
        session, is_new = locked_session(project, key, facts)
        if not is_new:
            if session.content_sha256 == content:
                return Ingested(session, "unchanged")
            for name, value in facts.items():
                setattr(session, name, value)
            session.revision += 1
            session.save()
        link_family(session)
        write_rows(Original, ORIGINAL_FIELDS, originals.rows(), key=("sha256",), overwrite=False)
        replace_rows(session, Message, MESSAGE_FIELDS, message_rows(session.pk, parsed, parts), is_new=is_new)
        replace_rows(session, Turn, TURN_FIELDS, turn_rows(session.pk, parsed), is_new=is_new)
    return Ingested(session, "created" if is_new else "updated")


def stored_key(key: str) -> str:
    """The session's own key, or the hash of one that is too long to be stored."""
    key = storable_text(key)
    return key if len(key) <= KEY_LENGTH else "sha256:" + sha256(key.encode()).hexdigest()


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


def is_covered(session: Session, content: str, parts: list[list[dict[str, Any]]]) -> bool:
    """Whether the stored session already holds all of this: the same content, or an older and shorter copy of it."""
    if session.content_sha256 == content:
        return True
    if len(parts) >= session.message_count:
        return False
    stored = session.messages.filter(index__lt=len(parts)).values_list("parts", flat=True)
    return all(
        [record | {"tokens": 0} for record in old] == storable_json(new) for old, new in zip(stored, parts, strict=True)
    )


def session_facts(parsed: ParsedSession, measurement: measures.Measurement, file: FileFacts) -> dict[str, Any]:
    kinds = describe.part_counts(parsed)
    recorded = describe.recorded(parsed)
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
        "media_count": kinds["media"],
        "thinking_count": kinds["thinking"],
        "counted_tokens": measurement.counted_tokens,
        "peak_context_tokens": bounded_integer(recorded["max_context_tokens"]) or None,
        "context_window": None if parsed.context_window is None else bounded_integer(parsed.context_window),
        "system_in_log": parsed.system_in_log,
        "tools_json": storable_text(parsed.tools_json),
        "recorded": storable_json(recorded),
        "calibration": storable_json(measurement.calibration),
        "boundaries": storable_json(describe.boundary_records(parsed, measurement.silent)),
        "metadata_counts": storable_json(dict(parsed.metadata)),
        "skipped": storable_json(describe.skipped(parsed)),
        "warnings": storable_json(parsed.warnings),
        "parent_key": stored_key(parsed.parent),
        "spawned_by": bounded_text(parsed.spawned_by, NAME_LENGTH),
    }


def locked_session(project: Project, key: str, facts: dict[str, Any]) -> tuple[Session, bool]:
    """The session under this key, locked until the transaction ends, and whether it was made just now.

    Where two imports make the same session at once, the unique key lets one of them
    through and the other waits here, then finds what the first one wrote.
    """
    locked = Session.objects.select_for_update(of=("self",)).select_related("project")
    session = locked.filter(project=project, key=key).first()
    if session is not None:
        return session, False
    try:
        with transaction.atomic():
            return Session.objects.create(project=project, key=key, **facts), True
    except IntegrityError:
        return locked.get(project=project, key=key), False


def link_family(session: Session) -> None:
    """Tie the session to its parent and to its children, whichever of them came first."""
    family = Session.objects.filter(project=session.project).exclude(pk=session.pk)
    parent = family.filter(key=session.parent_key).first() if session.parent_key else None
    if parent != session.parent:
        session.parent = parent
        session.save(update_fields=["parent"])
    family.filter(parent_key=session.key, parent=None).update(parent=session)


def message_rows(session_id: int, parsed: ParsedSession, parts: list[list[dict[str, Any]]]) -> list[Row]:
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
