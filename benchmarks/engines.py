"""Our engine beside its peers in one run: single outputs, whole sessions, one whole event.

Peers run where ``python -m benchmarks.peers install`` has put them, each in a process of its own, without a network
and without models; a row of one that is missing says so. What is decided: bars that ours must reach, ours against
each peer at its own share saved, and ratios of times of the same run. Everything else informs, losses included. Times
are CPU time of all threads, so that other work on the machine weighs little.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import engines_events, engines_outputs, engines_sessions
from benchmarks.engines_rows import EngineRow, answers, not_installed
from benchmarks.measuring import Row
from benchmarks.peers.calls import available
from benchmarks.peers.environments import PEERS
from benchmarks.retention import cuts, subjects


def versions() -> Iterator[EngineRow]:
    """Which peers take part."""
    for peer in PEERS:
        version, _ = answers(peer, [])
        if available(peer):
            yield EngineRow(f"peer: {peer}", 1.0, "", None, version or "does not start", {"version": version})
        else:
            yield not_installed(f"peer: {peer}", peer)


def rows() -> Iterator[Row]:
    """All tables, the fastest first."""
    sessions = subjects()
    yield from versions()
    yield from engines_outputs.rows(sessions)
    yield from engines_events.rows()
    yield from engines_sessions.rows(cuts(sessions))
