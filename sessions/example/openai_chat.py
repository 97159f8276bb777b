"""Writes a plan as an array of OpenAI chat messages. The format has no times and no usage."""

from __future__ import annotations

from typing import Any

import orjson

from sessions.example.script import Exchange
from sessions.example.shop import hex_digits, source


def chat_messages(exchanges: tuple[Exchange, ...], *, system: str = "") -> list[dict[str, Any]]:
    """Messages of the whole session, results directly after the message with their calls."""
    rng = source("openai-chat")
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for exchange in exchanges:
        messages.append({"role": "user", "content": exchange.prompt})
        for response in exchange.responses:
            message: dict[str, Any] = {"role": "assistant", "content": response.text or None}
            ids = [f"call_{hex_digits(rng, 20)}" for _ in response.calls]
            if response.calls:
                message["tool_calls"] = [
                    {
                        "id": call_id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments_text},
                    }
                    for call, call_id in zip(response.calls, ids, strict=True)
                ]
            messages.append(message)
            for call, call_id in zip(response.calls, ids, strict=True):
                messages.append({"role": "tool", "tool_call_id": call_id, "content": call.result})
    return messages


def chat_file(exchanges: tuple[Exchange, ...], *, system: str = "") -> bytes:
    """The array as a JSON document."""
    return orjson.dumps(chat_messages(exchanges, system=system), option=orjson.OPT_INDENT_2) + b"\n"
