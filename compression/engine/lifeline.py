"""The lifeline of one name: the turns where it was seen, stubbed, gone, recalled and used under a replay.

The agent's own recorded compactions count like a policy's events: what left is what the window no longer holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from compression.engine.history import Course
from compression.engine.occurrences import View, occurrences_of
from compression.engine.pins import RECALL_TOOLS
from compression.engine.replay import Replay
from compression.engine.retention import by_message, texts_of
from compression.engine.standing import Standing

State = Literal["seen", "used", "recalled", "stubbed", "gone"]


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened to a name at a turn. ``message`` says it (None when it left the window with several);
    ``address`` leads to an original that has it, when there is one."""

    turn: int
    state: State
    message: int | None
    address: str = ""


def lifeline(replay: Replay, name: str) -> tuple[Moment, ...]:
    """Everything that happened to ``name``, oldest first. O(messages that say it x events).

    ``stubbed``: a result that said it was stubbed and the window still says it; ``gone``: the window no longer does.
    A message belongs to the first call that sent it, a response to the call that gave it.
    """
    course, names = replay.course, occurrences_of(replay.course)
    said = list(names.messages(name)) if name else []
    moments = [moment for i in said if (moment := _arrival(course, i)) is not None]
    standing = Standing(course)
    for event in replay.events:
        before = _holders(standing, name, said, event.turn, event.left)
        standing.tell(event)
        changed = [edit for edit in event.edits if edit.message in before]
        if not changed and not before.intersection(event.left):
            continue
        address = next((edit.address for edit in changed if edit.address), "")
        if not address and event.note is not None and before.intersection(event.left):
            address = event.note.address
        if _holders(standing, name, said, event.turn, ()):
            moments += [Moment(event.turn, "stubbed", edit.message, edit.address) for edit in changed]
        else:
            moments.append(Moment(event.turn, "gone", changed[0].message if len(changed) == 1 else None, address))
    # At one turn the event comes before the response that the call gave, after what the request brought.
    rank = {"seen": 0, "recalled": 0, "stubbed": 1, "gone": 1, "used": 2}
    return tuple(sorted(moments, key=lambda m: (m.turn, rank[m.state], -1 if m.message is None else m.message)))


def _arrival(course: Course, i: int) -> Moment | None:
    message, turn = course.transcript.messages[i], course.arrivals[i]
    if message.role == "assistant":
        return Moment(turn - 1, "used", i) if turn else None
    if turn >= len(course.transcript.turns):
        return None
    recalls = any(part.kind == "tool_result" and fnmatchcase(part.name.lower(), RECALL_TOOLS) for part in message.parts)
    return Moment(turn, "recalled" if recalls else "seen", i)


def _holders(standing: Standing, name: str, said: list[int], turn: int, leaving: tuple[int, ...]) -> set[int]:
    """The messages of a turn's window, and of what is ``leaving`` it, that say a name as they stand."""
    window, left, edits = standing.request(turn), set(leaving), by_message(standing.edits.values())
    messages = standing.course.transcript.messages
    return {
        i
        for i in said
        if (i in left or window.ordinal(i) is not None)
        and (i not in edits or View(texts_of(messages[i], edits[i])).holds(name))
    }
