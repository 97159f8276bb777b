"""The shapes of the API's answers, which its documentation is made from."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Field, Schema

FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file as it is, as the whole body or as the field `file` of a form.",
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
        },
    },
    "parameters": [
        {
            "in": "header",
            "name": "Idempotency-Key",
            "schema": {"type": "string"},
            "description": "The same key with the same body gives the first answer again.",
        }
    ],
}


class SessionFacts(Schema):
    """What `manage.py inspect` says of a session, and where it is."""

    session_id: int
    url: str
    key: str
    parent: str
    spawned_by: str
    format: str
    detection: dict[str, Any]
    title: str
    agent: str
    models: list[str]
    started_at: str | None
    messages: int
    source_messages: int = Field(description="Entries as the file lists them.")
    turns: int
    tool_calls: int
    tool_results: int
    media: int
    thinking: int
    boundaries: list[dict[str, Any]]
    recorded: dict[str, int] = Field(description="Sums, and the peak, of the provider's own figures, in tokens.")
    counted_tokens: int = Field(description="Uncalibrated.")
    calibration: dict[str, Any]
    skipped: list[dict[str, Any]]
    warnings: list[str]


class SessionRow(SessionFacts):
    path: str
    status: Literal["created", "updated", "unchanged"]


class Sessions(Schema):
    sessions: list[SessionRow]


class StoredSession(SessionFacts):
    project: str
    ended_at: str | None
    file: dict[str, Any]
    revision: int
    context_window: int | None


class TurnRow(Schema):
    """One model call: messages before `request_end` were sent; up to `response_end` is the answer."""

    index: int
    request_end: int
    response_end: int
    results_end: int
    model: str
    time: float | None
    recorded: dict[str, int] | None = Field(description="The provider's own figures, in tokens.")


class Turns(Schema):
    turns: list[TurnRow]
    count: int
