"""One answer of a model from its first byte to its end: SSE layer, protocol, facts, clocks and profile together.

Nothing here reads a clock: whoever feeds bytes says when they came, or None for recordings without times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from sessions.streaming.adapter import Adapter
from sessions.streaming.call_state import Calls, Clocks
from sessions.streaming.detect import PROTOCOLS, foreign, protocol_of
from sessions.streaming.facts import PROGRESS, Fact
from sessions.streaming.payloads import DONE, Payload, PayloadReader
from sessions.streaming.profile import Profile
from sessions.streaming.sse import SseEvent, SseReader

# How many events may come before one gives the protocol away.
LONGEST_DOUBT = 50


class UnknownProtocol(ValueError):
    """The bytes are none of the protocols read here; the message says what they look like and what to do."""


class Stream:
    """``protocol`` is a name of ``PROTOCOLS`` or ``auto``. Facts come from ``feed``, ``finish`` and ``abort``."""

    def __init__(self, protocol: str = "auto", *, requested_at: float | None = None) -> None:
        self.calls = Calls()
        self.sse = SseReader()
        self.payloads = PayloadReader()
        self.profile = Profile(requested_at)
        self.clocks = None if requested_at is None else Clocks(requested_at)
        self.adapter: Adapter | None = None if protocol == "auto" else PROTOCOLS[protocol](self.calls)
        self._undecided: list[tuple[Payload, float | None]] = []

    def feed(self, data: bytes, at: float | None = None) -> Iterator[Fact]:
        """Facts in the order of the bytes; the iterator must be exhausted before the next call."""
        if not data:
            return
        self.profile.heard(at)
        progress = False
        for event in self.sse.feed(data):
            for fact in self._event(event, at):
                progress |= fact.type in PROGRESS
                yield fact
        if at is not None:
            if self.clocks is None:
                self.clocks = Clocks(at)
            self.clocks.heard(at, progress=progress)

    def finish(self, at: float | None = None) -> Iterator[Fact]:
        """The bytes ended by themselves. Raises ``UnknownProtocol`` when nothing told which protocol they were."""
        for event in self.sse.finish():
            yield from self._event(event, at)
        if self.adapter is None:
            yield from self._last_guess()
        if self.adapter is not None:
            yield from self._counted(self.adapter.finish(), at)

    def abort(self) -> Iterator[Fact]:
        """We cut the stream: no call that was open is ever told complete."""
        if self.adapter is not None:
            yield from self.adapter.abort()

    @property
    def outcome(self) -> str:
        return self.adapter.outcome if self.adapter is not None else "open"

    def notes(self) -> dict[str, int]:
        """Everything unusual that was met, by name."""
        counted: Counter[str] = Counter()
        counted.update(self.sse.notes)
        counted.update(self.payloads.notes)
        counted.update(self.calls.notes)
        if self.adapter is not None:
            counted.update(self.adapter.notes)
        return dict(sorted(counted.items()))

    def profile_row(self) -> dict[str, Any]:
        adapter = self.adapter
        return self.profile.as_row() | {
            "comments": self.sse.comments + self.payloads.comments,
            "bytes": self.sse.bytes,
            "protocol": adapter.protocol if adapter else None,
            "model": (adapter.model if adapter else "") or None,
            "outcome": self.outcome,
            "calls": len(self.calls.all),
            "unknown": dict(sorted(adapter.unknown.items())) if adapter else {},
            "notes": self.notes(),
        }

    def _event(self, event: SseEvent, at: float | None) -> Iterator[Fact]:
        for payload in self.payloads.read(event):
            if self.adapter is None:
                yield from self._decide(payload, at)
            else:
                yield from self._counted(self.adapter.feed(payload), at, chunk=True)

    def _decide(self, payload: Payload, at: float | None) -> Iterator[Fact]:
        self._undecided.append((payload, at))
        if (name := foreign(payload)) is not None:
            raise UnknownProtocol(f"This is the protocol {name}, which is not read; {_known()} are.")
        found = protocol_of(payload)
        if found is not None:
            yield from self._settle(found)
        elif len(self._undecided) >= LONGEST_DOUBT:
            raise UnknownProtocol(f"The first {LONGEST_DOUBT} events name no protocol; name one: {_known()}.")

    def _settle(self, protocol: str) -> Iterator[Fact]:
        self.adapter = PROTOCOLS[protocol](self.calls)
        waiting, self._undecided = self._undecided, []
        for payload, at in waiting:
            yield from self._counted(self.adapter.feed(payload), at, chunk=True)

    def _last_guess(self) -> Iterator[Fact]:
        """A body of nothing but an error belongs to any protocol; one without events to none."""
        if any("error" in payload for payload, _ in self._undecided):
            yield from self._settle("openai-chat")
            return
        if not self.sse.events:
            what = "The file is empty" if not self.sse.bytes else "No line of it is an event or a JSON object"
            raise UnknownProtocol(f"{what}; a recorded body of server-sent events is wanted.")
        if all(payload.get("type") == DONE for payload, _ in self._undecided):
            raise UnknownProtocol("None of its events holds a JSON object; is the body compressed or cut?")
        raise UnknownProtocol(f"Its events name no protocol; name one: {_known()}.")

    def _counted(self, facts: Iterable[Fact], at: float | None, *, chunk: bool = False) -> Iterator[Fact]:
        fragments, characters = self.calls.fragments, self.calls.characters
        told = list(facts)
        fragments, characters = self.calls.fragments - fragments, self.calls.characters - characters
        if chunk or fragments:
            self.profile.event(told, fragments, characters, at)
        yield from told


def _known() -> str:
    return ", ".join(PROTOCOLS)
