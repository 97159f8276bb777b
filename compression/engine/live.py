"""One window of a running agent: what a policy does with it now, before it is sent.

The same walk as a replay's, for the last call only. Nothing is stored or sent here: the caller stores ``snapshots``
before it lets the window go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compression.engine.calibration import Calibration
from compression.engine.economy import Economy, economy_of
from compression.engine.edits import Edit, Event, Note
from compression.engine.history import Course, course_of
from compression.engine.planner import Known
from compression.engine.policy import Policy
from compression.engine.rendering import rendered
from compression.engine.standing import Standing
from compression.engine.state_header import memory_note, state_header
from compression.engine.stubs import Stubber
from compression.engine.terms import terms_of
from compression.engine.transcript import Transcript
from compression.engine.walk import Walk
from compression.engine.windows import window_for


@dataclass(frozen=True)
class Compression:
    """What happened to a window. ``before`` and ``after`` are calibrated tokens, hidden ones included.

    ``edits`` = what stands now, by (message, part); ``left`` = messages that are in the window no more; ``note`` stands
    for them, before message ``note_before`` (None = at the end). ``snapshots`` = originals by sha256.
    """

    events: tuple[Event, ...]
    edits: Mapping[tuple[int, int], Edit]
    left: tuple[int, ...]
    note: Note | None
    note_before: int | None
    snapshots: Mapping[str, str] = field(repr=False)
    before: int
    after: int
    context_window: int
    fits: bool
    alarms: tuple[str, ...]
    memory_note: str = ""

    @property
    def changed(self) -> bool:
        """Whether the window is another one now."""
        return any(event.changes for event in self.events)


def compress_window(
    transcript: Transcript,
    policy: Policy,
    calibration: Calibration,
    *,
    context_window: int | None = None,
    force: bool = False,
    known: Known | None = None,
    stubber: Stubber | None = None,
    economy: Economy | None = None,
) -> Compression:
    """What the policy does before the last call of ``transcript``; below the trigger nothing, unless ``force``.

    The transcript has a turn for every call, the last one's request being all messages. ``context_window`` counts where
    the policy leaves it to the model. ``known``: stubs that an earlier compression of the same window left in it.
    Raises ValueError for a transcript without turns.
    """
    if not transcript.turns:
        raise ValueError("a window needs at least one call: give the transcript a turn")
    stubber = stubber or Stubber()
    if economy is None and (policy.dollar_gate or policy.prefer_idle):
        economy = economy_of(terms_of(transcript))
    course, turn = course_of(transcript, "uncompacted"), len(transcript.turns) - 1
    if policy.context_window != "auto":
        limit = int(policy.context_window)
    else:
        limit = window_for(transcript.model, context_window or transcript.context_window, calibration.peak).tokens
    walk = Walk(course, policy, calibration, limit, stubber, known or Known(), economy, forced=force)
    before = walk.tokens(turn)
    walk.run(first=turn)
    standing = Standing(course)
    snapshots: dict[str, str] = {}
    for event in walk.events:
        snapshots |= _snapshots(course, event, standing.note(turn))
        standing.tell(event)
    request, note, after = standing.request(turn), standing.note(turn), walk.windows[turn]
    held = {*request.indexes()}
    at_end = note is None or note.ordinal >= len(request)
    changed = any(event.changes for event in walk.events)
    return Compression(
        events=tuple(walk.events),
        edits={place: edit for place, edit in standing.edits.items() if place[0] in held},
        left=tuple(i for i in course.windows[turn].indexes() if i not in held),
        note=note,
        note_before=None if note is None or at_end else request[note.ordinal],
        snapshots=snapshots,
        before=before,
        after=after,
        context_window=limit,
        fits=after + policy.reserve_output <= limit,
        alarms=tuple(walk.alarms),
        memory_note=_memory_note(course, turn) if policy.memory_note and changed else "",
    )


def _snapshots(course: Course, event: Event, note: Note | None) -> dict[str, str]:
    """The originals of what an event changed or took out; those of stubs that came with the window are stored."""
    messages = course.transcript.messages
    found = {
        edit.sha256: messages[edit.message].parts[edit.part].text
        for edit in event.edits
        if edit.sha256 and edit.sha256 == course.sha(edit.message, edit.part)
    }
    if event.note is not None and event.note.sha256:
        found[event.note.sha256] = rendered((messages[i] for i in event.left), note.text if note else "")
    return found


def _memory_note(course: Course, turn: int) -> str:
    request = course.windows[turn]
    return memory_note(state_header(course, request, request.end))
