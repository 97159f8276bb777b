"""Test reports: totals, exit status, and of every failure its name, its place and its error line.

One unit a failure, made of the report's own lines, so that a failure is told whole or not at all.
Slowest tests, warnings and first passes come after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from compression.engine.readers.problems import error_lines, exit_lines, tracebacks
from compression.engine.readers.test_runs import SLOWEST, TOTALS, Failure, failures, passes
from compression.engine.tool_output import LINE_LIMIT, ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

LONGEST_SHOWN = 240
_FIRST_PASSES = 5


def units(text: str) -> Units:
    source = cleaned(text)
    lines = source.lines
    taken: set[int] = set()
    found: list[Unit] = []

    def take(indexes: Iterable[int], tier: Tier, rank: int, label: str) -> None:
        for index in indexes:
            if index not in taken and lines[index].strip():
                taken.add(index)
                found.append(_line(source, index, tier, rank, label))

    take(exit_lines(lines), "must", -100, "exit code")
    passed = passes(lines)
    others = sorted(set(range(len(lines))).difference(passed))
    totals = [index for index in others if TOTALS.match(lines[index][:LINE_LIMIT])]
    take(reversed(totals[-8:]), "must", -90, "totals")
    told = failures(lines, passed)
    for rank, failure in enumerate(told):
        found.append(_failure_unit(source, failure, rank, taken))
    if passed or told:
        amounts = counted(len(passed)), counted(len(told))
        text = f"counted here: {amounts[0]} lines of passes, {amounts[1]} {'failure' if len(told) == 1 else 'failures'}"
        found.append(Unit(text, "should", -1, -80, "counts", counts=amounts))
    known = {index for failure in told for index in (failure.headline, *failure.body)}.union(passed)
    unknown = [index for index in others if index not in known]
    elsewhere = [unknown[position] for position in error_lines([lines[index] for index in unknown])]
    take(elsewhere, "should" if told else "must", 90, "error line")
    for trace in tracebacks(lines):
        # A crash outside of every told failure ended the run.
        take(trace.key, "should" if trace.first in known else "must", 100, "traceback")
    for rank, failure in enumerate(told):
        take(failure.errors, "should", 200 + rank, "more of the error")
        take(failure.places, "should", 300 + rank, "frame")
    take((index for index in others if SLOWEST.match(lines[index][:LINE_LIMIT])), "should", 400, "slowest tests")
    ends = (len(lines) - 1, 0, len(lines) - 2, 1, 2)
    take(
        (index for index in ends if 0 <= index < len(lines)),
        "should",
        500,
        "first and last lines",
    )
    take(passed[:_FIRST_PASSES], "should", 600, "first passes")

    def ordinary() -> Iterator[Unit]:
        told_rows = set(taken)
        details = ((index, rank, "failure detail") for rank, failure in enumerate(told) for index in failure.body)
        for index, rank, label in chain(details, ((index, 1_000, "line") for index in range(len(lines)))):
            if index not in told_rows and lines[index].strip():
                told_rows.add(index)
                yield _line(source, index, "may", rank, label)

    total = len(taken.union(index for index, line in enumerate(lines) if line and not line.isspace()))
    return units_of(source, found, total=total, gaps="once", rest=ordinary)


def _line(source: ToolOutput, index: int, tier: Tier, rank: int, label: str) -> Unit:
    return Unit(clip(source.shown(index).rstrip(), LONGEST_SHOWN), tier, index, rank, label, index, 1)


def _failure_unit(source: ToolOutput, failure: Failure, rank: int, taken: set[int]) -> Unit:
    """Name, place, error; a line that tells two of them stands once."""
    lines = source.lines
    title = failure.summary if failure.summary is not None else failure.headline
    chosen = [index for index in (title,) if index is not None]
    # pytest and Python put the failing place last, others first.
    python = any(".py" in lines[index] for index in failure.places[-1:])
    place = failure.places[-1:] if python else failure.places[:1]
    error = failure.errors[:1] or failure.body[:1]
    if failure.summary is not None and error and lines[error[0]].removeprefix("E").strip() in lines[failure.summary]:
        error = []
    following = [index + 1 for index in error if "panicked at" in lines[index] and index + 1 < len(lines)]
    for index in (*place, *error, *following):
        if index not in chosen:
            chosen.append(index)
    fresh = sum(index not in taken for index in chosen)
    taken.update(chosen)
    shown = [clip(source.shown(index).strip(), LONGEST_SHOWN) for index in chosen]
    order = min(chosen, default=0)
    return Unit("\n  ".join(shown), "must", order, rank, "failure", order, fresh)
