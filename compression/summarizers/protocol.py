"""What a summarizer is: a name, and one call that gives a text or says why there is none."""

from __future__ import annotations

from typing import Protocol

from compression.engine.summaries import SummaryRequest


class SummaryFailed(Exception):
    """No summary. ``reason`` is in our own words: what a server said may hold a key or a session's text.

    ``final``: the next request would fail the same way, so nobody need be asked again for now.
    """

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.final = final


class Summarizer(Protocol):
    """Shortens texts; called from several threads at once."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def summarize(self, request: SummaryRequest, *, time_limit_s: float) -> str:
        """The summary as it came, unjudged. SummaryFailed when there is none within ``time_limit_s`` seconds."""
        ...
