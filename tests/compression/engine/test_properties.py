"""What holds for every policy over every transcript, worked out anew here from messages and texts alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from compression.engine.blocks import window_blocks
from compression.engine.calibration import Calibration
from compression.engine.document import replay_document
from compression.engine.edits import LADDER, EditKind, Event, EventKind, Note
from compression.engine.history import SOURCES
from compression.engine.invariants import prove
from compression.engine.planner import Known
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES
from compression.engine.rendering import rendered
from compression.engine.replay import Replay, replay
from compression.engine.snapshots import digest
from compression.engine.stubs import Stubber
from compression.engine.tokens import CachedCounter, count_parts
from compression.engine.transcript import Message, Part, Transcript
from compression.engine.turns import ZONES, tabulate
from tests.compression.engine.builders import Quarters, SessionBuilder, run, small_policy, stubber, words
from tests.compression.engine.generated import policies, transcripts

COUNTER = CachedCounter(Quarters())
HISTORIES: tuple[Literal["uncompacted", "as-recorded"], ...] = ("uncompacted", "as-recorded")
CALIBRATIONS = (
    Calibration(),
    Calibration(k=1.3, hidden=700),
    Calibration(k=0.77, hidden=41),
    Calibration(hidden=5_000),
)

# The presets as they are, but for windows that transcripts of a few thousand tokens can fill.
SHRUNK = {
    "context_window": 4_000,
    "recent_tokens": 600,
    "min_reclaim_tokens": 100,
    "min_result_tokens": 60,
    "result_floor": 30,
    "result_ceiling": 80,
}
CLEARING = {"trigger_value": 1_500, "clear_tool_inputs": True}
# As published, other agents' rules begin where these transcripts have long ended.
PARAMETERS: dict[str, dict[str, Any]] = {
    "anthropic-clear-tool-uses": CLEARING,
    "langchain-clear-tool-uses": CLEARING,
    "hermes-agent": {"protect_last_n": 4},
    "opencode-prune": {"protect_tokens": 800, "minimum_tokens": 200},
    "gemini-masking": {"protect_tokens": 800, "minimum_tokens": 200},
    "swe-agent-last-5": {"n": 2},
    "claude-code": {"reserve_output": 300, "margin": 300, "keep_result_tokens": 500, "summary_tokens": 60},
    "codex": {"user_tokens": 300, "summary_tokens": 60},
    "openhands": {"max_events": 12, "summary_tokens": 60},
    "cline": {"keep_tokens": 300, "result_characters": 400},
    "full-summary": {"trigger_tokens": 1_500, "summary_tokens": 60},
    "deepagents-eviction": {"limit_tokens": 300},
}
SMALL_PRESETS = tuple(
    Policy.model_validate({**preset.model_dump(), **SHRUNK, "parameters": PARAMETERS.get(preset.name, {})})
    for preset in PRESETS.values()
)
TINY_PRESETS = tuple(
    preset.model_copy(update={"context_window": 1_500, "recent_tokens": 300})
    for preset in SMALL_PRESETS
    if preset.ladder and preset.strategy == "threshold"
)

# Hidden tokens fill most of this window, so that events free little of it.
THRASHING = Policy(
    name="thrashing",
    context_window=9_000,
    trigger_ratio=0.5,
    target_ratio=0.45,
    recent_tokens=100,
    min_reclaim_tokens=0,
    min_result_tokens=60,
    result_floor=30,
    result_ceiling=80,
    ladder=False,
)

many = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # Shrinking a whole session takes minutes.
    suppress_health_check=[HealthCheck.too_slow],
)
cases = given(
    transcript=transcripts(),
    policy=st.one_of(st.sampled_from(SMALL_PRESETS), st.sampled_from(TINY_PRESETS), policies(), policies()),
    calibration=st.sampled_from(CALIBRATIONS),
    history=st.sampled_from(HISTORIES),
)


def replayed(transcript: Transcript, policy: Policy, calibration: Calibration, history: Any, **options: Any) -> Replay:
    return replay(transcript, policy, calibration, history=history, stubber=Stubber(COUNTER), **options)


Window = list[tuple[int, Message]]
NOTE = -1


def texts_at(events: Sequence[Event]) -> dict[tuple[int, int], str]:
    """What stands in place of an original after the events, last one last."""
    return {(edit.message, edit.part): edit.text for event in events for edit in event.edits}


def standing_note(done: Replay, turn: int, events: Sequence[Event]) -> Note | None:
    leaving = [event for event in events if _same_window(done, turn, event) and event.left]
    return leaving[-1].note if leaving else None


def _same_window(done: Replay, turn: int, event: Event) -> bool:
    """Whether the agent itself reset nothing between an event of the policy and a turn."""
    one, other = done.course.windows[event.turn], done.course.windows[turn]
    return event.kind != "recorded" and (one.kept, one.start) == (other.kept, other.start)


def window(done: Replay, turn: int, events: Sequence[Event]) -> Window:
    """The messages of a request as a model would get them after the events, without the note."""
    texts = texts_at(events)
    gone = {i for event in events if _same_window(done, turn, event) for i in event.left}
    request = done.course.windows[turn]
    return [
        (i, _with_texts(done.transcript.messages[i], texts))
        for i in (*request.kept, *range(request.start, request.end))
        if i not in done.course.excluded and i not in gone
    ]


def window_with_note(done: Replay, turn: int, events: Sequence[Event]) -> Window:
    """The same with what stands for the messages that left, where it stands."""
    found, note = window(done, turn, events), standing_note(done, turn, events)
    if note is not None:
        request = done.course.windows[turn]
        gone = {i for event in events if _same_window(done, turn, event) for i in event.left}
        order = [i for i in (*request.kept, *range(request.start, request.end)) if i not in gone]
        before = {*order[: note.ordinal]}
        at = sum(i in before for i, _ in found)
        found.insert(at, (NOTE, Message(NOTE, note.role, (Part("text", note.text),))))
    return found


def _with_texts(message: Message, texts: dict[tuple[int, int], str]) -> Message:
    parts = tuple(
        replace(part, text=texts[message.index, j]) if (message.index, j) in texts else part
        for j, part in enumerate(message.parts)
    )
    return replace(message, parts=parts)


def own_events(done: Replay) -> list[tuple[Event, list[Event]]]:
    """Every event of the policy that changed something, with those that came before it."""
    found = [(event, list(done.events[:at])) for at, event in enumerate(done.events)]
    return [(event, earlier) for event, earlier in found if event.kind != "recorded" and event.changes]


def excused(policy: Policy, rule: str) -> bool:
    """Whether the original of a reference breaks this rule as well."""
    return policy.reference is not None and rule in REFERENCES[policy.reference].breaks


def fingerprint(transcript: Transcript) -> str:
    own = [getattr(transcript, field.name) for field in fields(transcript) if field.name != "memo"]
    return hashlib.sha256(repr(own).encode("utf-8", "surrogatepass")).hexdigest()


def tokens_of(message: Message) -> int:
    return sum(count_parts([message.parts], COUNTER.count_many)[0]) + 4


def tokens_of_note(note: Note | None) -> int:
    if note is None:
        return 0
    return note.tokens if note.simulated else COUNTER.count(note.text) + 4


def sacred(done: Replay, held: Window, event: Event, earlier: Sequence[Event]) -> set[int]:
    """Indexes of the head, the pins and the recent zone of a window before an event, by the words of the design."""
    head = head_of(held, done)
    stubbed = {edit.message for other in earlier if other.kind != "arrival" for edit in other.edits}
    rezoned = [e.recent_budget for e in (*earlier, event) if e.turn == event.turn and e.recent_budget is not None]
    budget = rezoned[-1] if rezoned else done.budgets[event.turn]
    recent: list[int] = []
    used = 0
    for i, message in reversed(held[len(head) :]):
        size = tokens_of(message)
        if recent and (used + size > budget or i in stubbed):
            break
        recent.append(i)
        used += size
        if used > budget:
            break
    return {*head, *recent, *pinned_at(done, held, event.turn)}


def head_of(held: Window, done: Replay) -> list[int]:
    """System messages and injections, the first prompt, the first response."""
    response_of = {}
    for turn in done.transcript.turns:
        response_of.update(dict.fromkeys(range(turn.request_end, turn.response_end), turn.index))
    at, prompted = 0, False
    while at < len(held):
        i, message = held[at]
        if message.role == "tool" and "orphan_result" not in message.flags:
            break
        if message.role != "assistant":
            prompted = prompted or is_prompt(message)
            at += 1
            continue
        first = at
        while at < len(held) and held[at][1].role == "assistant":
            j, other = held[at]
            same = response_of.get(j) == response_of.get(i) and i in response_of
            same = same or bool(message.response_id and other.response_id == message.response_id)
            if at > first and not same:
                break
            at += 1
        if prompted:
            break
        follows = at
        while follows < len(held) and held[follows][1].role in ("system", "user"):
            prompted = prompted or is_prompt(held[follows][1])
            follows += 1
        at = follows
        if not prompted:
            break
    return [i for i, _ in held[:at]]


def is_prompt(message: Message) -> bool:
    return message.role == "user" and not {"injected", "memory", "skill", "compact_summary"} & message.flags


def pinned_at(done: Replay, held: Window, turn: int) -> set[int]:
    """What the rules keep of everything that was sent up to this turn."""
    policy = done.policy
    ends = [t.request_end for t in done.transcript.turns]
    seen = [
        m for m in done.transcript.messages if m.index < max(ends[: turn + 1]) and m.index not in done.course.excluded
    ]
    kept: set[int] = set()
    for rule in policy.pins:
        found = [m.index for m in seen if _rule_matches(rule, m)]
        kept.update(found if rule.keep_last is None else found[-rule.keep_last :])
    if policy.pin_latest_user:
        kept.update([m.index for m in seen if is_prompt(m)][-1:])
    for m in seen:
        arrival = next(t for t, end in enumerate(ends) if end > m.index)
        lately = turn - arrival < policy.recall_hold_turns
        if lately and any("recall" in p.name.lower() for p in m.parts if p.kind == "tool_result"):
            kept.add(m.index)
    return kept & {i for i, _ in held}


def _rule_matches(rule: Any, message: Message) -> bool:
    results = [p for p in message.parts if p.kind == "tool_result"]
    return (
        (rule.role is None or message.role == rule.role)
        and (rule.tool is None or any(fnmatchcase(p.name.lower(), rule.tool.lower()) for p in results))
        and (rule.is_error is None or any(p.is_error == rule.is_error for p in results))
        and (rule.pattern is None or any(word in p.text for word in rule.pattern.split("|") for p in message.parts))
    )


@many
@cases
def test_sacred_messages_stay_byte_for_byte(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)

    for event, earlier in own_events(done):
        before, after = window(done, event.turn, earlier), window(done, event.turn, [*earlier, event])
        if event.kind != "arrival":
            kept = sacred(done, before, event, earlier)
        else:
            kept = {*head_of(before, done), *pinned_at(done, before, event.turn)}
            kept.update(i for i, _ in before if event.turn and i < done.course.windows[event.turn - 1].end)
        if not excused(policy, "sacred bytes stay"):
            assert [m for i, m in after if i in kept] == [m for i, m in before if i in kept]


@many
@cases
def test_zones_are_the_window_once_and_their_tokens_its_tokens(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)
    table = tabulate(done)

    for turn in range(len(table)):
        zones = done.zones_at(turn)
        held = window(done, turn, [e for e in done.events if e.turn <= turn])
        places = [zones.of_message(i) for i, _ in held]
        order = [ZONES.index("compressible" if zone == "pinned" else zone or "") for zone in places]
        assert order == sorted(order)
        assert {i for i, zone in zip((i for i, _ in held), places, strict=True) if zone == "pinned"} == set(
            zones.pinned
        )
        sums: dict[str | None, int] = dict.fromkeys(ZONES, 0)
        sums["compressible"] += tokens_of_note(standing_note(done, turn, [e for e in done.events if e.turn <= turn]))
        for (_, message), place in zip(held, places, strict=True):
            sums[place] += _standing_tokens(message)
        assert table.recent_actual[turn] == sums["recent"]
        assert table.counted_after[turn] == sum(sums.values())
        if not done.course.unknown_left[turn]:
            running = expected = 0
            for zone in ZONES:
                running += sums[zone]
                share = round(calibration.k * running) - expected
                expected += share
                assert table.zones[zone][turn] == share + (calibration.hidden if zone == "head" else 0)


@many
@cases
def test_reported_tokens_are_recounted_from_the_texts(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)
    table = tabulate(done)

    for turn in range(len(table)):
        events = [e for e in done.events if e.turn <= turn]
        held = window(done, turn, events)
        counted = sum(_standing_tokens(m) for _, m in held) + tokens_of_note(standing_note(done, turn, events))
        left = done.course.unknown_left[turn]
        after = calibration.hidden + round(calibration.k * counted)
        after = max(calibration.hidden, after - left) if left else after
        assert (table.counted_after[turn], table.after[turn]) == (counted, after)
        assert sum(table.sources_after[name][turn] for name in SOURCES) + calibration.hidden == after
        assert sum(table.sources[name][turn] for name in SOURCES) + calibration.hidden == table.before[turn]
        assert sum(table.zones[name][turn] for name in ZONES) == after
        for side, total in (("before", table.counted[turn]), ("after", table.counted_after[turn])):
            blocks = window_blocks(done, turn, side)  # type: ignore[arg-type]  # the two sides
            assert sum(block.tokens for block in blocks if block.kind != "hidden") == total


def _standing_tokens(message: Message) -> int:
    cleared = sum(part.text == "[cleared by the agent]" for part in message.parts)
    return tokens_of(message) + cleared * (8 - COUNTER.count("[cleared by the agent]"))


CHANGED = {
    "stub": "tool_result",
    "superseded": "tool_result",
    "arguments": "tool_call",
    "thinking": "thinking",
    "text": "text",
}


@many
@cases
def test_every_change_is_an_edit_or_a_leaving_of_its_event(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)

    for event, earlier in own_events(done):
        before, after = window(done, event.turn, earlier), window(done, event.turn, [*earlier, event])
        gone = {*event.left}
        edited = {(edit.message, edit.part): edit for edit in event.edits}
        assert len(edited) == len(event.edits)
        assert {i for i, _ in edited}.isdisjoint(gone)
        assert [i for i, _ in after] == [i for i, _ in before if i not in gone]
        changed = set()
        for (i, old), (_, new) in zip([row for row in before if row[0] not in gone], after, strict=True):
            assert replace(new, parts=old.parts) == old
            for j, (was, now) in enumerate(zip(old.parts, new.parts, strict=True)):
                if was == now:
                    continue
                changed.add((i, j))
                assert replace(now, text=was.text) == was
                assert was.kind == CHANGED.get(edited[i, j].kind, was.kind)
                assert was.kind not in ("media", "opaque")
                assert not was.signature
                if was.kind == "tool_call":
                    assert isinstance(json.loads(now.text), type(json.loads(was.text)))
                if not excused(policy, "no message grows"):
                    assert len(now.text.encode()) < len(was.text.encode("utf-8", "surrogatepass"))
                    assert COUNTER.count(now.text) < COUNTER.count(was.text)
        assert changed == set(edited)
        note = standing_note(done, event.turn, [*earlier, event])
        assert note == (event.note if event.left else standing_note(done, event.turn, earlier))


@many
@cases
def test_everything_before_the_first_change_stays(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)

    for event, earlier in own_events(done):
        plain, changed = window(done, event.turn, earlier), window(done, event.turn, [*earlier, event])
        same = _common(plain, changed)
        assert event.first_changed_message == plain[same][0]
        before = window_with_note(done, event.turn, earlier)
        after = window_with_note(done, event.turn, [*earlier, event])
        note = standing_note(done, event.turn, earlier)
        unchanged = sum(
            tokens_of_note(note) if i == NOTE else _standing_tokens(message)
            for i, message in before[: _common(before, after)]
        )
        unchanged += _common_beginning(before, after)
        whole = calibration.hidden + round(calibration.k * unchanged)
        share = min(1.0, whole / event.before) if event.before else 1.0
        assert event.cache_prefix_survival == pytest.approx(share, abs=1e-6)


def _common_beginning(one: Window, other: Window) -> int:
    """Tokens with which the first message that is not the same in both still begins as it did; of 8 characters on."""
    at = _common(one, other)
    (i, was), (j, now) = one[at], other[at] if at < len(other) else (NOTE, one[at][1])
    if i != j or i == NOTE:
        return 0
    tokens = 0
    for before, after in zip(was.parts, now.parts, strict=True):
        overhead = 4
        if before == after:
            tokens += tokens_of(replace(was, parts=(before,))) - overhead
            continue
        shorter = min(len(before.text), len(after.text))
        same = next((n for n in range(shorter) if before.text[n] != after.text[n]), shorter)
        return tokens + (COUNTER.count(after.text[:same]) if same >= 8 else 0)
    return tokens


def _common(one: Window, other: Window) -> int:
    """Messages at the beginning that are the same in both."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@many
