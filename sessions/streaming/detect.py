"""Which protocol a stream speaks, from its first events."""

from __future__ import annotations

from sessions.streaming.adapter import Adapter
from sessions.streaming.anthropic_messages import AnthropicMessages
from sessions.streaming.fields import text
from sessions.streaming.openai_chat import OpenAIChat
from sessions.streaming.openai_responses import OpenAIResponses
from sessions.streaming.payloads import Payload

PROTOCOLS: dict[str, type[Adapter]] = {
    adapter.protocol: adapter for adapter in (AnthropicMessages, OpenAIChat, OpenAIResponses)
}

_ANTHROPIC = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "ping",
    }
)
# Not spoken here, but worth a name in the complaint.
_FOREIGN = {
    "gemini": ("candidates",),
    "bedrock-converse": ("messageStart", "contentBlockStart", "contentBlockDelta"),
}


def protocol_of(payload: Payload) -> str | None:
    """The protocol that this event gives away, or None where it could belong to several."""
    kind = text(payload.get("type"))
    if kind.startswith("response.") or payload.get("object") == "response":
        return OpenAIResponses.protocol
    if kind in _ANTHROPIC or (kind == "message" and "content" in payload):
        return AnthropicMessages.protocol
    if kind == "error":
        if "sequence_number" in payload or "code" in payload:
            return OpenAIResponses.protocol
        return AnthropicMessages.protocol if text(payload.get("request_id")) else None
    if isinstance(payload.get("choices"), list) or text(payload.get("object")).startswith("chat.completion"):
        return OpenAIChat.protocol
    return None


def foreign(payload: Payload) -> str | None:
    """The name of a protocol that is recognised and not read."""
    for name, keys in _FOREIGN.items():
        if any(key in payload for key in keys):
            return name
    return "cohere-v2" if payload.get("type") in ("message-start", "tool-call-start") else None
