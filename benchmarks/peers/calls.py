"""Asks a peer: jobs go in as JSON, answers come back as JSON, everything else stays in its process.

The process gets an empty home, no proxy and no keys; the drivers close the network before they import the peer.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from benchmarks.peers.environments import PEERS, Peer, installed, python_of

SCRIPT = Path(__file__).resolve().parent / "drivers" / "serving.py"

TIME_LIMIT = 900
"""Seconds for all jobs of one call."""

Job = Mapping[str, Any]
Answer = dict[str, Any]


class PeerFailed(Exception):
    """A peer's process ended without an answer; says which and what it wrote last."""


def available(name: str) -> bool:
    """Whether the peer is installed."""
    return installed(PEERS[name])


def ask(name: str, jobs: Sequence[Job]) -> tuple[str, list[Answer]]:
    """The peer's version and one answer for each job, all from one warmed-up process.

    An answer of a job that raised is {"error": its message}.
    """
    with TemporaryDirectory() as home:
        return _run(PEERS[name], jobs, Path(home))


def _run(peer: Peer, jobs: Sequence[Job], home: Path) -> tuple[str, list[Answer]]:
    answers = home / "answers.json"
    try:
        done = subprocess.run(
            [str(python_of(peer)), str(SCRIPT), peer.driver, str(answers)],
            input=orjson.dumps({"jobs": list(jobs)}),
            capture_output=True,
            env=environment(home),
            cwd=home,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PeerFailed(f"{peer.name}: no answer within {TIME_LIMIT} s") from None
    if done.returncode or not answers.exists():
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing written"]
        raise PeerFailed(f"{peer.name}: exit status {done.returncode}: {last[0]}")
    found = orjson.loads(answers.read_bytes())
    return found["version"], found["answers"]


def environment(home: Path) -> dict[str, str]:
    """All that a peer's process knows of this machine."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "HERMES_HOME": str(home / "hermes-home"),
        "HEADROOM_WORKSPACE_DIR": str(home / "headroom"),
        "HEADROOM_OFFLINE": "1",
        "HEADROOM_TELEMETRY": "off",
        "HF_HUB_OFFLINE": "1",
        "PYTHONHASHSEED": "0",
    }
