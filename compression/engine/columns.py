"""Calibrated tokens of every request of a course, turn by turn, before any policy.

They depend on the transcript and its calibration only and are worked out once for both. Figures are
rounded so that the sources of a turn add up to its window exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from compression.engine.calibration import Calibration
from compression.engine.history import SOURCES, Course


@dataclass(frozen=True, slots=True)
class Columns:
    """``counted`` is uncalibrated; ``windows`` hold the hidden prefix, ``sources`` (a column each) do not."""

    counted: tuple[int, ...]
    windows: tuple[int, ...]
    sources: dict[str, tuple[int, ...]]


def columns_of(course: Course, calibration: Calibration) -> Columns:
    """The columns of a course; remembered with the transcript for the latest calibration."""
    key = f"columns {course.history}"
    known = course.transcript.memo.get(key)
    if known is None or known[0] != (calibration.k, calibration.hidden):
        known = ((calibration.k, calibration.hidden), _columns(course, calibration))
        course.transcript.memo[key] = known
    columns: Columns = known[1]
    return columns


def window_tokens(calibration: Calibration, counted: int, unknown_left: int) -> int:
    """Calibrated tokens of a request of ``counted`` tokens, less what left without a trace; never below hidden."""
    tokens = calibration.tokens(counted)
    return max(calibration.hidden, tokens - unknown_left) if unknown_left else tokens


def _columns(course: Course, calibration: Calibration) -> Columns:
    counted = course.counted_rows
    left = course.unknown_left
    windows = tuple(window_tokens(calibration, counted[t], left[t]) for t in range(len(counted)))
    k, hidden = calibration.k, calibration.hidden
    rows = [shares(row, k, window - hidden) for row, window in zip(course.source_rows, windows, strict=True)]
    columns = zip(*rows, strict=True) if rows else [()] * len(SOURCES)
    return Columns(counted, windows, dict(zip(SOURCES, columns, strict=True)))


def shares(counts: Sequence[int], k: float, total: int) -> list[int]:
    """Calibrated integers for ``counts`` that add up to ``total``: cumulative rounding, the rest off the largest."""
    found, done = [], 0
    for running in accumulate(counts):
        here = round(k * running)
        found.append(here - done)
        done = here
    if done > total:
        _cut(found, done - total)
    return found


def _cut(parts: list[int], surplus: int) -> None:
    for at in sorted(range(len(parts)), key=lambda i: -parts[i]):
        taken = min(surplus, parts[at])
        parts[at] -= taken
        surplus -= taken
        if not surplus:
            break
