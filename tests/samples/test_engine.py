"""The engine over public recordings: every promise holds under every preset. Skips where the recordings are absent."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Literal

import pytest

from compression.engine.blocks import window_blocks
from compression.engine.edits import LADDER, Edit
from compression.engine.invariants import prove
from compression.engine.planner import Known
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES
from compression.engine.replay import Replay, replay
from compression.engine.snapshots import digest
from compression.engine.stubs import Stubber
from compression.engine.tokens import count_messages, provider_of
from compression.engine.transcript import Message
from compression.engine.turns import ZONES, tabulate
from compression.transcripts import Subject, from_parsed
from sessions.importers import read_sessions

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
FOLDERS = ("claude-code", "codex", "anthropic-messages", "openai-chat")
FILES = [path for folder in FOLDERS for path in sorted((SAMPLES / folder).glob("*")) if path.is_file()]

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the recordings are not here")


def within(preset: str, tokens: int, **fields: object) -> Policy:
    """A preset in a window that recordings of this size overflow, so that events happen in them."""
    return PRESETS[preset].model_copy(update={"context_window": tokens, **fields})


TIGHT = within("hermes", 60_000, name="tight", recent_tokens=5_000, min_reclaim_tokens=500)
POLICIES = {
    **PRESETS,
    "hermes-60k": within("hermes", 60_000),
    "hermes-100k": within("hermes", 100_000),
    "chapter-60k": within("chapter", 60_000),
    "tight": TIGHT,
    "tight-per-result": TIGHT.model_copy(update={"allocation": "per_result"}),
    "tight-everything": TIGHT.model_copy(
        update={"max_argument_tokens": 200, "clear_thinking": True, "arrival_limit_tokens": 2_000}
    ),
}
STUBBER = Stubber()


@cache
def subjects(path: Path) -> list[Subject]:
    return [from_parsed(parsed) for parsed in read_sessions(path)]


@cache
def replays(path: Path, policy: str) -> list[Replay]:
    return [replay(s.transcript, POLICIES[policy], s.calibration, stubber=STUBBER) for s in subjects(path)]


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("path", FILES, ids=name)
def test_every_promise_holds(path: Path, policy: str) -> None:
    for done in replays(path, policy):
        proof = prove(done)

        assert proof.violations == ()
        assert proof.resolved == proof.addresses
        assert proof.true_claims == proof.claims


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("path", FILES, ids=name)
def test_what_is_sacred_stands_there_byte_for_byte(path: Path, policy: str) -> None:
    if policy == "recorded":
        return
    reference = POLICIES[policy].reference
    breaks = REFERENCES[reference].breaks if reference else frozenset()
    for done in replays(path, policy):
        arrived = {(e.message, e.part) for event in done.events if event.kind == "arrival" for e in event.edits}
        acted = sorted({event.turn for event in done.events})
        # A policy that acts at every call is looked at in a few of them: a window is thousands of blocks.
        for turn in sorted({*acted[:2], *acted[len(acted) // 2 :][:1], *acted[-1:]}):
            gone = {i for event in done.events if event.turn <= turn for i in event.left}
            before, after = window_blocks(done, turn, "before"), window_blocks(done, turn, "after")
            texts = {(b.message, b.part): b.text for b in before}
            edits = done.edits_at(turn)
            held = [b for b in after if b.kind != "note"]
            assert [(b.message, b.part) for b in held] == [place for place in texts if place[0] not in gone]
            for block in held:
                if block.message is None or (block.message, block.part) not in edits:
                    assert block.text == texts[block.message, block.part]
                elif "sacred bytes stay" not in breaks:
                    assert block.zone == "compressible" or (block.message, block.part) in arrived


@pytest.mark.parametrize("policy", [name for name, policy in POLICIES.items() if policy.ladder])
@pytest.mark.parametrize("path", FILES, ids=name)
def test_nothing_claims_to_fit_that_does_not(path: Path, policy: str) -> None:
    for done in replays(path, policy):
        told = {t for e in done.events if e.kind == "incompressible" for t in range(e.turn, e.turn + e.repeats + 1)}
        over = {t for t, tokens in enumerate(done.windows_after) if tokens > done.context_window}
        assert over == {t for t in range(len(done.windows_after)) if not done.fits(t)}
        if done.policy.strategy == "threshold":
            assert told == over


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("path", FILES, ids=name)
def test_windows_agree_with_the_table(path: Path, policy: str) -> None:
    for done in replays(path, policy):
        table = tabulate(done)
        last = len(table) - 1
        turns = {0, last // 2, last, *(event.turn for event in done.events[:2])} if len(table) else set()
        for turn in turns:
            for side, total in (("before", table.counted[turn]), ("after", table.counted_after[turn])):
                assert counted(done, turn, "before" if side == "before" else "after") == total
            assert (table.before[turn], table.after[turn]) == (done.windows_before[turn], done.windows_after[turn])
            assert sum(column[turn] for column in table.sources.values()) + table.hidden == table.before[turn]
            assert sum(column[turn] for column in table.sources_after.values()) + table.hidden == table.after[turn]
            assert sum(table.zones[zone][turn] for zone in ZONES) == table.after[turn]


def counted(done: Replay, turn: int, side: Literal["before", "after"]) -> int:
    return sum(block.tokens for block in window_blocks(done, turn, side) if block.kind != "hidden")


@pytest.mark.parametrize("path", FILES, ids=name)
def test_tokens_are_those_of_the_texts(path: Path) -> None:
    for subject in subjects(path):
        transcript = subject.transcript
        assert transcript.counts == count_messages(transcript.messages, provider_of(transcript.model))


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_replay_leaves_the_session_as_it_was(path: Path) -> None:
    for subject, parsed in zip(subjects(path), read_sessions(path), strict=True):
        fresh = from_parsed(parsed).transcript
        replay(subject.transcript, TIGHT, subject.calibration, stubber=STUBBER)
        assert subject.transcript == fresh


@pytest.mark.parametrize("path", FILES, ids=name)
def test_what_was_compressed_is_not_compressed_again(path: Path) -> None:
    for subject, done in zip(subjects(path), replays(path, "tight"), strict=True):
        edits = {(edit.message, edit.part): edit for event in done.events for edit in event.edits}
        messages = tuple(with_stubs(message, edits) for message in subject.transcript.messages)
        counts = count_messages(messages, provider_of(subject.transcript.model))
        originals = {e.sha256: subject.transcript.messages[i].parts[j].text for (i, j), e in edits.items()}
        known = Known({digest(edit.text): edit.sha256 for edit in edits.values()}, originals.get)

        again = replay(
            replace(subject.transcript, messages=messages, counts=counts),
            TIGHT,
            subject.calibration,
            stubber=STUBBER,
            known=known,
        )

        changed = [(event, e) for event in again.events for e in event.edits if (e.message, e.part) in edits]
        # Only the ladder makes a stub shorter, and from its original.
        assert all(event.kind in LADDER for event, _ in changed)
        assert all(e.sha256 == edits[e.message, e.part].sha256 for _, e in changed)


def with_stubs(message: Message, edits: dict[tuple[int, int], Edit]) -> Message:
    parts = (
        replace(part, text=edits[message.index, j].text) if (message.index, j) in edits else part
        for j, part in enumerate(message.parts)
    )
    return replace(message, parts=tuple(parts))


CLAUDE = [path for path in FILES if path.parent.name == "claude-code"]


@pytest.mark.parametrize("path", CLAUDE, ids=name)
def test_the_estimate_is_within_two_percent_of_what_was_recorded(path: Path) -> None:
    for subject, done in zip(subjects(path), replays(path, "none"), strict=True):
        turns = [turn for turn in subject.transcript.turns if turn.recorded is not None]
        if len(turns) < 30:
            continue
        errors = [
            abs(done.windows_before[turn.index] - turn.recorded.context_tokens) / turn.recorded.context_tokens
            for turn in turns
            if turn.recorded is not None and turn.index < done.first_boundary
        ]
        assert median(errors) <= 0.02
        assert subject.calibration.ahead_median is not None
        assert subject.calibration.ahead_median <= 0.02


def test_a_silent_clearing_is_found() -> None:
    (subject,) = subjects(SAMPLES / "claude-code" / "two-objects-on-one-line.jsonl")

    silent = [boundary for boundary in subject.transcript.boundaries if boundary.kind == "silent"]

    assert len(silent) == len(subject.calibration.silent) > 0
    assert all(boundary.tokens_left and boundary.tokens_left > 1_000 for boundary in silent)


def test_some_recordings_have_events() -> None:
    happened = {name(path) for path in FILES for done in replays(path, "tight") if any(e.edits for e in done.events)}

    assert len(happened) >= 4
