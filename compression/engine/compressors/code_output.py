"""Output of commands and code, and whatever has no compressor of its own: a choice of lines.

Errors with their places and the exit status first, then the end and the beginning. In numbered
listings of files, lines that define something come before both. Lines are shown as they are, the
long ones clipped; nothing is computed but the omissions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compression.engine.readers.problems import error_lines, exit_lines, tracebacks
from compression.engine.readers.sightings import Sightings
from compression.engine.tool_output import LINE_LIMIT, ToolOutput, cleaned
from compression.engine.units import Tier, Unit, Units, clip, units_of

HEAD = 20
TAIL = 10
LONGEST_SHOWN = 400

_MOST_ERRORS = 40
_DEFINITION = re.compile(
    r"^\s{0,8}(?:(?:export|public|private|protected|static|async|abstract|default|final|pub(?:\(\w+\))?|unsafe|virtual)\s+)*"
    r"(?:def|class|func|fn|function|interface|type|struct|enum|trait|impl|module|namespace|package|const [A-Z]\w* =)\b"
    r"|^#{1,6} \S|^diff --git |^@@ |^\+\+\+ "
)
_PLACED = re.compile(r"\S{1,300}:\d+:")
# Every line that the pattern finds holds one of these.
_DEFINITION_SIGNS = (
    "def ", "class", "func", "fn ", "interface", "type", "struct", "enum", "trait", "impl", "module", "namespace",
    "package", "const ", "# ", "diff --git ", "@@ ", "+++ ", "fn\t", "def\t",
)  # fmt: skip


def units(text: str) -> Units:
    source = cleaned(text)
    # Numbered lines show by themselves where others are missing.
    roles = _roles(source)
    filled = [index for index, line in enumerate(source.lines) if line and not line.isspace()]
    following = dict(zip(filled, [*filled[1:], len(source.lines)], strict=False))

    def unit(index: int, tier: Tier, rank: int, label: str) -> Unit:
        # Blank lines go with the line before them.
        shown = clip(source.shown(index).rstrip(), LONGEST_SHOWN)
        return Unit(shown, tier, index, rank, label, index, following[index] - index)

    def ordinary() -> Iterator[Unit]:
        return (unit(index, "may", 0, "line") for index in filled if index not in roles)

    found = [unit(index, *roles[index]) for index in sorted(roles) if index in following]
    return units_of(source, found, gaps="once" if source.gutter else "each", rest=ordinary)


def _roles(source: ToolOutput) -> dict[int, tuple[Tier, int, str]]:
    """The lines that matter: tier, turn and why."""
    lines = source.lines
    roles: dict[int, tuple[Tier, int, str]] = {}

    def claim(index: int, tier: Tier, rank: int, label: str) -> None:
        if index not in roles and 0 <= index < len(lines):
            roles[index] = (tier, rank, label)

    definitions = [
        index
        for index in sorted(Sightings(lines).of(_DEFINITION_SIGNS))
        if _DEFINITION.match(lines[index][:LINE_LIMIT])
    ]
    # Numbered lines are mostly a file's: where it defines something, its talk of errors is no report of one.
    listing = bool(source.gutter) and 50 * len(definitions) > len(lines)
    for index in exit_lines(lines):
        claim(index, "must", -100, "exit code")
    if not listing:
        for number, trace in enumerate(tracebacks(lines)):
            for index in reversed(trace.key):
                claim(index, "must", number, "traceback")
            for index in range(trace.first, trace.end):
                claim(index, "should", 100 + number, "traceback")
        for number, index in enumerate(error_lines(lines)):
            # A file that is read may speak of errors; one with its place was reported.
            reported = not source.gutter or _PLACED.match(lines[index][:LINE_LIMIT])
            must = reported and number < _MOST_ERRORS
            claim(index, "must" if must else "should", 50 + number, "error line")
    definition_rank = 0 if source.gutter else 300
    for index in definitions:
        claim(index, "should", definition_rank, "definition")
    for back in range(TAIL):
        claim(len(lines) - 1 - back, "should", 60 + back, "last line")
    for index in range(HEAD):
        claim(index, "should", 80 + index, "first line")
    return roles
