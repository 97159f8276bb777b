"""The difference between an original and what stands in its place, as a few runs of lines.

Bounded: only the beginning of a long original is compared, long runs are cut, and the cut is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

LINES_COMPARED = 400
RUN_LINES = 6
RUN_CHARS = 1_200


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that were kept, removed or added; ``more`` lines of the run are not shown."""

    kind: Literal["same", "removed", "added"]
    text: str
    more: int = 0


def diff_runs(original: str, lines: int, stub: str) -> list[Run]:
    """Runs from ``original`` (or its beginning; ``lines`` in all) to ``stub``."""
    old, new = original.split("\n")[:LINES_COMPARED], stub.split("\n")
    unread = max(0, lines - len(old))
    runs: list[Run] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            runs.append(_run("same", old[a:b]))
        if tag in ("replace", "delete"):
            runs.append(_run("removed", old[a:b]))
        if tag in ("replace", "insert"):
            runs.append(_run("added", new[c:d]))
    if unread:
        runs.append(Run("removed", "", unread))
    return runs


def _run(kind: Literal["same", "removed", "added"], lines: list[str]) -> Run:
    shown = "\n".join(lines[:RUN_LINES] if kind != "added" else lines)
    more = 0 if kind == "added" else max(0, len(lines) - RUN_LINES)
    return Run(kind, shown if kind == "added" else shown[:RUN_CHARS], more)
