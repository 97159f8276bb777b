"""Diffs: every file with its added and removed lines, then of every hunk its header and first changed lines.

A hunk is told with the name of its file, so that it stands for itself wherever others are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from compression.engine.compressors import code_output
from compression.engine.readers.diffs import Diff, Hunk, parse
from compression.engine.readers.path_groups import fit_in_full, grouped, split
from compression.engine.readers.problems import exit_lines
from compression.engine.tool_output import ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

LONGEST_SHOWN = 200
LONGEST_PATH = 400
_MOST_NOTES = 12


def units(text: str) -> Units:
    source = cleaned(text)
    diff = parse(source.lines)
    if not diff.files and not diff.stats:
        return code_output.units(text)
    found: list[Unit] = []
    if diff.files:
        found += [_summary(diff), *_files(diff, len(text))]
    names = Counter(split(file.path)[1] for file in diff.files)
    shown: dict[int, Unit] = {}
    told: set[int] = set(diff.headers)
    for turn, file in enumerate(diff.files):
        directory, name = split(file.path)
        called = name if names[name] == 1 else f"{directory}{name}"
        for number, hunk in enumerate(file.hunks):
            _claim_hunk(source, hunk, called, turn, number, shown, told)
    for index in diff.stats:
        shown[index] = _line(source, index, "should" if diff.files else "must", 5, "file")
    exits = set(exit_lines(source.lines))
    for turn, index in enumerate(diff.other):
        must = turn < _MOST_NOTES or index in exits or index == diff.other[-1]
        shown[index] = _line(source, index, "must" if must else "should", -60 if must else 300 + turn, "note")
    found += [shown[index] for index in sorted(shown)]
    plain = [
        index
        for index, line in enumerate(source.lines)
        if index not in shown and index not in told and line and not line.isspace()
    ]

    def ordinary() -> Iterator[Unit]:
        around = [index for index in plain if source.lines[index][0] == " "]
        for rows, rank in ((sorted(set(plain).difference(around)), 0), (around, 10)):
            for index in rows:
                yield _line(source, index, "may", rank, "line")

    total = sum(unit.lines for unit in shown.values()) + len(plain)
    return units_of(source, found, total=total, gaps="once", rest=ordinary)


def _summary(diff: Diff) -> Unit:
    files = counted(len({file.path for file in diff.files}))
    added, removed = (counted(sum(getattr(file, side) for file in diff.files)) for side in ("added", "removed"))
    text = f"{files} {'file' if files == '1' else 'files'}, +{added} -{removed}"
    return Unit(text, "must", -100, -100, "totals", counts=(files, added, removed))


def _files(diff: Diff, size: int) -> list[Unit]:
    """A file that stands in several commits is told once, with its sums."""
    sums: dict[str, list[int]] = {}
    states: dict[str, dict[str, None]] = {}
    for file in diff.files:
        if not file.path:
            continue
        both = sums.setdefault(file.path, [0, 0])
        both[0] += file.added
        both[1] += file.removed
        states.setdefault(file.path, {}).update(dict.fromkeys(file.states))
    tails = {
        path: f" +{counted(added)} -{counted(removed)}{''.join(f' {state}' for state in states[path])}"
        for path, (added, removed) in sums.items()
    }
    full = [f"{clip(path, LONGEST_PATH)}{tail}" for path, tail in tails.items()]
    if fit_in_full(full, size):
        lines: list[tuple[str, tuple[str, ...]]] = [(line, (path,)) for line, path in zip(full, tails, strict=True)]
    else:
        lines = grouped(tails)
    return [
        Unit(
            line, "must", -90, -90 + min(turn, 25), "files",
            counts=tuple(counted(number) for path in paths for number in sums[path]),
        )
        for turn, (line, paths) in enumerate(lines)
    ]  # fmt: skip


def _claim_hunk(
    source: ToolOutput, hunk: Hunk, name: str, turn: int, number: int, shown: dict[int, Unit], told: set[int]
) -> None:
    """The header with the first line of each side; what stands between them is told by its own units."""
    lines = source.lines
    removed = next((row for row in hunk.changed if lines[row][0] == "-" and lines[row][1:].strip()), None)
    added = next((row for row in hunk.changed if lines[row][0] == "+" and lines[row][1:].strip()), None)
    chosen = sorted(row for row in (removed, added) if row is not None)
    header = clip(" ".join(part for part in (name, lines[hunk.first].rstrip()) if part), LONGEST_SHOWN)
    text = "\n".join([header, *(clip(source.lines[row].rstrip(), LONGEST_SHOWN) for row in chosen)])
    tier: Tier = "must" if number == 0 else "should"
    rank = 20 + turn if number == 0 else 100 * min(number, 1_000) + min(turn, 99)
    shown[hunk.first] = Unit(text, tier, hunk.first, rank, "hunk", hunk.first, 1 + len(chosen))
    told.update(chosen)


def _line(source: ToolOutput, index: int, tier: Tier, rank: int, label: str) -> Unit:
    return Unit(clip(source.shown(index).rstrip(), LONGEST_SHOWN), tier, index, rank, label, index, 1)
