"""Listings: how many files, in which directories, of which kinds; the largest and the newest where told.

Then the first and last entries, and what is rare by its extension. Entries are shown as they were printed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from compression.engine.compressors import code_output
from compression.engine.readers.listings import Entry, extension, parse, size_of
from compression.engine.readers.problems import error_lines, exit_lines
from compression.engine.tool_output import ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

LONGEST_SHOWN = 240
_MOST_DIRECTORIES = 12
_MOST_EXTENSIONS = 12
_ENDS = 5
_DATED = re.compile(r"\d{4}-")
_TELLING = (
    "README", "Makefile", "Dockerfile", "LICENSE", "CHANGELOG", "package.json", "pyproject.toml", "go.mod",
    "Cargo.toml", "setup.py", "pom.xml", "tsconfig.json", "requirements", "docker-compose.y",
)  # fmt: skip
_END: tuple[Tier, int, str] = ("should", 40, "first and last entries")
_NEAR_END: tuple[Tier, int, str] = ("should", 60, "first and last entries")


def units(text: str) -> Units:
    source = cleaned(text)
    lines = source.lines
    entries, other = parse(lines)
    if not entries:
        return code_output.units(text)
    found = _summary(entries)
    roles = _roles(entries)
    shown = {entry.row: _entry(source, entry, *roles[entry.row]) for entry in entries if entry.row in roles}
    notes = {*exit_lines(lines), *error_lines(lines)}
    plain = []
    for turn, row in enumerate(other):
        if row in notes or turn < 3 or turn == len(other) - 1:
            shown[row] = _note(source, row, "must", -50)
        else:
            plain.append(row)
    found += [shown[row] for row in sorted(shown)]

    def ordinary() -> Iterator[Unit]:
        for entry in entries:
            if entry.row not in roles:
                yield _entry(source, entry, "may", 0, "entry")
        for row in plain:
            yield _note(source, row, "may", 5)

    return units_of(source, found, total=len(entries) + len(other), gaps="once", rest=ordinary)


def _entry(source: ToolOutput, entry: Entry, tier: Tier, rank: int, label: str) -> Unit:
    text = source.shown(entry.row)
    shown = clip(" ".join(text.split()) if entry.size else text.rstrip(), LONGEST_SHOWN)
    return Unit(shown, tier, entry.row, rank, label, entry.row, 1)


def _note(source: ToolOutput, row: int, tier: Tier, rank: int) -> Unit:
    return Unit(clip(source.shown(row).rstrip(), LONGEST_SHOWN), tier, row, rank, "note", row, 1)


def _summary(entries: Sequence[Entry]) -> list[Unit]:
    directories = Counter(entry.directory for entry in entries)
    folders = sum(entry.is_directory for entry in entries)
    amounts = [counted(len(entries)), counted(len(directories))]
    entry_noun = "entry" if len(entries) == 1 else "entries"
    text = f"{amounts[0]} {entry_noun} in {amounts[1]} {'directory' if len(directories) == 1 else 'directories'}"
    if folders:
        amounts.append(counted(folders))
        text += f", {amounts[2]} of them directories"
    found = [Unit(text, "must", -100, -100, "totals", counts=tuple(amounts))]
    kinds = Counter(kind for entry in entries if not entry.is_directory and (kind := extension(entry.path)))
    if kinds:
        found.append(_tally("extensions", kinds, -90, _MOST_EXTENSIONS))
    told, level = _levelled(directories)
    if len(told) > 1 or any(told):
        found += _directory_units(told, level)
    return found


def _levelled(directories: Counter[str]) -> tuple[Counter[str], bool]:
    """Directories with all that lies in and below them, as deep as there are few enough of them."""
    if len(directories) <= _MOST_DIRECTORIES:
        return directories, False
    best: Counter[str] = Counter()
    for depth in range(1, 12):
        told: Counter[str] = Counter()
        for directory, number in directories.items():
            told["/".join(directory.split("/", depth)[:depth]) + "/" if directory else ""] += number
        if len(told) > _MOST_DIRECTORIES and best:
            break
        best = told
    return best, True


def _directory_units(told: Counter[str], below: bool) -> list[Unit]:
    ranked = sorted(told.items(), key=lambda item: (-item[1], item[0]))
    found = []
    for turn, (directory, number) in enumerate(ranked):
        amount = counted(number)
        name = clip(directory, LONGEST_SHOWN) or "."
        tier: Tier = "must" if turn < _MOST_DIRECTORIES else "should"
        text = f"{name}{' and below' if below and directory else ''}: {amount}"
        found.append(Unit(text, tier, -80, -80 + min(turn, 40), "directory", counts=(amount,)))
    return found


def _tally(title: str, tally: Counter[str], rank: int, most: int) -> Unit:
    chosen = sorted(tally.items(), key=lambda item: (-item[1], item[0]))
    amounts = [counted(number) for _, number in chosen[:most]]
    text = ", ".join(f"{name} {amount}" for (name, _), amount in zip(chosen, amounts, strict=False))
    if len(chosen) > most:
        amounts.append(counted(sum(number for _, number in chosen[most:])))
        text += f", others {amounts[-1]}"
    return Unit(f"{title}: {text}", "must", rank, rank, title, counts=tuple(amounts))


def _roles(entries: Sequence[Entry]) -> dict[int, tuple[Tier, int, str]]:
    roles: dict[int, tuple[Tier, int, str]] = {}
    sized = [entry for entry in entries if entry.size and not entry.is_directory]
    for turn, entry in enumerate(sorted(sized, key=lambda entry: -size_of(entry.size))[:3]):
        roles[entry.row] = ("must" if turn == 0 else "should", 10 + turn, "largest")
    # Dates without a year cannot be put in order.
    dated = [entry for entry in entries if _DATED.match(entry.date)]
    for turn, entry in enumerate(sorted(dated, key=lambda entry: entry.date, reverse=True)[:3]):
        roles.setdefault(entry.row, ("must" if turn == 0 else "should", 20 + turn, "newest"))
    kinds = [extension(entry.path) for entry in entries]
    tally = Counter(kinds)
    scarce = {kind for kind, number in tally.items() if 50 * number <= len(entries)}
    seen: set[str] = set()
    for entry, kind in zip(entries, kinds, strict=True):
        if entry.path.rpartition("/")[2].startswith(_TELLING) and not entry.is_directory:
            roles.setdefault(entry.row, ("should", 30, "telling name"))
        elif kind in scarce:
            roles.setdefault(entry.row, ("should", 35, "rare extension"))
        if entry.directory not in seen:
            seen.add(entry.directory)
            roles.setdefault(entry.row, ("should", 70, "first of a directory"))
    for entry in (entries[0], entries[-1]):
        roles[entry.row] = min(roles.get(entry.row, _END), _END, key=_importance)
    for entry in [*entries[:_ENDS], *entries[-_ENDS:]]:
        roles[entry.row] = min(roles.get(entry.row, _NEAR_END), _NEAR_END, key=_importance)
    return roles


def _importance(role: tuple[Tier, int, str]) -> tuple[bool, int]:
    return role[0] != "must", role[1]
