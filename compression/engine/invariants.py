"""What must hold for every replay, checked on the result and not on the code that made it.

Each check states what is broken and where; an empty list is the proof that a report shows. Rungs of
the fallback ladder have rules of their own and are not known here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compression.engine.columns import window_tokens
from compression.engine.edits import Edit, Event
from compression.engine.fidelity import fidelity
from compression.engine.replay import Replay
from compression.engine.snapshots import DIGITS, SCHEME, digest
from compression.engine.zones import Zones


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


def prove(replay: Replay) -> Proof:
    """Check every event and every stub of a replay. O(events x window + text of what was stubbed)."""
    violations: list[Violation] = []
    standing: dict[tuple[int, int], Edit] = {}
    cutter = replay.cutter()
    for event in replay.events:
        if event.kind != "recorded":
            violations += _event_violations(replay, event, cutter.at(event.turn), standing)
        cutter.tell(event)
        standing.update(((edit.message, edit.part), edit) for edit in event.edits)
        violations += _zone_violations(replay, event.turn, cutter.at(event.turn))
        violations += _pair_violations(replay, event)
    violations += _table_violations(replay)
    stubs = [edit for event in replay.events for edit in event.edits if edit.kind == "stub"]
    resolved = claims = true_claims = 0
    shas = sorted({edit.sha256 for edit in stubs})
    for edit in stubs:
        original = replay.transcript.messages[edit.message].parts[edit.part].text
        resolved += _resolves(edit, digest(original), shas)
        true, total, _ = fidelity(original, edit.text.partition("\n")[2], edit.counts)
        claims += total
        true_claims += true
    return Proof(tuple(violations), len(stubs), resolved, claims, true_claims)


def _resolves(edit: Edit, sha: str, shas: Sequence[str]) -> bool:
    """Whether the address in a stub means its original, and among ``shas`` (sorted) nothing else."""
    digits = edit.address.removeprefix(SCHEME)
    at = bisect_left(shas, digits)
    alone = at + 1 >= len(shas) or not shas[at + 1].startswith(digits)
    named = f" {edit.address}]" in edit.text.partition("\n")[0]
    return named and edit.sha256 == sha and sha.startswith(digits) and len(digits) >= DIGITS and alone


def _event_violations(
    replay: Replay, event: Event, zones: Zones, standing: Mapping[tuple[int, int], Edit]
) -> Iterator[Violation]:
    turn = event.turn
    pinned = {*zones.pinned}
    for edit in event.edits:
        part = replay.transcript.messages[edit.message].parts[edit.part]
        where = f"message {edit.message}, part {edit.part}"
        zone = zones.of_message(edit.message)
        allowed = ("compressible", "recent") if event.kind == "arrival" else ("compressible",)
        if zone not in allowed or edit.message in pinned:
            yield Violation("sacred bytes stay", turn, f"{where} lies in {zone or 'no zone'}")
        if event.kind == "arrival" and turn and edit.message < replay.course.windows[turn - 1].end:
            yield Violation("sacred bytes stay", turn, f"{where} had been sent before")
        if part.kind != "tool_result":
            yield Violation("only tool results change", turn, f"{where} is {part.kind}")
        if (edit.message, edit.part) in standing:
            yield Violation("a stub is frozen", turn, f"{where} was already a stub")
        counted, recounted = replay.stubber.counter.count_many([part.text, edit.text])
        if (counted, recounted) != (edit.tokens_before, edit.tokens_after):
            yield Violation("tokens reported are recounted", turn, f"{where}: {counted} -> {recounted} tokens")
        if edit.tokens_after >= edit.tokens_before or _bytes(edit.text) >= _bytes(part.text):
            yield Violation("no message grows", turn, f"{where}: {edit.tokens_before} -> {edit.tokens_after} tokens")
    places = {edit.message: zones.request.ordinal(edit.message) for edit in event.edits}
    first = min(places, key=lambda i: (places[i] is None, places[i] or 0), default=None)
    if first != event.first_changed_message:
        yield Violation("everything before the first edit stays", turn, f"the first edit is in message {first}")
    before = _window(replay, turn, standing)
    after = _window(replay, turn, {**standing, **{(edit.message, edit.part): edit for edit in event.edits}})
    if (before, after) != (event.before, event.after):
        detail = f"{event.before} -> {event.after} reported, {before} -> {after} recounted"
        yield Violation("tokens reported are recounted", turn, detail)
    if event.after > event.before:
        yield Violation("an event frees tokens", turn, f"{event.before} -> {event.after}")


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _window(replay: Replay, turn: int, standing: Mapping[tuple[int, int], Edit]) -> int:
    """Calibrated tokens of a request, added up message by message."""
    held = replay.course.windows[turn].indexes()
    freed = sum(e.tokens_before - e.tokens_after for e in standing.values() if e.message in held)
    counted = sum(replay.course.sizes[i] for i in held) - freed
    return window_tokens(replay.calibration, counted, replay.course.unknown_left[turn])


def _zone_violations(replay: Replay, turn: int, zones: Zones) -> Iterator[Violation]:
    """Head, what lies between, and recent are the request; a pin lies between; recent holds a message."""
    request = replay.course.windows[turn]
    whole = zones.request == request and 0 <= zones.head <= zones.recent <= len(request)
    between = {*request.indexes(zones.head, zones.recent)}
    if (
        not whole
        or not between.issuperset(zones.pinned)
        or (zones.head < len(request) and zones.recent == len(request))
    ):
        yield Violation("zones partition the window", turn, f"head {zones.head}, recent {zones.recent}")


def _pair_violations(replay: Replay, event: Event) -> Iterator[Violation]:
    """Calls and results: a request holds both or, where the log itself lacks one, neither was ever there."""
    if replay.course.history == "as-recorded":
        return  # what the agent cut itself is the log's business
    request = replay.course.windows[event.turn]
    held = set(request.indexes()) - replay.course.excluded
    for turn in replay.transcript.turns:
        if turn.results_end > request.end:
            break
        for i in range(turn.request_end, turn.results_end):
            if i not in held and i not in replay.course.excluded:
                yield Violation("calls and results stay together", event.turn, f"message {i} left")


def _table_violations(replay: Replay) -> Iterator[Violation]:
    """The walk's running sums against sums over the messages, at both ends and around every event."""
    turns = len(replay.transcript.turns)
    around = {t for event in replay.events for t in (event.turn - 1, event.turn)}
    for turn in sorted(t for t in {0, turns - 1, *around} if 0 <= t < turns):
        tokens = _window(replay, turn, replay.edits_at(turn))
        if tokens != replay.windows_after[turn]:
            detail = f"{replay.windows_after[turn]} reported, {tokens} recounted"
            yield Violation("tokens reported are recounted", turn, detail)
