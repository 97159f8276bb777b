"""A line of the engines' table, with all its figures for the JSON, and a peer's answers or why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measuring import Row
from benchmarks.peers.calls import Answer, Job, PeerFailed, ask, available


@dataclass(frozen=True, slots=True)
class EngineRow(Row):
    """``figures``: what ``detail`` says in words, and more, as numbers."""

    figures: Mapping[str, Any] = field(default_factory=dict)


def not_installed(name: str, peer: str) -> EngineRow:
    """The row of a peer that is not there."""
    how = f"not installed: python -m benchmarks.peers install {peer}"
    return EngineRow(name, float("nan"), "", None, how, {"installed": False})


def failed(name: str, why: str) -> EngineRow:
    """The row of a peer that could not do it."""
    return EngineRow(name, float("nan"), "", None, why, {"error": why})


def answers(peer: str, jobs: Sequence[Job]) -> tuple[str, list[Answer]]:
    """A peer's version and answers; without it, answers that are errors, so that the benchmark goes on."""
    if not available(peer):
        return "", [{"error": "not installed"} for _ in jobs]
    try:
        return ask(peer, jobs)
    except PeerFailed as error:
        return "", [{"error": str(error)} for _ in jobs]


def peer_row(name: str, peer: str, found: Sequence[Answer]) -> EngineRow | None:
    """The row that says why there is none; None when all answers are there."""
    if not available(peer):
        return not_installed(name, peer)
    faults = [answer["error"] for answer in found if "error" in answer]
    return failed(name, f"{len(faults)} of {len(found)} failed: {faults[0]}") if faults else None
