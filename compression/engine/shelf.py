"""What was worked out lately, up to a weight: what was not asked for longest goes first.

For values that depend on their key alone. It works out nothing itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock


class Shelf[K: Hashable, V]:
    """Values by key, together no heavier than ``limit``; the newest stays whatever it weighs. Safe between threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            row = self._held.get(key)
            if row is None:
                return None
            self._held.move_to_end(key)
            return row[0]

    def put(self, key: K, value: V, weight: int) -> V:
        """Keep a value; gives it back."""
        with self._lock:
            self._weight += weight - self._held.pop(key, (None, 0))[1]
            self._held[key] = value, weight
            while self._weight > self._limit and len(self._held) > 1:
                self._weight -= self._held.popitem(last=False)[1][1]
        return value
