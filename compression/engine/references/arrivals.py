"""What came into a window since a reference last looked, so that an ordinary call costs what is new and no more.

A window that became another one - messages left it, or the agent reset it - is new as a whole. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence

from compression.engine.pins import is_prompt
from compression.engine.references.protocol import Now


class Arrivals:
    """Asked once a call."""

    def __init__(self) -> None:
        self._window: tuple[object, object] = ((), 0)
        self._end = 0

    def take(self, now: Now) -> tuple[bool, Sequence[int]]:
        """Whether the window is another one, and the messages to look at: all of it then, else the new ones."""
        request, window, end = now.request, (now.request.kept, now.request.start), self._end
        self._end = request.end
        if window == self._window and end <= request.end:
            return False, range(end, request.end)
        self._window = window
        return True, request.indexes()


class Results:
    """The tool results of a window, oldest first.

    ``rows`` are (message, part, tokens as logged). ``done`` = rows before it were dealt with; it falls back to 0 with
    another window, so that ``Now.edits`` has the last word. ``open_tokens`` adds up the rows that were not replaced
    when they came, or at the last ``weigh``.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int]] = []
        self.done = 0
        self.open_tokens = 0
        self._arrivals = Arrivals()

    def follow(self, now: Now) -> bool:
        """Take in what came; whether the window is another one."""
        fresh, indexes = self._arrivals.take(now)
        if fresh:
            self.rows, self.done, self.open_tokens = [], 0, 0
        if isinstance(indexes, range):
            found = now.course.results_between(indexes.start, indexes.stop)
        else:
            held = {*indexes}
            found = [row for row in now.course.results_between(0, now.request.end) if row[0] in held]
        self.rows += found
        self.open_tokens += sum(tokens for i, j, tokens in found if (i, j) not in now.edits)
        return fresh

    def weigh(self, replaced: frozenset[tuple[int, int]], now: Now) -> None:
        """Add up anew, less what is being replaced: O(rows)."""
        self.open_tokens = sum(n for i, j, n in self.rows if (i, j) not in now.edits and (i, j) not in replaced)


def in_window(now: Now) -> list[int]:
    """The messages of a request that were really sent, oldest first: O(window)."""
    return [i for i in now.request.indexes() if i not in now.course.excluded]


def lead_in(now: Now, window: Sequence[int]) -> int:
    """How many messages of a window come before the first typed prompt: system messages, memory, rules."""
    messages = now.course.transcript.messages
    for ordinal, i in enumerate(window):
        if messages[i].role not in ("system", "user") or is_prompt(messages[i]):
            return ordinal
    return len(window)
