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

_LONGEST_PROMPT = 20_000
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

    def share(self, name: str) -> float:
        """How much of a name the current work speaks of, 0..1."""
        own = _pieces_of_name(name)
        return len(own & self.pieces) / len(own) if own and self.pieces else 0.0


def pieces(text: str) -> frozenset[str]:
    """The words that names are made of (``parseUserId`` -> parse, user), short ones left out."""
    return frozenset(piece.lower() for piece in _PIECE.findall(text) if len(piece) >= _SHORTEST_PIECE)


def focus_of(course: Course, names: Occurrences, request: Request) -> Focus:
    """The work at the time of a request."""
    texts: list[str] = []
    prompt = ""
    left = ASSISTANT_MESSAGES
    for ordinal in reversed(range(len(request))):
        message = course.transcript.messages[request[ordinal]]
        if message.role == "assistant" and left and message.index not in course.excluded:
            left -= 1
            texts.append(names.texts[message.index])
        elif is_prompt(message) and message.index not in course.excluded:
            prompt = names.texts[message.index][:_LONGEST_PROMPT]
            break
    found = frozenset[str]().union(*(pieces(text) for text in (*texts, prompt)))
    return Focus(found, bool(_DIAGNOSIS.search("\n".join((*texts, prompt)))))


_pieces_of_name = lru_cache(maxsize=1 << 16)(pieces)
