"""Walks a session under a reference, call by call: what it proposes is done at once, and nothing else happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from compression.engine.calibration import Calibration
from compression.engine.columns import window_tokens
from compression.engine.edits import Event, Step
from compression.engine.history import History, Request, course_of
from compression.engine.references import REFERENCES, Now
from compression.engine.standing import Standing
from compression.engine.tokens import CachedCounter
from tests.compression.engine.builders import SessionBuilder


@dataclass(frozen=True, slots=True)
class Watched(Request):
    """A request that notes how many of its messages were asked for."""

    read: list[int] = field(default_factory=list, compare=False)

    def indexes(self, first: int = 0, last: int | None = None) -> Sequence[int]:
        found = Request.indexes(self, first, last)
        self.read.append(len(found))
        return found


@dataclass
class Walked:
    """``steps`` by turn; ``windows`` = (messages, calibrated tokens) of each turn after its step; ``read`` = messages
    that the reference asked the windows for."""

    steps: dict[int, Step]
    windows: list[tuple[list[int], int]]
    standing: Standing
    read: int

    def texts(self, kind: str | None = None) -> dict[int, str]:
        """message -> what stands in it at the end, of edits of a kind."""
        return {e.message: e.text for e in self.standing.edits.values() if kind in (None, e.kind)}

    @property
    def edited(self) -> list[int]:
        """The messages that were changed, in their order."""
        return sorted(self.texts())


def walk(
    session: SessionBuilder,
    name: str,
    *,
    limit: int = 1_000_000,
    calibration: Calibration | None = None,
    history: History = "uncompacted",
    **parameters: Any,
) -> Walked:
    """A whole session under a reference."""
    calibration, reference = calibration or Calibration(), REFERENCES[name]
    course = course_of(session.build(), history)
    standing, counter = Standing(course), CachedCounter(session.counter)
    begun = reference.begin(reference.parameters(**parameters))
    steps: dict[int, Step] = {}
    windows, read = [], 0
    for turn in range(len(course.windows)):
        request = standing.request(turn)
        watched = Watched(request.kept, request.start, request.end)
        tokens = window_tokens(calibration, standing.counted(turn), course.unknown_left[turn])
        now = Now(
            turn, watched, tokens, limit, calibration, course, standing.sizes, standing.edits, standing.note(turn),
            counter,
        )  # fmt: skip
        step = begun.act(now)
        read += sum(watched.read)
        if step is not None:
            steps[turn] = step
            standing.tell(Event(turn, "compress", 0, 0, edits=step.edits, left=step.left, note=step.note))
        after = window_tokens(calibration, standing.counted(turn), course.unknown_left[turn])
        windows.append(([*standing.request(turn).indexes()], after))
    return Walked(steps, windows, standing, read)
