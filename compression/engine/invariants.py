"""What must hold for every replay, checked on the result and not on the code that made it.

Each check states what is broken and where; an empty list is the proof that a report shows. Each rung of the fallback
ladder is held to the zones at its start.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from compression.engine.columns import window_tokens
from compression.engine.edits import LADDER, Edit, Event, Note
from compression.engine.fidelity import fidelity
from compression.engine.history import Request
from compression.engine.references import REFERENCES
from compression.engine.rendering import rendered
from compression.engine.replay import Replay
from compression.engine.snapshots import DIGITS, SCHEME, digest
from compression.engine.standing import Standing
from compression.engine.tokens import MESSAGE_OVERHEAD, part_texts
from compression.engine.transcript import PartKind
from compression.engine.zones import Cutter, Zones


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise: which one, at which turn, in words."""

    rule: str
    turn: int
    detail: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What a replay's stubs and events were found to be. ``addresses`` and ``claims`` are denominators."""

    violations: tuple[Violation, ...]
    addresses: int
    resolved: int
    claims: int
    true_claims: int


def prove(replay: Replay, *, claims_too: bool = True) -> Proof:
    """Check every event and every stub of a replay. O(events x window + text of what was stubbed).

    Without ``claims_too`` no stub is read beside its original, which takes longer than all the rest: no claim is
    counted then, and violations are found all the same.
    A reference policy may break the rules that its original breaks; those are no violations of it.
    """
    violations: list[Violation] = []
    cutter = replay.cutter()
    pairs = _Pairs(replay)
    for event in replay.events:
        if event.kind != "recorded":
            violations += _event_violations(replay, event, cutter)
        note = cutter.standing.note(event.turn)
        before = _window(replay, event.turn, cutter.standing)
        cutter.tell(event)
        if event.kind != "recorded":
            violations += _figure_violations(replay, event, before, cutter.standing)
            violations += _note_violations(replay, event, note)
        violations += _zone_violations(cutter.at(event.turn))
        violations += pairs.violations(event.turn, cutter.standing.request(event.turn))
    violations += _table_violations(replay)
    if replay.policy.reference is not None:
        excused = REFERENCES[replay.policy.reference].breaks
        violations = [violation for violation in violations if violation.rule not in excused]
    edits = [edit for event in replay.events for edit in event.edits if edit.address]
    notes = [event.note for event in replay.events if event.note is not None and event.note.address]
    claims = true_claims = 0
    shas = sorted({*(edit.sha256 for edit in edits), *(note.sha256 for note in notes)})
    resolved = sum(_resolves(note.text, note.address, note.sha256, note.sha256, shas) for note in notes)
    for edit in edits:
        original = _original(replay, edit)
        resolved += _resolves(edit.text, edit.address, edit.sha256, digest(original), shas)
        if claims_too and edit.kind in ("stub", "text"):
            true, total, _ = fidelity(original, edit.text.partition("\n")[2], edit.counts)
            claims += total
            true_claims += true
    return Proof(tuple(violations), len(edits) + len(notes), resolved, claims, true_claims)


def _original(replay: Replay, edit: Edit) -> str:
    """What an edit stands for: the text of its part; where that came as a stub, what the stub stands for."""
    text = replay.transcript.messages[edit.message].parts[edit.part].text
    sha = replay.known.stubs.get(digest(text)) if replay.known.stubs else None
    kept = None if sha is None else replay.known.originals(sha)
    return text if kept is None else kept


def _resolves(text: str, address: str, stated: str, sha: str, shas: Sequence[str]) -> bool:
    """Whether the address in a text means its original, and among ``shas`` (sorted) nothing else."""
    digits = address.removeprefix(SCHEME)
    at = bisect_left(shas, digits)
    alone = at + 1 >= len(shas) or not shas[at + 1].startswith(digits)
    return f" {address}]" in text and stated == sha and sha.startswith(digits) and len(digits) >= DIGITS and alone


_CHANGES: Mapping[str, PartKind] = {
    "stub": "tool_result",
    "superseded": "tool_result",
    "arguments": "tool_call",
    "thinking": "thinking",
    "text": "text",
}
"""Which kind of part each kind of edit may stand for."""