@cases
def test_no_event_makes_a_request_larger(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)

    for event, earlier in own_events(done):
        sizes = [
            sum(_standing_tokens(m) for _, m in window(done, event.turn, events))
            + tokens_of_note(standing_note(done, event.turn, events))
            for events in (earlier, [*earlier, event])
        ]
        assert sizes[1] < sizes[0]
        assert event.after <= event.before


@many
@cases
def test_calls_and_their_results_leave_together_and_batches_whole(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, "uncompacted")
    if done.course.history != "uncompacted":
        return

    for event, earlier in own_events(done):
        held = {i for i, _ in window(done, event.turn, [*earlier, event])}
        sent = {i for i, _ in window(done, event.turn, [])}
        for turn in transcript.turns:
            batch = [
                m.index
                for m in transcript.messages[turn.request_end : turn.results_end]
                if any(part.kind in ("tool_call", "tool_result") for part in m.parts) and m.index in sent
            ]
            assert len({i in held for i in batch}) <= 1


@many
@cases
def test_every_address_resolves_to_the_original(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)

    stored = {digest(part.text): part.text for m in transcript.messages for part in m.parts}
    wanted: list[tuple[str, str]] = []
    for at, event in enumerate(done.events):
        wanted += [(e.text, transcript.messages[e.message].parts[e.part].text) for e in event.edits if e.address]
        if event.note is not None and event.note.address:
            earlier = standing_note(done, event.turn, done.events[:at])
            text = rendered((transcript.messages[i] for i in event.left), earlier.text if earlier else "")
            stored[digest(text)] = text
            wanted.append((event.note.text, text))
    assert all(e.address for event in done.events for e in event.edits if e.kind not in ("cleared", "placeholder"))
    for standing, original in wanted:
        assert original in _resolved(standing, stored)


