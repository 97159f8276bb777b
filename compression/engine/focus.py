"""What the agent is working on: the latest request and its own last messages, in pieces of names.

Only messages of the request are read, so nothing later can leak in. Whether a line serves the work is
decided by names and, for work on performance or a hunt for a bug, by DEBUG lines and timings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from compression.engine.history import Course, Request
from compression.engine.occurrences import Occurrences
from compression.engine.pins import is_prompt

ASSISTANT_MESSAGES = 8
"""How many of the assistant's last messages say what it is doing."""

_LONGEST = 20_000
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHORTEST_PIECE = 4
_DIAGNOSIS = re.compile(
    r"\b(?:debug(?:ging)?|profil(?:e|er|ing)|performance|latency|slow(?:er|ly|ness)?|speed up|bottleneck|timings?|"
    r"time[sd]? ?out|hangs?|race condition|deadlock|memory leak|trace (?:the|this|down|why)|throughput|benchmark)\b"
    r"|调试|性能|延迟|慢|超时",
    re.IGNORECASE,
)
DIAGNOSTIC = re.compile(
    r"\b(?:DEBUG|TRACE|debug|trace)\b|\b\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|sec|seconds|min)\b|"
    r"\b(?:elapsed|duration|took|latency|wall)\b"
)
"""Lines that count as important while the task is about a bug or about speed."""


@dataclass(frozen=True, slots=True)
class Focus:
    """``pieces`` of names and words in use, lower case; ``diagnosing``: DEBUG lines and timings matter now."""

    pieces: frozenset[str] = frozenset()
    diagnosing: bool = False


def pieces(text: str) -> frozenset[str]:
    """The words that names are made of (``parseUserId`` -> parse, user), short ones left out."""
    return frozenset(piece.lower() for piece in _PIECE.findall(text) if len(piece) >= _SHORTEST_PIECE)


def focus_of(course: Course, names: Occurrences, request: Request) -> Focus:
    """The work at the time of a request."""
    found: set[str] = set()
    diagnosing = False
    left = ASSISTANT_MESSAGES
    for ordinal in reversed(range(len(request))):
        message = course.transcript.messages[request[ordinal]]
        prompt = is_prompt(message)
        if message.index in course.excluded or not (prompt or (message.role == "assistant" and left)):
            continue
        own, hunts = _work(names.texts[message.index][:_LONGEST])
        found |= own
        diagnosing = diagnosing or hunts
        if prompt:
            break
        left -= 1
    return Focus(frozenset(found), diagnosing)


@lru_cache(maxsize=1_024)
def _work(text: str) -> tuple[frozenset[str], bool]:
    return pieces(text), _DIAGNOSIS.search(text) is not None


def attend(text: str) -> None:
    """A prompt or an assistant's message arrived: what it says of the work is kept for the next events."""
    _work(text[:_LONGEST])


pieces_of_name = lru_cache(maxsize=1 << 16)(pieces)
