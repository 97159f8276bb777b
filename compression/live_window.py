"""One model request through the engine: read, compressed, written back, and checked before anything leaves.

Knows neither database nor files: what was stubbed before, and its originals, are the caller's. A request that would
come out broken comes out as it went in, with an alarm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compression.dialects.request import Request
from compression.dialects.validation import violations
from compression.dialects.writing import Change, write
from compression.engine.allocation import prepare
from compression.engine.blocks import edit_fields
from compression.engine.calibration import Calibration
from compression.engine.edits import Edit, Event
from compression.engine.history import course_of
from compression.engine.live import compress_window
from compression.engine.planner import Known
from compression.engine.policy import Policy
from compression.engine.snapshots import digest
from compression.engine.stubs import Stubber
from compression.engine.tokens import default_counter, message_tokens, part_texts
from compression.engine.transcript import Transcript
from compression.engine.windows import window_for


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request. ``body`` is its new messages array, the very bytes that came where nothing changed.

    ``snapshots``: originals to keep, by sha256, before the body leaves. ``stubs``: sha256 of each text that stands
    in now -> sha256 of its original. ``before`` and ``after`` are calibrated tokens, hidden ones included.
    """

    body: bytes
    events: tuple[Event, ...]
    before: int
    after: int
    fits: bool
    context_window: int
    alarms: tuple[str, ...] = ()
    change: Change = field(default_factory=Change)
    snapshots: Mapping[str, str] = field(default_factory=dict)
    stubs: Mapping[str, str] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    memory_note: str = ""

    @property
    def event(self) -> Event | None:
        """The event that made the request what it is: the last one that changed something, else the last one."""
        acted = [event for event in self.events if event.changes]
        return next(reversed(acted or self.events), None)


def compress_request(
    request: Request,
    policy: Policy,
    *,
    model: str = "",
    hidden_tokens: int = 0,
    force: bool = False,
    known: Known | None = None,
    stubber: Stubber | None = None,
) -> Outcome:
    """Compress a request when it is over the policy's trigger, or at once with ``force``.

    Below it, what an event will need to know of each new message is worked out already, for the ``proposals`` of the
    stubber: the event that comes is then a fraction of the work.
    """
    known, stubber = known or Known(), stubber or Stubber()
    request = _with_marked_notes(request, known)
    transcript, calibration = request.transcript(model), request.calibration(model, hidden_tokens)
    done = compress_window(
        transcript,
        policy,
        calibration,
        force=force and not _is_done(transcript, policy, calibration, known),
        known=known,
        stubber=stubber,
    )
    if policy.allocation == "novelty" and not done.changed:
        prepare(course_of(transcript, "uncompacted"), stubber)
    texts = {place: edit.text for place, edit in done.edits.items()}
    note = done.note
    change = Change(
        texts={place: text for place, text in texts.items() if text != _text(request, place)},
        left=done.left,
        note=note.text if note else None,
        note_before=done.note_before if note else None,
    )
    written = write(request, change)
    broken = violations(request, change, written)
    if broken:
        reason = f"rolled back, nothing was changed: {'; '.join(broken)}"[:1_000]
        last = len(transcript.turns) - 1
        skipped = Event(last, "skip", done.before, done.before, reason=reason)
        return Outcome(
            request.array.source, (skipped,), done.before, done.before, done.fits and done.before == done.after,
            done.context_window, (*done.alarms, reason),
        )  # fmt: skip
    changed = tuple(edit for place, edit in sorted(done.edits.items()) if place in change.texts)
    return Outcome(
        body=written.body,
        events=tuple(done.events),
        before=done.before,
        after=done.after,
        fits=done.fits,
        context_window=done.context_window,
        alarms=tuple(done.alarms),
        change=change,
        snapshots=done.snapshots,
        stubs=_stubs(request, changed) | ({digest(note.text): note.sha256} if note and note.sha256 else {}),
        addresses=_addresses(changed, note.address if note else ""),
        edits=changed,
        memory_note=done.memory_note,
    )


def edit_place(request: Request, edit: Edit) -> dict[str, Any]:
    """An edit as it is published, with the item of the caller's array that it is in."""
    return {**edit_fields(edit), "place": f"messages[{request.sources[edit.message]}]"}


def _with_marked_notes(request: Request, known: Known) -> Request:
    """The request with our own earlier notes marked: they are no words of the user's."""
    if not known.stubs:
        return request
    messages = tuple(
        replace(message, flags=message.flags | {"injected"})
        if message.role == "user" and all(p.kind == "text" and digest(p.text) in known.stubs for p in message.parts)
        else message
        for message in request.messages
    )
    return replace(request, messages=messages)


def _is_done(transcript: Transcript, policy: Policy, calibration: Calibration, known: Known) -> bool:
    """Whether stubs that came with the window already bring it down to the target: asking again changes nothing."""
    window = window_for(transcript.model).tokens if policy.context_window == "auto" else int(policy.context_window)
    counted = sum(message_tokens(row) for row in transcript.counts)
    freed = 0
    for message, row in zip(transcript.messages, transcript.counts, strict=True):
        for part, tokens in zip(message.parts, row, strict=True):
            sha = known.stubs.get(digest(part.text)) if known.stubs and part.text else None
            original = None if sha is None else known.originals(sha)
            if original is not None:
                freed += sum(default_counter().count_many(part_texts(replace(part, text=original)))) - tokens
    goal = policy.target_ratio * min(window, calibration.tokens(counted + freed))
    return freed > 0 and calibration.tokens(counted) + policy.reserve_output <= goal + 1


def _text(request: Request, place: tuple[int, int]) -> str:
    return request.messages[place[0]].parts[place[1]].text


def _stubs(request: Request, changed: Sequence[Edit]) -> dict[str, str]:
    """What stands in -> its original; a text that left without a trace is nobody's stub."""
    return {
        digest(edit.text): edit.sha256 or digest(_text(request, (edit.message, edit.part)))
        for edit in changed
        if edit.text
    }


def _addresses(changed: Sequence[Edit], note: str) -> tuple[str, ...]:
    found = [edit.address for edit in changed if edit.address]
    return tuple(dict.fromkeys([*found, note] if note else found))
