"""Messages as one text to keep and to read back: what an address of removed messages means."""

from __future__ import annotations

from collections.abc import Iterable

from compression.engine.transcript import Message, Part


def rendered(messages: Iterable[Message], before: str = "") -> str:
    """Every message under a line of its own, whole; ``before`` = what already stood for earlier ones.

    Lines and grep find their way in it. Media and what only the provider can read are named, not held.
    """
    pieces = [before] if before else []
    for message in messages:
        pieces.append(f"--- message {message.index} · {message.role}")
        pieces += [_part(part) for part in message.parts]
    return "\n".join(pieces)


def _part(part: Part) -> str:
    if part.kind == "tool_call":
        return f"[call {part.call_id}] {part.name} {part.text}"
    if part.kind == "tool_result":
        return f"[result of {part.call_id}] {part.text}"
    if part.kind == "media":
        return f"[{part.media_type or 'media'} · {part.size:,} bytes · sha256 {part.sha256}]"
    if part.kind == "opaque":
        return f"[not readable · {part.size:,} bytes]"
    return part.text
