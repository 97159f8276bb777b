"""Replay of the largest session with warm counts and stubs, against a walk that only adds the counts."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.corpus import claude_code_files
from benchmarks.measuring import Row, medians
from compression.engine.history import SOURCES, source_of
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.stubs import Stubber
from compression.engine.transcript import Transcript
from compression.engine.turns import tabulate
from compression.transcripts import from_parsed
from sessions.importers import read_sessions

LIMIT = 5.0


def walk(transcript: Transcript) -> list[dict[str, int]]:
    """The floor: tokens by source at every turn, by adding up the counts of the messages that came in."""
    running = dict.fromkeys(SOURCES, 0)
    rows, at = [], 0
    for turn in transcript.turns:
        while at < turn.request_end:
            message, counts = transcript.messages[at], transcript.counts[at]
            for j, tokens in enumerate(counts):
                running[source_of(message, j)] += tokens
            at += 1
        rows.append(dict(running))
    return rows


def rows() -> list[Row]:
    with TemporaryDirectory() as name:
        largest = max(claude_code_files(Path(name)), key=lambda path: path.stat().st_size)
        subject = from_parsed(read_sessions(largest)[0])
    transcript, calibration, policy = subject.transcript, subject.calibration, PRESETS["hermes"]
    stubber = Stubber()
    started = perf_counter()
    first = replay(transcript, policy, calibration, stubber=stubber)
    cold = perf_counter() - started

    def quiet() -> None:
        tabulate(replay(transcript, PRESETS["none"], calibration, stubber=stubber))

    def warm() -> None:
        tabulate(replay(transcript, policy, calibration, stubber=stubber))

    floor, plain, events = medians(lambda: walk(transcript), quiet, warm, rounds=25)
    count = sum(bool(event.edits) for event in first.events)
    size = f"{len(transcript.turns)} turns, {len(transcript.messages)} messages"
    detail = f"{size}: {1e3 * plain:.2f} ms against {1e3 * floor:.2f} ms"
    return [
        Row("replay with its table, no events / plain walk", plain / floor, "x", LIMIT, detail),
        Row("an event, stubs remembered", 1e3 * (events - plain) / max(1, count), "ms", None, f"{count} events"),
        Row("replay, nothing remembered", 1e3 * cold, "ms"),
    ]