def _event_violations(replay: Replay, event: Event, cutter: Cutter) -> Iterator[Violation]:
    """What an event changed and took out, against the zones at its start."""
    turn, messages, counter = event.turn, replay.transcript.messages, replay.stubber.counter
    zones = cutter.at(turn, event.recent_budget)
    standing = cutter.standing.edits
    for edit in event.edits:
        part = messages[edit.message].parts[edit.part]
        where = f"message {edit.message}, part {edit.part}"
        zone = zones.of_message(edit.message)
        allowed = ("compressible", "recent") if event.kind == "arrival" else ("compressible",)
        if zone not in allowed or edit.message in zones.pinned:
            yield Violation("sacred bytes stay", turn, f"{where} lies in {zone or 'no zone'}")
        if event.kind == "arrival" and turn and edit.message < replay.course.windows[turn - 1].end:
            yield Violation("sacred bytes stay", turn, f"{where} had been sent before")
        if part.signature or part.kind in ("opaque", "media"):
            yield Violation("signed and opaque parts stay", turn, f"{where} is {part.kind}")
        if edit.kind != "placeholder" and part.kind != _CHANGES.get(edit.kind):
            yield Violation("edits fit their parts", turn, f"{where} is {part.kind}, changed as {edit.kind}")
        if part.kind == "tool_call" and not _is_json(edit.text):
            yield Violation("arguments stay JSON", turn, where)
        earlier = standing.get((edit.message, edit.part))
        came = bool(replay.known.stubs) and digest(part.text) in replay.known.stubs
        if came and event.kind not in LADDER:
            yield Violation("a stub is frozen", turn, f"{where} came as a stub")
        if earlier is not None and (event.kind not in LADDER or edit.tokens_after >= earlier.tokens_after):
            yield Violation("a stub is frozen", turn, f"{where} was already changed")
        counted, recounted = (sum(counter.count_many(part_texts(one))) for one in (part, replace(part, text=edit.text)))
        if (counted, recounted) != (edit.tokens_before, edit.tokens_after):
            yield Violation("tokens reported are recounted", turn, f"{where}: {counted} -> {recounted} tokens")
        if edit.tokens_after >= edit.tokens_before or _bytes(edit.text) >= _bytes(part.text):
            yield Violation("no message grows", turn, f"{where}: {edit.tokens_before} -> {edit.tokens_after} tokens")
    for i in event.left:
        zone = zones.of_message(i)
        if zone != "compressible":
            yield Violation("sacred bytes stay", turn, f"message {i} left from {zone or 'outside'}")
    changed = (*(edit.message for edit in event.edits), *event.left)
    places = {i: zones.request.ordinal(i) for i in changed}
    first = min(places, key=lambda i: (places[i] is None, places[i] or 0), default=None)
    if first != event.first_changed_message:
        yield Violation("everything before the first edit stays", turn, f"the first edit is in message {first}")


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _figure_violations(replay: Replay, event: Event, before: int, standing: Standing) -> Iterator[Violation]:
    after = _window(replay, event.turn, standing)
    if (before, after) != (event.before, event.after):
        detail = f"{event.before} -> {event.after} reported, {before} -> {after} recounted"
        yield Violation("tokens reported are recounted", event.turn, detail)
    if event.after > event.before:
        yield Violation("an event frees tokens", event.turn, f"{event.before} -> {event.after}")


def _window(replay: Replay, turn: int, standing: Standing) -> int:
    """Calibrated tokens of a request, added up message by message."""
    request, note = standing.request(turn), standing.note(turn)
    held = {*request.indexes()}
    freed = sum(e.tokens_before - e.tokens_after for e in standing.edits.values() if e.message in held)
    counted = sum(replay.course.sizes[i] for i in held) - freed + (note.tokens if note else 0)
    return window_tokens(replay.calibration, counted, replay.course.unknown_left[turn])


def _note_violations(replay: Replay, event: Event, earlier: Note | None) -> Iterator[Violation]:
    """Whether the address of what left means just that, and the note costs what it says."""
    note = event.note
    if note is None:
        return
    if note.address:
        messages = replay.transcript.messages
        text = rendered((messages[i] for i in event.left), earlier.text if earlier else "")
        if digest(text) != note.sha256:
            yield Violation("every address resolves", event.turn, f"{note.address} is not what left")
    if not note.simulated and replay.stubber.counter.count(note.text) + MESSAGE_OVERHEAD != note.tokens:
        yield Violation("tokens reported are recounted", event.turn, f"the note has not {note.tokens} tokens")


def _zone_violations(zones: Zones) -> Iterator[Violation]:
    """Head, what lies between, and recent are the request; a pin lies between; recent holds a message."""
    request = zones.request
    between = {*request.indexes(zones.head, zones.recent)}
    if (
        not 0 <= zones.head <= zones.recent <= len(request)
        or not between.issuperset(zones.pinned)
        or (zones.head < len(request) and zones.recent == len(request))
    ):
        detail = f"head {zones.head}, recent {zones.recent}"
        yield Violation("zones partition the window", request.end, detail)


class _Pairs:
    """Calls and results: a request holds both or neither; what the log itself lacks was never there."""

    def __init__(self, replay: Replay) -> None:
        self._pairs: list[tuple[int, int]] = []
        if replay.course.history == "as-recorded":
            return  # what the agent cut itself is the log's business
        callers: dict[str, int] = {}
        for message in replay.transcript.messages:
            if message.index in replay.course.excluded:
                continue
            for part in message.parts:
                if part.kind == "tool_call":
                    callers[part.call_id] = message.index
                elif part.kind == "tool_result" and part.call_id in callers:
                    self._pairs.append((callers[part.call_id], message.index))

    def violations(self, turn: int, request: Request) -> Iterator[Violation]:
        held = {*request.indexes()}
        for call, result in self._pairs:
            if result < request.end and (call in held) != (result in held):
                yield Violation("calls and results stay together", turn, f"messages {call} and {result} were parted")


def _table_violations(replay: Replay) -> Iterator[Violation]:
    """The walk's running sums against sums over the messages, at both ends and around every event."""
    turns = len(replay.transcript.turns)
    around = {t for event in replay.events for t in (event.turn - 1, event.turn)}
    standing, at = Standing(replay.course), 0
    for turn in sorted(t for t in {0, turns - 1, *around} if 0 <= t < turns):
        while at < len(replay.events) and replay.events[at].turn <= turn:
            standing.tell(replay.events[at])
            at += 1
        tokens = _window(replay, turn, standing)
        if tokens != replay.windows_after[turn]:
            detail = f"{replay.windows_after[turn]} reported, {tokens} recounted"
            yield Violation("tokens reported are recounted", turn, detail)
