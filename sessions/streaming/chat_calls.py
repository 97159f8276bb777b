"""Which call a delta of Chat Completions belongs to: servers leave out, repeat and mix up ids, indexes and names.

Identity is local to one choice of one response. A known id decides; a new id is a new call, whatever its index; then
the latest call at that index; then the open call. A call whose arguments are whole takes no more: what follows is
another call.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any

from sessions.streaming.call_state import Call, Calls
from sessions.streaming.facts import Fact
from sessions.streaming.fields import index, record, text
from sessions.streaming.increments import Increments


class ChoiceCalls:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._mine: list[Call] = []
        self._by_id: dict[str, Call] = {}
        self._at: dict[int, list[Call]] = {}
        self._increments: dict[int, Increments] = {}

    def __len__(self) -> int:
        return len(self._mine)

    def feed(self, delta: dict[str, Any]) -> Iterator[Fact]:
        function = record(delta.get("function"))
        name = text(function.get("name"))
        arguments = self._arguments(function.get("arguments"))
        call = self._find(text(delta.get("id")), index(delta.get("index")), name, arguments)
        if call is None:
            call_id, number = text(delta.get("id")), index(delta.get("index"))
            if not (call_id or name or arguments):
                return
            call = yield from self._start(call_id, name, number)
        elif call.open:
            yield from call.named(name)
        yield from self._append(call, self._increments[call.number].take(arguments))

    def close(self) -> Iterator[Fact]:
        for call in self._mine:
            yield from self._flush(call)
            yield from call.close()

    def flush(self) -> Iterator[Fact]:
        """What was held back in doubt; for ends that close nothing."""
        for call in self._mine:
            yield from self._flush(call)

    def abandon(self) -> Iterator[Fact]:
        yield from self.flush()
        for call in self._mine:
            yield from call.abandon("truncated")

    def _find(self, call_id: str, number: int | None, name: str, arguments: str) -> Call | None:
        if call_id:
            if call_id in self._by_id:
                return self._by_id[call_id]
            return self._nameless(number, call_id)
        slot = self._at.get(number) if number is not None else None
        if slot:
            found: Call | None = slot[-1]
        elif number is not None and name:
            found = None
        else:
            found = self._stray(number, arguments)
        if found is not None and self._begins_another(found, name, arguments):
            return None
        return found

    def _nameless(self, number: int | None, call_id: str) -> Call | None:
        """Arguments came before id and name: the call that waits for them at this index."""
        slot = self._at.get(number) if number is not None else None
        if slot and slot[-1].open and not slot[-1].name:
            slot[-1].id = call_id
            self._by_id[call_id] = slot[-1]
            return slot[-1]
        return None

    def _stray(self, number: int | None, arguments: str) -> Call | None:
        """No id, and no call at the index: the only call that can still take arguments, which moves to that index."""
        waiting = [call for call in self._mine if call.open and not call.whole]
        if not waiting:
            return self._mine[-1] if self._mine and number is None else None
        latest = waiting[-1]
        if number is None or len(waiting) == 1 or not latest.fragments:
            if number is not None:
                self._calls.notes["moved_index"] += 1
                for slot in self._at.values():
                    if latest in slot and len(slot) > 1:
                        slot.remove(latest)
                self._at.setdefault(number, []).append(latest)
            return latest
        return None

    @staticmethod
    def _begins_another(call: Call, name: str, arguments: str) -> bool:
        if not call.whole:
            return False
        return arguments.lstrip()[:1] == "{" or bool(name and name != call.name)

    def _start(self, call_id: str, name: str, number: int | None) -> Generator[Fact, None, Call]:
        # The call before it is over when it is whole; one that is not may still be interleaved with this one.
        for earlier in self._mine:
            if earlier.open and earlier.whole:
                yield from earlier.close()
        call, facts = self._calls.start(call_id or None, name)
        self._mine.append(call)
        self._increments[call.number] = Increments()
        if call_id:
            self._by_id[call_id] = call
        if number is not None:
            self._at.setdefault(number, []).append(call)
        yield from facts
        return call

    def _append(self, call: Call, arguments: str) -> Iterator[Fact]:
        """Several objects in one slot are several calls of the same tool."""
        while arguments:
            if not call.open or call.whole:
                if arguments.strip():
                    self._calls.notes["text_after_arguments"] += 1
                return
            end = call.end_of_value(arguments)
            if end is None:
                yield from call.append(arguments)
                return
            yield from call.append(arguments[:end])
            arguments = arguments[end:].lstrip()
            if arguments[:1] == "{":
                self._calls.notes["split_call"] += 1
                call = yield from self._start("", call.name, None)

    def _flush(self, call: Call) -> Iterator[Fact]:
        held = self._increments[call.number].flush()
        if held and call.open:
            raw = call.raw
            try:
                json.loads(held)
            except (ValueError, RecursionError):
                whole = False
            else:
                whole = held.startswith(raw)
            yield from self._append(call, held[len(raw) :] if whole else held)

    def _arguments(self, value: object) -> str:
        if isinstance(value, str):
            return "" if value in ("None", "null") else value
        if isinstance(value, dict):
            self._calls.notes["object_args"] += 1
            return json.dumps(value, ensure_ascii=False)
        return ""
