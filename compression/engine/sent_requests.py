"""What a provider's prompt cache is told of the requests of a replay: how large, how much as before, how long idle.

Reads what happened; decides nothing. O(messages + events), nothing is tokenised here: how far a changed message still
begins as it did stands in the event (``cache_prefix_survival``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from compression.engine.edits import Event
from compression.engine.history import Course, Request
from compression.engine.lifetimes import idle_gaps
from compression.engine.prefix_cache import Mark, Sent
from compression.engine.replay import Replay
from compression.engine.terms import models_of
from compression.engine.transcript import Turn


def sent_requests(replay: Replay) -> tuple[Sent, ...]:
    """Every request of a replay as the policy left it."""
    transcript, course, after, k = replay.transcript, replay.course, replay.windows_after, replay.calibration.k
    blocks = _running_blocks(course)
    system = _system_mark(replay)
    gaps = idle_gaps(transcript)
    models = models_of(transcript)
    by_turn: dict[int, list[Event]] = {}
    for event in replay.events:
        if event.changes or event.reclaimed:
            by_turn.setdefault(event.turn, []).append(event)
    found = []
    for t, request in enumerate(replay.requests):
        tokens = after[t]
        whole = Mark(tokens, _blocks(request, blocks))
        arrived = min(request.end, transcript.turns[t - 1].response_end if t else 0)
        answered = Mark(
            max(system.tokens, tokens - round(k * (course.prefix[request.end] - course.prefix[arrived]))),
            whole.blocks - (blocks[request.end] - blocks[arrived]),
        )
        marks = tuple(mark for mark in (system, answered, whole) if mark.tokens <= tokens)
        changed = by_turn.get(t)
        if t and _sent_otherwise(transcript.turns[t - 1], transcript.turns[t]):
            found.append(Sent(tokens, marks, 0, "system", None, gaps[t], models[t]))
            continue
        if changed is None:
            found.append(Sent(tokens, marks, idle=gaps[t], model=models[t]))
            continue
        first = min(changed, key=lambda event: _unchanged(event, system))
        found.append(
            Sent(
                tokens,
                marks,
                _unchanged(first, system),
                "event" if first.changes else "foreign",
                first.first_changed_message,
                gaps[t],
                models[t],
            )
        )
    return tuple(found)


def _sent_otherwise(before: Turn, turn: Turn) -> bool:
    """Whether tools or system prompt changed: both stand before every message."""
    pairs = ((before.tools, turn.tools), (before.system, turn.system))
    return any(old and new and old != new for old, new in pairs)


def _unchanged(event: Event, system: Mark) -> int:
    """Tokens before the first change; a fall of the context that nothing explains leaves the system prompt only."""
    return round(event.cache_prefix_survival * event.before) if event.changes else system.tokens


def _system_mark(replay: Replay) -> Mark:
    course, parts, messages = replay.course, 0, 0
    for message in replay.transcript.messages:
        if message.role != "system":
            break
        messages += 1
        parts += len(message.parts)
    return Mark(replay.calibration.tokens(course.prefix[messages]), parts)


def _running_blocks(course: Course) -> tuple[int, ...]:
    """[i] = blocks of the messages before i; worked out once for a course."""
    key = f"blocks {course.history}"
    known: tuple[int, ...] | None = course.transcript.memo.get(key)
    if known is None:
        messages, excluded = course.transcript.messages, course.excluded
        known = tuple(accumulate((0 if m.index in excluded else max(1, len(m.parts)) for m in messages), initial=0))
        course.transcript.memo[key] = known
    return known


def _blocks(request: Request, running: Sequence[int]) -> int:
    return sum(running[i + 1] - running[i] for i in request.kept) + running[request.end] - running[request.start]
