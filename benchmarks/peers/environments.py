"""The virtual environments of the peers: where they lie, what is in them, how they are made.

They lie in ``benchmarks/.peers``, or in the folder that ``$HERMES_PEERS`` names. Versions are pinned where a driver
uses names that the peer calls private.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Peer:
    """``requirement`` is what pip installs; ``driver`` is the module of ours, in ``drivers``, that calls it."""

    name: str
    requirement: str
    driver: str


PEERS: Mapping[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("hermes-agent", "hermes-agent==0.19.0", "hermes_agent_calls"),
        Peer("headroom", "headroom-ai[code]==0.42.0", "headroom_calls"),
        Peer("langchain", "langchain>=1.0,<2", "langchain_calls"),
    )
}


def folder() -> Path:
    """Where the environments lie."""
    return Path(os.environ.get("HERMES_PEERS") or _HERE.parent / ".peers")


def python_of(peer: Peer) -> Path:
    """The interpreter of a peer's environment, whether it is there or not."""
    return folder() / peer.name / "bin" / "python"


def installed(peer: Peer) -> bool:
    """Whether an installation has been carried through."""
    return python_of(peer).exists() and _done(peer).exists()


def _done(peer: Peer) -> Path:
    return folder() / peer.name / "installed.txt"


def install(peer: Peer) -> bool:
    """Make a peer's environment with pip as it is configured. Whether that succeeded; pip says why not."""
    home = folder() / peer.name
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(python_of(peer)), "-m", "pip", "install", "--quiet", peer.requirement],
    )
    if any(subprocess.run(step, check=False).returncode for step in steps):
        return False
    _done(peer).write_text(peer.requirement + "\n")
    return True
