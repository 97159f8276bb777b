"""Originals that only a stored replay leads to: messages that left a window together, and parts that are no results.

Asked for when nothing else holds an address. Looks at the newest stored replays only; runs no engine.
"""

from __future__ import annotations

from django.db.models import F

from compression.engine.snapshots import UnknownAddress, digest
from compression.message_texts import departed_text
from compression.models import StoredReplay
from compression.replay_document import Departure, OldLayout, ReplayDocument

LOOKED_AT = 100
"""Stored replays that are opened, the newest first: each takes some milliseconds."""


def replayed_original(project_slug: str | None, address: str) -> tuple[str, str] | None:
    """(sha256, text) of what an address of a stored replay leads to; None when none of the newest knows it."""
    stored = StoredReplay.objects.filter(revision=F("session__revision")).select_related("session")
    if project_slug is not None:
        stored = stored.filter(session__project__slug=project_slug)
    for row in stored.defer("session__tools_json").order_by("-pk")[:LOOKED_AT].iterator(chunk_size=1):
        text = _text(row, address)
        if text is not None:
            return digest(text), text
    return None


def _text(row: StoredReplay, address: str) -> str | None:
    try:
        source = ReplayDocument.unpacked(bytes(row.body)).source_of(address)
    except (OldLayout, UnknownAddress):
        return None
    if isinstance(source, Departure):
        return departed_text(row.session, source)
    message = row.session.messages.filter(index=source.message).only("parts").first()
    if message is None or source.part >= len(message.parts):
        return None
    part = message.parts[source.part]
    return str(part.get("text", "")) if "original" not in part else None