def _resolved(standing: str, stored: dict[str, str]) -> list[str]:
    """What the addresses in a text lead to; every one of them leads to just one thing."""
    addresses = re.findall(r"hermes:([0-9a-f]{12,64})", standing)
    found = [[text for sha, text in stored.items() if sha.startswith(digits)] for digits in addresses]
    assert all(len(texts) <= 1 for texts in found)
    return [text for texts in found for text in texts]


@many
@cases
def test_a_rendered_text_holds_all_that_left(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)

    for event, _ in own_events(done):
        text = rendered(transcript.messages[i] for i in event.left)
        for i in event.left:
            assert all(part.text in text for part in transcript.messages[i].parts if part.kind != "media")


@many
@cases
def test_a_replay_is_proven_and_leaves_the_transcript_alone(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    before = fingerprint(transcript)

    done = replayed(transcript, policy, calibration, history)
    proof = prove(done)
    tabulate(done)

    assert proof.violations == ()
    assert (proof.resolved, proof.true_claims) == (proof.addresses, proof.claims)
    assert fingerprint(transcript) == before


@many
@cases
def test_what_was_compressed_is_not_compressed_again(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)
    last = len(transcript.turns) - 1
    standing = {key: edit for key, edit in done.edits_at(last).items() if edit.sha256} if transcript.turns else {}
    if not standing or policy.strategy == "reference":
        return
    originals = {e.sha256: transcript.messages[i].parts[j].text for (i, j), e in standing.items()}
    known = Known({digest(edit.text): edit.sha256 for edit in standing.values()}, originals.get)
    texts = {key: edit.text for key, edit in standing.items()}
    messages = tuple(_with_texts(message, texts) for message in transcript.messages)
    counts = count_parts((m.parts for m in messages), COUNTER.count_many)
    again = replace(transcript, messages=messages, counts=tuple(map(tuple, counts)))

    second = replayed(again, policy, calibration, history, known=known)

    for event in second.events:
        for edit in event.edits:
            if (edit.message, edit.part) in texts and edit.kind != "cleared":
                # Only the ladder makes a stub shorter, and from its original.
                assert event.kind in LADDER
                assert edit.sha256 == standing[edit.message, edit.part].sha256
                assert edit.tokens_after < again.counts[edit.message][edit.part]


@many
@cases
def test_appending_a_turn_changes_no_earlier_turn(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    if len(transcript.turns) < 2:
        return
    cut = transcript.turns[-2].results_end
    shorter = replace(
        transcript,
        messages=transcript.messages[:cut],
        counts=transcript.counts[:cut],
        turns=transcript.turns[:-1],
        boundaries=tuple(b for b in transcript.boundaries if b.turn < len(transcript.turns) - 1),
    )

    short, long = replayed(shorter, policy, calibration, history), replayed(transcript, policy, calibration, history)

    last = len(shorter.turns)
    assert long.windows_after[:last] == short.windows_after
    assert long.windows_before[:last] == short.windows_before
    assert [_timeless(e) for e in long.events if e.turn < last] == [_timeless(e) for e in short.events]
    one, other = tabulate(short).as_dict(), tabulate(long).as_dict()
    for name in ("counted", "counted_after", "head_at", "recent_at", "recent_budget", "recent_actual"):
        assert other[name][:last] == one[name]
    for name in ("sources", "sources_after", "zones"):
        assert {key: column[:last] for key, column in other[name].items()} == one[name]


def _timeless(event: Event) -> Event:
    """Without what is said about the calls that follow."""
    return replace(event, calls_after=0, repeats=0)


@many
@cases
def test_a_request_fits_exactly_when_its_tokens_do(
    transcript: Transcript, policy: Policy, calibration: Any, history: Any
) -> None:
    done = replayed(transcript, policy, calibration, history)
    document = replay_document(done, session="s", counter=COUNTER.name)

    for row in document["turns"]:
        assert row["fits"] is (row["tokens"]["after"] + policy.reserve_output <= done.context_window)
    over = [row["index"] for row in document["turns"] if not row["fits"]]
    assert document["summary"]["overflow_turn"] == (over[0] if over else None)
    assert json.loads(json.dumps(document, default=sorted))["summary"]["violations"] == 0


def busy(**fields: Any) -> Replay:
    """A replay with one event of three stubs."""
    session = SessionBuilder()
    session.system()
    session.user()
    for n in range(5):
        session.turn(("Bash", words(700, f"w{n}x")))
    session.turn()
    return run(session, small_policy(**fields))


def planted(done: Replay, **changes: Any) -> list[str]:
    """The rules that prove() finds broken after the first stub of the first event was changed."""
    at = next(n for n, event in enumerate(done.events) if event.edits)
    event = done.events[at]
    edits = (replace(event.edits[0], **changes), *event.edits[1:])
    events = (*done.events[:at], replace(event, edits=edits), *done.events[at + 1 :])
    return sorted({violation.rule for violation in prove(replace(done, events=events)).violations})


def test_a_clean_replay_has_no_violation() -> None:
    done = busy()

    assert [len(event.edits) for event in done.events if event.edits] == [3]
    assert prove(done).violations == ()


def test_an_edit_of_the_head_is_found() -> None:
    rules = planted(busy(), message=0)

    assert "sacred bytes stay" in rules
    assert "edits fit their parts" in rules


def test_an_edit_of_the_recent_zone_is_found() -> None:
    done = busy()

    assert "sacred bytes stay" in planted(done, message=done.course.windows[done.events[0].turn].end - 1)


def test_a_stub_that_grew_is_found() -> None:
    done = busy()
    grown = words(900)

    assert "no message grows" in planted(done, text=grown, tokens_after=900)


def test_a_wrong_token_count_is_found() -> None:
    done = busy()

    assert planted(done, tokens_after=1) == ["tokens reported are recounted"]


def test_a_second_edit_of_one_stub_is_found() -> None:
    done = busy()
    event = next(event for event in done.events if event.edits)

    again = replace(done, events=(*done.events, event))

    assert "a stub is frozen" in {violation.rule for violation in prove(again).violations}


def resumed(old: str) -> Replay:
    """A session whose first large result is a stub from before, which the ladder makes shorter."""
    before = small_policy(result_ratio=0.3, result_ceiling=600)
    made = stubber().stub(Part("tool_result", old, "call-0-0", "Bash"), len(old.split()), before)
    assert made is not None
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", made.text))
    for n in range(5):
        session.turn(("Bash", words(90, f"s{n}x")), text=words(600, f"t{n}x"))
    session.turn()
    known = Known({digest(made.text): digest(old)}, {digest(old): old}.get)
    return run(session, small_policy(ladder=True), known=known)


def test_the_shorter_stub_of_one_that_came_with_the_session_is_held_to_its_own_original() -> None:
    old = words(2_000, "old")
    done = resumed(old)
    [edit] = [edit for event in done.events for edit in event.edits if edit.sha256 == digest(old)]

    proof = prove(done)

    assert edit.message == 2
    assert proof.violations == ()
    assert proof.addresses == proof.resolved > 0
    assert proof.claims == proof.true_claims > 0


def test_a_stub_that_came_with_the_session_may_be_shortened_by_the_ladder_alone() -> None:
    old = words(2_000, "old")
    done = resumed(old)
    events = tuple(replace(event, kind="compress") for event in done.events)

    rules = [violation.rule for violation in prove(replace(done, events=events)).violations]

    assert rules.count("a stub is frozen") == 1


def test_a_wrong_first_change_is_found() -> None:
    done = busy()
    event = replace(done.events[0], first_changed_message=1)

    rules = {violation.rule for violation in prove(replace(done, events=(event, *done.events[1:]))).violations}

    assert rules == {"everything before the first edit stays"}


def test_a_wrong_window_is_found() -> None:
    done = busy()
    windows = (*done.windows_after[:-1], done.windows_after[-1] + 1)

    assert [v.rule for v in prove(replace(done, windows_after=windows)).violations] == ["tokens reported are recounted"]


@pytest.mark.parametrize(
    "change",
    [{"sha256": "0" * 64}, {"address": "hermes:000000000000"}, {"address": "hermes:"}],
    ids=["another sha256", "another address", "no digits"],
)
def test_an_address_that_leads_elsewhere_is_found(change: dict[str, str]) -> None:
    done = busy()
    event = done.events[0]
    edits = (replace(event.edits[0], **change), *event.edits[1:])  # type: ignore[arg-type]  # names of its fields

    proof = prove(replace(done, events=(replace(event, edits=edits), *done.events[1:])))

    assert (proof.resolved, proof.addresses) == (2, 3)


def test_an_invented_number_in_a_stub_is_found() -> None:
    done = busy()
    edit = done.events[0].edits[0]
    event = replace(done.events[0], edits=(replace(edit, text=edit.text + "\n987654"), *done.events[0].edits[1:]))

    proof = prove(replace(done, events=(event, *done.events[1:])))

    assert proof.claims - proof.true_claims == 1


def test_every_kind_of_event_and_edit_occurs_in_these_cases() -> None:
    kinds: Counter[str] = Counter()

    @settings(many, max_examples=300)
    @given(
        transcript=transcripts(),
        policy=st.one_of(st.sampled_from(TINY_PRESETS), policies(), policies()),
        calibration=st.sampled_from(CALIBRATIONS),
        history=st.sampled_from(HISTORIES),
    )
    def count(transcript: Transcript, policy: Policy, calibration: Any, history: Any) -> None:
        for event in replayed(transcript, policy, calibration, history).events:
            kinds.update({event.kind, *(f"edit {edit.kind}" for edit in event.edits)})

    @settings(many, max_examples=150)
    @given(transcript=transcripts())
    def count_thrashing(transcript: Transcript) -> None:
        kinds.update(e.kind for e in replayed(transcript, THRASHING, Calibration(hidden=4_000), "uncompacted").events)

    count()
    count_thrashing()

    events = {kind for kind in get_args(EventKind) if kinds[kind] >= 2}
    edits = {kind for kind in get_args(EditKind) if kinds[f"edit {kind}"] >= 2}
    assert events == {*get_args(EventKind)}
    assert edits == {*get_args(EditKind)} - {"placeholder"}


SCRIPT = """
import hashlib, orjson
from tests.compression.engine.test_properties import busy
from compression.engine.document import replay_document
done = busy(selection="all", arrival_limit_tokens=600)
body = orjson.dumps(replay_document(done, session="s", counter="words"))
texts = "".join(edit.text for event in done.events for edit in event.edits)
print(hashlib.sha256(body + texts.encode()).hexdigest())
"""


def test_two_processes_with_other_hash_seeds_give_the_same_bytes() -> None:
    root = Path(__file__).parents[3]
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1
    assert len(found.pop()) == 65
