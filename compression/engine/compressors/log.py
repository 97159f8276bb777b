"""Logs: how many lines of which level over which time, and each kind of error with its first and last.

Lines are grouped by template (the message without digits and quoted values), so that a thousand
repetitions of one error stand as a count and two lines. Tracebacks between log lines are kept too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compression.engine.readers.log_lines import ERRORS, LEVELS, WARNINGS, LogLine, read_all
from compression.engine.readers.problems import error_lines, exit_lines, tracebacks
from compression.engine.tool_output import ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

LONGEST_SHOWN = 300
_RARE = 2
_MOST_RARE = 40


@dataclass(slots=True)
class _Group:
    """All lines of one template."""

    level: str
    lines: list[int] = field(default_factory=list)


def units(text: str) -> Units:
    source = cleaned(text)
    lines = source.lines
    read_lines = read_all(lines)
    taken: set[int] = set()
    found = _summary(lines, read_lines)
    for index in exit_lines(lines):
        found += _line(source, index, "must", -100, "exit code", taken)
    found += _trouble(source, read_lines, taken)
    groups = _grouped(lines, read_lines, taken)
    errors = [group for group in groups if group.level in ERRORS]
    warnings = [group for group in groups if group.level in WARNINGS]
    for rank, group in enumerate(errors):
        found += _group_units(source, group, read_lines, "must", rank, "error template", taken)
    for rank, group in enumerate(warnings):
        found += _group_units(source, group, read_lines, "should", rank, "warning template", taken)
    rest = [group for group in groups if group.level not in ERRORS | WARNINGS]
    rare = sorted((group for group in rest if len(group.lines) <= _RARE), key=lambda group: group.lines[0])
    for index in (0, len(lines) - 1, 1, len(lines) - 2, len(lines) - 3):
        if 0 <= index < len(lines):
            found += _line(source, index, "should", 500, "first and last lines", taken)
    for group in rare[:_MOST_RARE]:
        found += _line(source, group.lines[0], "should", 600, "rare line", taken)
    common = sorted((group for group in rest if len(group.lines) > _RARE), key=lambda group: -len(group.lines))

    def ordinary() -> Iterator[Unit]:
        told = set(taken)
        for rank, group in enumerate(common[:_MOST_RARE]):
            yield from _group_units(source, group, read_lines, "may", rank, "common template", told)
        for index in range(len(lines)):
            yield from _line(source, index, "may", 1_000, "line", told)

    return units_of(source, found, total=sum(map(bool, map(str.strip, lines))), gaps="once", rest=ordinary)


def _summary(lines: Sequence[str], read_lines: Sequence[LogLine]) -> list[Unit]:
    number = sum(map(bool, map(str.strip, lines)))
    counts = [counted(number)]
    text = f"{counts[0]} {'line' if number == 1 else 'lines'}"
    times = [line.time for line in read_lines if line.time]
    if times:
        # Dated stamps of one length order as text; others are taken as they come.
        dated = len({len(time) for time in times}) == 1 and all(time[:4].isdigit() for time in times)
        text += f", {min(times) if dated else times[0]} to {max(times) if dated else times[-1]}"
    units = [Unit(text, "must", -10, -10, "line count and time range", counts=tuple(counts))]
    levels = Counter(line.level for line in read_lines if line.level)
    if levels:
        named = sorted(levels, key=lambda level: (LEVELS.index(level) if level in LEVELS else 99, level))
        amounts = tuple(counted(levels[level]) for level in named)
        spelled = {line.level: line.spelled for line in reversed(read_lines)}
        pairs = ", ".join(f"{spelled[level]} {amount}" for level, amount in zip(named, amounts, strict=True))
        units.append(Unit(f"levels: {pairs}", "must", -9, -9, "count per level", counts=amounts))
    return units


def _trouble(source: ToolOutput, read_lines: Sequence[LogLine], taken: set[int]) -> list[Unit]:
    """Tracebacks, and error lines of programs that print no levels."""
    lines = source.lines
    found: list[Unit] = []
    seen: set[tuple[str, ...]] = set()
    for trace in tracebacks(lines):
        key = tuple(read_lines[index].template for index in trace.key)
        fresh = key not in seen
        seen.add(key)
        for index in range(trace.first, trace.end):
            if fresh and index in trace.key:
                found += _line(source, index, "must", 50, "traceback", taken)
            else:
                found += _line(source, index, "should" if fresh else "may", 550, "traceback", taken)
    unlevelled = [index for index in range(len(lines)) if not read_lines[index].level and index not in taken]
    for position in error_lines([lines[index] for index in unlevelled]):
        found += _line(source, unlevelled[position], "must", 60, "error line", taken)
    return found


def _grouped(lines: Sequence[str], read_lines: Sequence[LogLine], taken: set[int]) -> list[_Group]:
    """Groups by template, the worst level and the earliest first."""
    groups: dict[tuple[str, str], _Group] = {}
    for index, line in enumerate(read_lines):
        if index not in taken and lines[index].strip():
            groups.setdefault((line.level, line.template), _Group(line.level)).lines.append(index)
    worst = {level: rank for rank, level in enumerate(LEVELS)}
    return sorted(groups.values(), key=lambda group: (worst.get(group.level, 6), group.lines[0]))


def _group_units(
    source: ToolOutput,
    group: _Group,
    read_lines: Sequence[LogLine],
    tier: Tier,
    rank: int,
    label: str,
    taken: set[int],
) -> list[Unit]:
    """The first line with the count, then the last one (only its time when nothing else differs)."""
    free = [index for index in group.lines if index not in taken]
    if not free:
        return []
    first, last = free[0], free[-1]
    taken.add(first)
    shown = clip(source.shown(first).rstrip(), LONGEST_SHOWN)
    if first == last:
        return [Unit(shown, tier, first, rank, label, first, 1)]
    number = counted(len(group.lines))
    if len(free) < len(group.lines):
        return [Unit(f"{number} times, one of them:\n{shown}", tier, first, rank, label, first, 1, (number,))]
    taken.add(last)
    times = read_lines[first].time, read_lines[last].time
    same = source.lines[first].replace(times[0], "", 1) == source.lines[last].replace(times[1], "", 1)
    ending = f"last at {times[1]}" if same and times[1] else clip(source.shown(last).rstrip(), LONGEST_SHOWN)
    text = f"{number} times, first and last:\n{shown}\n{ending}"
    return [Unit(text, tier, first, rank, label, first, 2, (number,))]


def _line(source: ToolOutput, index: int, tier: Tier, rank: int, label: str, taken: set[int]) -> list[Unit]:
    if index in taken or not source.lines[index].strip():
        return []
    taken.add(index)
    return [Unit(clip(source.shown(index).rstrip(), LONGEST_SHOWN), tier, index, rank, label, index, 1)]
