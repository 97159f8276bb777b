"""What a protocol's adapter is: payloads in, facts out, and how the answer ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Literal

from sessions.streaming.call_state import Calls
from sessions.streaming.facts import Fact
from sessions.streaming.payloads import Payload

Outcome = Literal["open", "complete", "truncated", "failed", "aborted"]


class Adapter(ABC):
    """``outcome`` is ``complete`` only after the protocol's own end; an error outlives any end that follows it."""

    protocol: ClassVar[str]

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.outcome: Outcome = "open"
        self.model = ""
        self.unknown: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()

    @abstractmethod
    def feed(self, payload: Payload) -> Iterator[Fact]:
        """The facts of one event; the iterator must be exhausted before the next call."""

    def finish(self) -> Iterator[Fact]:
        """The bytes ended. What the protocol did not end is truncated, whatever it looks like."""
        yield from self.calls.abandon("truncated")
        if self.outcome == "open":
            self.outcome = "truncated"

    def abort(self) -> Iterator[Fact]:
        """Somebody on our side cut the stream."""
        yield from self.calls.abandon("aborted")
        if self.outcome == "open":
            self.outcome = "aborted"

    def passed(self, name: str) -> Fact:
        """An event that this adapter does not know: counted and reported by name."""
        name = name[:200] or "unnamed"
        self.unknown[name if name in self.unknown or len(self.unknown) < 100 else "others"] += 1
        return Fact("unknown", text=name)

    def failed(self, error: object) -> Iterator[Fact]:
        """An error inside the stream: what arrived stays, open calls are truncated."""
        self.outcome = "failed"
        yield Fact("error", value=error)
        yield from self.calls.abandon("truncated")
