"""The API of recorded sessions: send a file, read a session and its turns.

Everything is looked up inside the token's project.
"""

from __future__ import annotations

import logging
from hashlib import file_digest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated, Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import DatabaseError
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Status

from sessions.api_auth import ApiRequest, Bearer, project_of
from sessions.api_errors import ApiError
from sessions.api_schemas import FILE_BODY, Sessions, StoredSession, Turns
from sessions.idempotency import answer_once
from sessions.import_file import import_file
from sessions.importers.parsed import ImportFailure
from sessions.models import Project, Session
from sessions.site_address import site_url

router = Router(tags=["sessions"])
logger = logging.getLogger(__name__)
CHUNK_BYTES = 1024 * 1024


@router.post(
    "projects/{slug}/sessions",
    auth=Bearer("ingest"),
    response={200: Sessions, 201: Sessions},
    openapi_extra=FILE_BODY,
    summary="Send a session file",
)
def send_sessions(request: ApiRequest, slug: str, format: str | None = None, name: str = "") -> Status[Any]:
    """201 when a session is new, 200 when all were known.

    `name` is the file's name, `format` overrides the detection.
    """
    project = project_of(request, slug)
    with NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as body:
        sent_name = receive(request, body)
        body.seek(0)
        fingerprint = f"{file_digest(body, 'sha256').hexdigest()} {format or ''}"
        status, answer = answer_once(
            project,
            key=request.headers.get("Idempotency-Key", ""),
            fingerprint=fingerprint,
            work=lambda: imported(Path(body.name), project, name or sent_name or "upload", format),
        )
    return Status(status, answer)


def imported(path: Path, project: Project, name: str, format_name: str | None) -> tuple[int, dict[str, Any]]:
    try:
        rows = import_file(path, project=project, file_name=name, format_name=format_name)
    except ImportFailure as failure:
        guesses = [{"format": guess.format, "score": guess.score, "why": guess.why} for guess in failure.guesses]
        raise ApiError(422, "unreadable", failure.message, failure.hint, guesses=guesses) from None
    except DatabaseError:
        raise
    except Exception as defect:  # whatever a file triggers, its sender gets words and the log gets the traceback
        logger.exception("A file sent to project %s woke a defect", project.slug)
        hint = "Nothing of it was stored. The server's log holds the details; please report them."
        raise ApiError(422, "defect", f"a defect of Hermes: {type(defect).__name__}", hint) from None
    for row in rows:
        row["path"] = name
    return (201 if any(row["status"] == "created" for row in rows) else 200), {"sessions": rows}


def receive(request: HttpRequest, body: IO[bytes]) -> str:
    """Copy what was sent into the file and return the name that came with it."""
    if (request.content_type or "").startswith("multipart/"):
        sent = request.FILES.get("file")
        if getattr(request, "upload_too_large", False):
            raise too_large()
        if not isinstance(sent, TemporaryUploadedFile):
            raise ApiError(422, "no_file", "The form has no field named file.", "Send the file in it, or as the body.")
        for chunk in sent.chunks(CHUNK_BYTES):
            body.write(chunk)
        name = sent.name or ""
    else:
        received = 0
        while chunk := request.read(CHUNK_BYTES):
            received += len(chunk)
            if received > settings.HERMES_MAX_UPLOAD_BYTES:
                raise too_large()
            body.write(chunk)
        name = ""
    body.flush()
    return name


def too_large() -> ApiError:
    limit = settings.HERMES_MAX_UPLOAD_BYTES
    return ApiError(
        413, "too_large", f"The upload is larger than {limit:,} bytes.", "The server's HERMES_MAX_UPLOAD_BYTES says so."
    )


def session_of(request: ApiRequest, session_id: int) -> Session:
    return get_object_or_404(Session.objects.select_related("project"), project=request.auth.project, pk=session_id)


@router.get("sessions/{id:session_id}", auth=Bearer("read"), response=StoredSession, summary="One session")
def read_session(request: ApiRequest, session_id: int) -> dict[str, Any]:
    session = session_of(request, session_id)
    return {
        "session_id": session.pk,
        "url": site_url() + session.get_absolute_url(),
        "project": session.project.slug,
        "key": session.key,
        "parent": session.parent_key,
        "spawned_by": session.spawned_by,
        "format": session.format,
        "detection": {"score": session.detection_score, "why": session.detection_why},
        "title": session.title,
        "agent": session.agent,
        "models": session.models,
        "started_at": session.started_at.isoformat() if session.started_at else None,
        "ended_at": session.ended_at.isoformat() if session.ended_at else None,
        "file": {"name": session.file_name, "sha256": session.file_sha256, "size": session.file_size},
        "revision": session.revision,
        "messages": session.message_count,
        "source_messages": session.source_messages,
        "turns": session.turn_count,
        "tool_calls": session.tool_call_count,
        "tool_results": session.tool_result_count,
        "media": session.media_count,
        "thinking": session.thinking_count,
        "boundaries": session.boundaries,
        "recorded": session.recorded,
        "counted_tokens": session.counted_tokens,
        "calibration": session.calibration,
        "context_window": session.context_window,
        "skipped": session.skipped,
        "warnings": session.warnings,
    }


@router.get("sessions/{id:session_id}/turns", auth=Bearer("read"), response=Turns, summary="The turns of a session")
def read_turns(
    request: ApiRequest,
    session_id: int,
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0,
    limit: Annotated[int, Field(ge=1, le=5000)] = 1000,
) -> dict[str, Any]:
    session = session_of(request, session_id)
    turns = session.turns.filter(index__gte=offset, index__lt=offset + limit)
    rows = [
        {
            "index": turn.index,
            "request_end": turn.request_end,
            "response_end": turn.response_end,
            "results_end": turn.results_end,
            "model": turn.model,
            "time": turn.time,
            "recorded": {
                "context_tokens": turn.context_tokens,
                "cache_read": turn.cache_read,
                "cache_write": turn.cache_write,
                "cache_write_1h": turn.cache_write_1h,
                "output": turn.output,
                "reasoning": turn.reasoning,
            }
            if turn.has_usage
            else None,
        }
        for turn in turns
    ]
    return {"turns": rows, "count": session.turn_count}
