"""What a stream shows of its endpoint: when the first of everything came, in how many pieces, and whether arguments
really stream. Times are in milliseconds since the request, or since the first byte when nobody timed the request; a
recording without arrival times has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sessions.streaming.facts import Fact

# Arguments shorter than this fit into one piece anywhere and prove nothing.
LEAST_CHARACTERS = 40
BURST_SHARE = 0.05
BURST_SECONDS = 0.05
COARSE_CHARACTERS = 200


class Profile:
    def __init__(self, requested_at: float | None = None) -> None:
        self.chunks = 0
        self.argument_pieces = 0
        self.argument_characters = 0
        self.text_pieces = 0
        self.thinking_pieces = 0
        self.first_token_is_thinking = False
        self._start = requested_at
        self._first: dict[str, float] = {}
        self._last_argument: float | None = None
        self._last_bytes: float | None = None
        self._longest_gap: float | None = None

    def heard(self, at: float | None) -> None:
        """Bytes arrived."""
        if at is None:
            return
        if self._start is None:
            self._start = at
        self._first.setdefault("byte", at)
        if self._last_bytes is not None:
            self._longest_gap = max(self._longest_gap or 0.0, at - self._last_bytes)
        self._last_bytes = at

    def event(self, facts: Iterable[Fact], fragments: int, characters: int, at: float | None) -> None:
        """One event of the protocol: its facts, and how many non-empty argument fragments it brought."""
        self.chunks += 1
        self.argument_pieces += fragments
        self.argument_characters += characters
        for fact in facts:
            match fact.type:
                case "text" | "thinking" if fact.text:
                    self.text_pieces += fact.type == "text"
                    self.thinking_pieces += fact.type == "thinking"
                    self.first_token_is_thinking |= fact.type == "thinking" and not self._token_seen
                    self._mark("token", at)
                case "tool_named":
                    self._mark("tool", at)
                    self._mark("token", at)
        if fragments:
            self._mark("argument", at)
            self._last_argument = at

    @property
    def _token_seen(self) -> bool:
        return self.text_pieces + self.thinking_pieces > 1 or "token" in self._first

    def _mark(self, name: str, at: float | None) -> None:
        if at is not None:
            self._first.setdefault(name, at)

    def _ms(self, name: str) -> float | None:
        if name not in self._first or self._start is None:
            return None
        return round((self._first[name] - self._start) * 1000, 1)

    def verdict(self) -> tuple[str, bool | None, str]:
        """The class, whether arguments stream (None: not known), and why in words."""
        pieces, characters = self.argument_pieces, self.argument_characters
        if not pieces:
            return "none", None, "The stream brought no arguments in pieces."
        if characters < LEAST_CHARACTERS:
            return (
                "single_chunk" if pieces == 1 else "fine",
                None,
                f"{characters} characters of arguments prove nothing; ask for a call with a long argument.",
            )
        if pieces == 1:
            return "single_chunk", False, f"All {characters} characters of arguments came in one piece."
        first, total = self._first.get("argument"), self._total()
        if first is not None and self._last_argument is not None and total is not None:
            window = self._last_argument - first
            if window < BURST_SECONDS or window < BURST_SHARE * total:
                return "burst", False, f"{pieces} pieces came within {window * 1000:.0f} ms: as good as one."
        if characters > COARSE_CHARACTERS * pieces:
            return "coarse", True, f"{pieces} pieces of {characters / pieces:.0f} characters on average: few and long."
        timed = "" if first is not None else "; without arrival times nobody can say whether they came at once"
        return "fine", True, f"{characters} characters of arguments came in {pieces} pieces{timed}."

    def _total(self) -> float | None:
        if self._start is None or self._last_bytes is None:
            return None
        return self._last_bytes - self._start

    def as_row(self) -> dict[str, Any]:
        kind, streams, why = self.verdict()
        gap = self._longest_gap
        pieces = self.argument_pieces
        return {
            "type": "profile",
            "first_byte_ms": self._ms("byte"),
            "first_token_ms": self._ms("token"),
            "first_token_is_thinking": self.first_token_is_thinking,
            "first_tool_name_ms": self._ms("tool"),
            "first_argument_ms": self._ms("argument"),
            "argument_pieces": pieces,
            "text_pieces": self.text_pieces,
            "thinking_pieces": self.thinking_pieces,
            "chunks": self.chunks,
            "longest_gap_ms": None if gap is None else round(gap * 1000, 1),
            "bytes_per_piece": round(self.argument_characters / pieces, 1) if pieces else None,
            "class": kind,
            "streams_arguments": streams,
            "why": why,
        }
