"""The simulated prompt cache beside what providers recorded, over public recordings. Skips where they are absent."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from compression.engine.cache_comparison import compare_caching
from compression.engine.costs import Ledger, ledger_of
from compression.engine.document import replay_document
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.stability_lint import stability_lint
from compression.engine.stubs import Stubber
from compression.engine.terms import terms_of
from compression.transcripts import Subject, from_parsed
from sessions.importers import read_sessions
from sessions.importers.parsed import ImportFailure

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
CLAUDE = sorted((SAMPLES / "claude-code").glob("*.jsonl"))
OTHERS = [path for path in sorted(SAMPLES.glob("*/*")) if path.is_file() and path.parent.name not in ("streams", "sse")]
STUBBER = Stubber()
LARGE = ("191-tools-no-compaction", "206-tools-3compactions", "220-tools-4MB", "missing-tool-results")

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the recordings are not here")


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@cache
def subjects(path: Path) -> tuple[Subject, ...]:
    try:
        return tuple(from_parsed(parsed) for parsed in read_sessions(path))
    except ImportFailure:
        return ()


@cache
def errors(path: Path) -> tuple[float, ...]:
    """Simulated - observed hit rate of each session with usage, in points, over the calls that have it."""
    found = []
    for subject in subjects(path):
        done = ledger_of(replay(subject.transcript, PRESETS["recorded"], subject.calibration, stubber=STUBBER))
        pairs = [(done.turns[t.index], t.recorded) for t in subject.transcript.turns if t.recorded is not None]
        if pairs:
            simulated = sum(turn.read for turn, _ in pairs) / sum(turn.tokens for turn, _ in pairs)
            observed = sum(r.cache_read for _, r in pairs) / sum(r.context_tokens for _, r in pairs)
            found.append(100 * (simulated - observed))
    return tuple(found)


@pytest.mark.parametrize("path", CLAUDE, ids=name)
def test_every_session_is_within_three_points(path: Path) -> None:
    assert [round(error, 2) for error in errors(path) if abs(error) > 3] == []


def test_the_median_session_is_within_one_point() -> None:
    found = [abs(error) for path in CLAUDE for error in errors(path)]

    assert len(found) >= 9
    assert median(found) <= 1


def test_the_simulation_knows_nothing_of_later_calls() -> None:
    """Recorded reads enter it by the first call and the lifetime only."""
    (subject,) = subjects(SAMPLES / "claude-code" / "191-tools-no-compaction.jsonl")
    terms = terms_of(subject.transcript)
    turns = [
        turn
        if turn.recorded is None or turn.index == 0
        else replace(turn, recorded=replace(turn.recorded, cache_read=7))
        for turn in subject.transcript.turns
    ]
    blind = replace(subject.transcript, turns=tuple(turns))

    def reads(ledger: Ledger) -> list[int]:
        return [turn.read for turn in ledger.turns]

    told, untold = (
        ledger_of(replay(transcript, PRESETS["recorded"], subject.calibration, stubber=STUBBER))
        for transcript in (subject.transcript, blind)
    )
    gaps = [t for t, idle in enumerate(terms.idle) if idle is not None and idle > 300]
    assert [t for t, (a, b) in enumerate(zip(reads(told), reads(untold), strict=True)) if a != b] == gaps


@pytest.mark.parametrize(
    ("stem", "seconds"),
    [("191-tools-no-compaction", 3_600), ("206-tools-3compactions", 300), ("missing-tool-results", 3_600)],
)
def test_the_lifetime_is_that_of_the_gaps_that_survived(stem: str, seconds: int) -> None:
    (subject, *_) = subjects(SAMPLES / "claude-code" / f"{stem}.jsonl")

    assert terms_of(subject.transcript).lifetime.seconds == seconds


@pytest.mark.parametrize("path", OTHERS, ids=name)
def test_every_figure_of_a_document_can_be_worked_out_from_its_rows(path: Path) -> None:
    for subject in subjects(path)[:3]:
        done = replay(subject.transcript, PRESETS["hermes"], subject.calibration, stubber=STUBBER)
        document = replay_document(done, session="s", counter="c")
        rows, summary = document["turns"], document["summary"]
        for row in rows:
            assert row["cache"]["read"] + row["cache"]["write"] + row["cache"]["uncached"] == row["tokens"]["after"]
            assert min(row["cache"]["read"], row["cache"]["write"], row["cache"]["uncached"]) >= 0
        read = sum(row["cache"]["read"] for row in rows)
        sent = sum(row["tokens"]["after"] for row in rows)
        assert summary["hit_rate"] == (round(read / sent, 6) if sent else None)
        costs = [row["cost_usd"] for row in rows]
        if None in costs or not costs:
            assert summary["cost_usd"] is None
        else:
            assert Decimal(summary["cost_usd"]) == sum(map(Decimal, costs))


@pytest.mark.parametrize("stem", LARGE)
def test_a_sliding_window_is_dearer_than_rare_events(stem: str) -> None:
    (subject, *_) = subjects(SAMPLES / "claude-code" / f"{stem}.jsonl")
    rows = {
        row.name: row
        for row in compare_caching(subject.transcript, PRESETS["chapter"], subject.calibration, stubber=STUBBER)
    }
    costs = {key: row.cost_usd for key, row in rows.items() if row.cost_usd is not None}

    assert len(costs) == 5
    assert costs["compression, cache"] < costs["sliding window, cache"]
    assert costs["compression, cache"] < costs["no compression, cache"] < costs["compression, no cache"]
    assert costs["compression, no cache"] < costs["no compression, no cache"]


def test_switching_thinking_on_is_found_where_it_broke_a_prefix() -> None:
    (subject, *_) = subjects(SAMPLES / "claude-code" / "220-tools-4MB.jsonl")
    found = stability_lint(subject.transcript, subject.calibration, terms_of(subject.transcript))

    assert [(finding.kind, finding.turn, finding.tokens) for finding in found] == [
        ("thinking", 1, 14_338),
        ("thinking", 5, 37_586),
    ]


@pytest.mark.parametrize("path", CLAUDE, ids=name)
def test_no_finding_claims_more_than_was_cached(path: Path) -> None:
    for subject in subjects(path):
        turns = subject.transcript.turns
        for finding in stability_lint(subject.transcript, subject.calibration, terms_of(subject.transcript)):
            if finding.turn is not None and finding.evidence == "usage":
                before = turns[finding.turn - 1].recorded
                assert before is not None
                assert 0 < finding.tokens <= before.cache_read + before.cache_write
