"""What must hold for every replay, checked on the result and not on the code that made it.

Each check states what is broken and where; an empty list is the proof that a report shows. Rungs of
the fallback ladder have rules of their own and are not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compression.engine.edits import Edit, Event
from compression.engine.fidelity import fidelity
from compression.engine.replay import Replay
from compression.engine.snapshots import digest
from compression.engine.zones import zones_at


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
    sizes = list(replay.course.sizes)
    standing: dict[tuple[int, int], Edit] = {}
    resolved = claims = true_claims = 0
    for event in replay.events:
        violations += _event_violations(replay, event, sizes, standing)
        for edit in event.edits:
            standing[edit.message, edit.part] = edit
            sizes[edit.message] += edit.tokens_after - edit.tokens_before
        violations += _pair_violations(replay, event)
    stubs = [edit for edit in standing.values() if edit.kind == "stub"]
    for edit in stubs:
        original = replay.transcript.messages[edit.message].parts[edit.part].text
        resolved += edit.sha256 == digest(original) and edit.address.removeprefix("hermes:") == edit.sha256[: len(edit.address) - 7]  # fmt: skip
        true, total, _ = fidelity(original, edit.text.partition("\n")[2], edit.counts)
        claims += total
        true_claims += true
    violations += _table_violations(replay)
    return Proof(tuple(violations), len(stubs), resolved, claims, true_claims)


def _event_violations(
    replay: Replay, event: Event, sizes: list[int], standing: Mapping[tuple[int, int], Edit]
) -> Iterator[Violation]:
    transcript, turn = replay.transcript, event.turn
    request = replay.course.windows[turn]
    if event.kind == "recorded":
        return
    zones = zones_at(replay.course, request, replay.pins, sizes, replay.budgets[turn])
    members = [zones.of(ordinal) for ordinal in range(len(request))]
    if len(members) != len(request) or zones.head > zones.recent:
        yield Violation("zones partition the window", turn, f"head {zones.head}, recent {zones.recent}")
    zone_of = dict(zip(request.indexes(), members, strict=True))
    for edit in event.edits:
        part = transcript.messages[edit.message].parts[edit.part]
        where = f"message {edit.message}, part {edit.part}"
        if zone_of.get(edit.message) != "compressible" and event.kind != "arrival":
            yield Violation("sacred bytes stay", turn, f"{where} lies in {zone_of.get(edit.message, 'no zone')}")
        if part.kind != "tool_result":
            yield Violation("only tool results change", turn, f"{where} is {part.kind}")
        if (edit.message, edit.part) in standing:
            yield Violation("a stub is frozen", turn, f"{where} was already a stub")
        recounted = replay.stubber.counter.count(edit.text)
        if recounted != edit.tokens_after or edit.tokens_after >= edit.tokens_before:
            yield Violation("no message grows, tokens are recounted", turn, f"{where}: {recounted} tokens")
    first = min((edit.message for edit in event.edits), default=None)
    if first != event.first_changed_message:
        yield Violation("everything before the first edit stays", turn, f"first edit {first}")
    if event.after > event.before:
        yield Violation("an event frees tokens", turn, f"{event.before} -> {event.after}")


def _pair_violations(replay: Replay, event: Event) -> Iterator[Violation]:
    """Calls and results: a request holds both or, where the log itself lacks one, neither was ever there."""
    transcript = replay.transcript
    request = replay.course.windows[event.turn]
    held = set(request.indexes()) - replay.course.excluded
    if replay.course.history == "as-recorded":
        return  # what the agent cut itself is the log's business
    for turn in transcript.turns:
        if turn.results_end > request.end:
            break
        for i in range(turn.request_end, turn.results_end):
            if i not in held and i not in replay.course.excluded:
                yield Violation("calls and results stay together", event.turn, f"message {i} left")


def _table_violations(replay: Replay) -> Iterator[Violation]:
    """Tokens reported are tokens recounted: the walk's running sums against sums over the messages."""
    sizes = list(replay.course.sizes)
    events = list(replay.events)
    turns = len(replay.transcript.turns)
    looked_at = {0, turns - 1, *(event.turn for event in events), *(event.turn - 1 for event in events)}
    at = 0
    for turn in replay.transcript.turns:
        while at < len(events) and events[at].turn <= turn.index:
            for edit in events[at].edits:
                sizes[edit.message] += edit.tokens_after - edit.tokens_before
            at += 1
        if turn.index not in looked_at:
            continue
        counted = sum(sizes[i] for i in replay.course.windows[turn.index].indexes())
        tokens = replay.calibration.tokens(counted)
        left = replay.course.unknown_left[turn.index]
        if left:
            tokens = max(replay.calibration.hidden, tokens - left)
        if tokens != replay.windows_after[turn.index]:
            detail = f"{replay.windows_after[turn.index]} reported, {tokens} recounted"
            yield Violation("tokens reported are recounted", turn.index, detail)
