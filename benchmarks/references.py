"""What other agents' policies do to the recorded sessions, and how far one of them names what a log says was cleared.

Figures to read, not to pass: a reference is not ours to improve, and no rule for clearing is documented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.corpus import claude_code_files
from benchmarks.measuring import Row
from compression.engine.policy import Policy
from compression.engine.references import REFERENCES
from compression.engine.references.agreement import Agreement, microcompact_agreement
from compression.engine.references.claude_code import ClaudeCode
from compression.engine.replay import replay
from compression.engine.stubs import Stubber
from compression.transcripts import Subject, from_parsed
from sessions.importers import read_sessions

CLEARINGS = {
    "newest 40,000 tokens stay": ClaudeCode(),
    "newest 50,000 tokens stay": ClaudeCode(keep_result_tokens=50_000),
    "newest 30,000 tokens stay": ClaudeCode(keep_result_tokens=30_000),
    "newest 3 results stay": ClaudeCode(keep_result_tokens=0, keep_results=3),
}
"""The first is the default, inferred from these very recordings; the others say how much hangs on it."""


def rows() -> list[Row]:
    with TemporaryDirectory() as name:
        subjects = [from_parsed(read_sessions(path)[0]) for path in claude_code_files(Path(name))]
    return [*clearings(subjects), *whole_sessions(subjects)]


def clearings(subjects: Sequence[Subject]) -> Iterator[Row]:
    """Share of the union of what the log cleared and what the reference names that both have."""
    for name, options in CLEARINGS.items():
        found = [one for s in subjects for one in microcompact_agreement(s.transcript, s.calibration, options)]
        if found:
            yield Row(f"microcompact, {name}", 100 * _alike(found), "%", None, _detail(found))


def _alike(found: Sequence[Agreement]) -> float:
    both = sum(len(one.both) for one in found)
    union = sum(len(one.recorded) + len(one.named) - len(one.both) for one in found)
    return both / union if union else 1.0


def _detail(found: Sequence[Agreement]) -> str:
    cleared, named = sum(len(one.recorded) for one in found), sum(len(one.named) for one in found)
    both = sum(len(one.both) for one in found)
    logged = sum(one.logged_saved or 0 for one in found)
    return (
        f"{len(found)} clearings: {cleared} results cleared, {named} named, {both} both; "
        f"logged {logged:,} tokens, named {sum(one.named_quarters for one in found):,} (characters / 4), "
        f"{sum(one.named_tokens for one in found):,} (o200k); trigger passed at {sum(one.acts for one in found)}"
    )


def whole_sessions(subjects: Sequence[Subject]) -> Iterator[Row]:
    """All sessions under each reference, as published, in a window of the model's own size."""
    stubber = Stubber()
    for name in REFERENCES:
        policy = Policy(name=name, strategy="reference", reference=name)
        started = perf_counter()
        done = [replay(s.transcript, policy, s.calibration, stubber=stubber) for s in subjects]
        seconds = perf_counter() - started
        before = sum(sum(one.windows_before) for one in done)
        after = sum(sum(one.windows_after) for one in done)
        events = [event for one in done for event in one.events if event.changes]
        overflows = sum(not one.fits(turn) for one in done for turn in range(len(one.windows_after)))
        survival = median(event.cache_prefix_survival for event in events) if events else 1.0
        saved = 100 * (1 - after / before) if before else 0.0
        detail = (
            f"{len(events)} events, {overflows} requests that do not fit, prefix kept {survival:.0%} (median), "
            f"{1e3 * seconds:.0f} ms"
        )
        yield Row(f"{name}, input tokens saved", saved, "%", None, detail)
