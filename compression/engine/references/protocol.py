"""What a reference policy is: another agent's way of making room, as a small planner of its own.

A reference proposes steps; the walk carries them out and does the counting. It may break rules that our own
policies keep, when the original does so too: it has to name them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel

from compression.engine.calibration import Calibration
from compression.engine.edits import Edit, Note, Step
from compression.engine.history import Course, Request
from compression.engine.tokens import CachedCounter


@dataclass(frozen=True, slots=True)
class Now:
    """A window before a model call.

    ``tokens`` are calibrated and hold the hidden prefix, ``limit`` is the context window. ``sizes[i]`` and ``edits``
    are the messages as they stand (uncalibrated tokens), ``note`` what stands for those that left.
    """

    turn: int
    request: Request
    tokens: int
    limit: int
    calibration: Calibration
    course: Course
    sizes: list[int]
    edits: Mapping[tuple[int, int], Edit]
    note: Note | None
    counter: CachedCounter


class Session(Protocol):
    """One session under a reference; it may remember what it did."""

    def act(self, now: Now) -> Step | None:
        """What happens before this call; None = nothing. Asked once for every turn, in order."""
        ...


@dataclass(frozen=True)
class Reference:
    """A reference policy. ``source`` says where its rules are documented, for which ``version``; ``simulated`` what
    stands in for a model's work, empty when nothing does. ``breaks`` = rules of ``invariants`` that the original
    breaks. ``begin(parameters)`` starts a session."""

    name: str
    about: str
    version: str
    source: str
    parameters: type[BaseModel]
    begin: Callable[[Any], Session]
    simulated: str = ""
    breaks: frozenset[str] = field(default=frozenset())
