"""What kind of text a tool result is, how sure that is and why: asked for one stored message at a time.

A page shows the kind of every result; why it is so is worked out for the one that a reader asks about.
"""

from __future__ import annotations

from compression.engine.blocks import content_type
from compression.engine.content_types import ContentType
from compression.transcripts import engine_messages
from sessions.models import Session

CALLS_LOOKED_AT = 20
"""Responses before a result among which its call is looked for: what was called also says what came back."""


def message_kind(session: Session, index: int) -> ContentType | None:
    """The kind of a message's first tool result; None when it has none. Three queries."""
    row = session.messages.filter(index=index, role="tool").first()
    if row is None:
        return None
    [(message, _counts)] = engine_messages([row])
    part = next((part for part in message.parts if part.kind == "tool_result"), None)
    if part is None:
        return None
    earlier = session.messages.filter(role="assistant", index__lt=index).order_by("-index").only("parts")
    calls = (stored for response in earlier[:CALLS_LOOKED_AT] for stored in response.parts)
    wanted = (c.get("text", "") for c in calls if c["kind"] == "tool_call" and c.get("call_id") == part.call_id)
    return content_type(part, {part.call_id: next(wanted, "")})
