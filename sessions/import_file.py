"""From a file on disk to stored sessions, and the rows that tell about them.

The command and the API share it. All sessions of a file are stored, or none.
"""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from sessions import describe
from sessions.importers import read_sessions
from sessions.importers.parsed import ImportFailure, ParsedSession
from sessions.importers.regular_file import require_regular_file
from sessions.ingest import FileFacts, Ingested, ingest
from sessions.models import Project, Session
from sessions.site_address import site_url
from sessions.terminal import shown_path


def import_file(
    path: Path, *, project: Project, file_name: str = "", format_name: str | None = None
) -> list[dict[str, Any]]:
    """A row per session of the file; ``ImportFailure`` says why there is none."""
    name = file_name or shown_path(Path(path.name))
    try:
        size = require_regular_file(path, name)
        if size > settings.HERMES_MAX_UPLOAD_BYTES:
            raise ImportFailure(
                f"{name} has {size:,} bytes, more than the limit of {settings.HERMES_MAX_UPLOAD_BYTES:,}.",
                "Raise HERMES_MAX_UPLOAD_BYTES if you mean to import it.",
            )
        with path.open("rb") as stream:
            facts = FileFacts(name=name, sha256=file_digest(stream, "sha256").hexdigest(), size=size)
        sessions = read_sessions(path, format=format_name, name=name)
    except OSError as error:
        raise ImportFailure(
            f"{name} cannot be read: {error.strerror}.", "Check the path and its permissions."
        ) from None
    with transaction.atomic():
        ingested = ingest_all(sessions, project=project, file=facts)
    return [row(parsed, stored, shown_path(path)) for parsed, stored in zip(sessions, ingested, strict=True)]


def ingest_all(sessions: list[ParsedSession], *, project: Project, file: FileFacts) -> list[Ingested]:
    """The sessions of one file stay apart, and sub-agents follow a parent that is stored under another key."""
    ingested: list[Ingested] = []
    keys: dict[str, str] = {}
    for parsed in sessions:
        parsed.parent = keys.get(parsed.parent, parsed.parent)
        others = [one.session.pk for one in ingested]
        ingested.append(ingest(parsed, project=project, file=file, apart_from=others))
        keys[parsed.key] = ingested[-1].session.key
    return ingested


def session_path(session: Session) -> str:
    """What ``get_absolute_url`` says, without the import of every page that it takes to ask."""
    return f"/projects/{session.project.slug}/sessions/{session.pk}/"


def row(parsed: ParsedSession, ingested: Ingested, path: str) -> dict[str, Any]:
    """What is stored now, and of the file itself what was skipped: an older, shorter copy stores nothing."""
    session = ingested.session
    return {
        "session_id": session.pk,
        "url": site_url() + session_path(session),
        "status": ingested.status,
        **describe.row(
            parsed,
            path=path,
            boundaries=session.boundaries,
            counted_tokens=session.counted_tokens,
            calibration=session.calibration,
        ),
        "key": session.key,
        "messages": session.message_count,
        "source_messages": session.source_messages,
        "turns": session.turn_count,
        "tool_calls": session.tool_call_count,
        "tool_results": session.tool_result_count,
        "media": session.media_count,
        "thinking": session.thinking_count,
        "recorded": session.recorded,
    }
