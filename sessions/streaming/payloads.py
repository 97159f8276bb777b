"""From an event's data to JSON objects, also where a gateway glued two events together or left one unfinished."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import orjson

from sessions.streaming.sse import SseEvent

DONE = "[DONE]"

Payload = dict[str, Any]


class PayloadReader:
    """Counts what it cannot use. ``[DONE]`` is given as the payload ``{"type": "[DONE]"}``."""

    def __init__(self) -> None:
        self.notes: Counter[str] = Counter()
        self.comments = 0

    def read(self, event: SseEvent) -> list[Payload]:
        data = event.data.strip()
        if not data:
            return []
        if data == DONE:
            return [{"type": DONE}]
        if data[0] == ":":  # a gateway sent a comment on as data
            self.comments += 1
            return []
        found = self._objects(data)
        if found and not event.terminated:
            self.notes["unterminated_event"] += 1
        if event.name:
            for payload in found:
                payload.setdefault("type", event.name)
        return found

    def _objects(self, data: str) -> list[Payload]:
        whole = _object(data)
        if whole is not None:
            return [whole]
        # Events without the blank line between them, or a new one that begins inside an unfinished one.
        found: list[Payload] = []
        for line in data.split("\n"):
            for piece in line.split("data:"):
                text = piece.strip()
                if not text:
                    continue
                if text == DONE:
                    found.append({"type": DONE})
                    continue
                payload = _object(text)
                if payload is None:
                    self.notes["corrupt_event"] += 1
                else:
                    self.notes["glued_event"] += 1
                    found.append(payload)
        return found


def _object(text: str) -> Payload | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(text)  # reads lone surrogates and NaN, which providers do send
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
