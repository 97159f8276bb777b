"""Tells pieces from repetitions: some servers send everything so far in every delta.

The second delta decides whether to doubt: only if it continues the first is it held back until the third.
"""

from __future__ import annotations


class Increments:
    def __init__(self) -> None:
        self.cumulative = False
        self._seen = 0
        self._last = ""
        self._held: str | None = None

    def take(self, delta: str) -> str:
        """What is new in ``delta``; empty while it is held back."""
        if not delta:
            return ""
        if self.cumulative:
            last, self._last = self._last, delta
            return delta[len(last) :] if delta.startswith(last) else delta
        self._seen += 1
        if self._seen == 1:
            self._last = delta
        elif self._seen == 2:
            if len(delta) > len(self._last) and delta.startswith(self._last):
                self._held = delta
                return ""
            self._last = ""
        elif self._held is not None:
            held, self._held = self._held, None
            if len(delta) >= len(held) and delta.startswith(held):
                self.cumulative = True
                first, self._last = self._last, delta
                return delta[len(first) :]
            self._last = ""
            return held + delta
        return delta

    def flush(self) -> str:
        """What is still held back. Two deltas prove nothing, so it counts as new text."""
        held, self._held = self._held or "", None
        return held
