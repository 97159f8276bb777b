"""Reading reports of test runners: where each failure is told, by whichever runner told it.

Knows pytest, unittest, go test, cargo test, jest, vitest, mocha and TAP by the lines they print. It
finds totals, failures and passes; what a stub shows of them is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from compression.engine.tool_output import LINE_LIMIT

TOTALS = re.compile(
    r"^=+ .*\b\d+ (?:passed|failed|error|errors|skipped|deselected|warnings?|xfailed|xpassed)\b.*=+$"
    r"|^\d+ (?:passed|failed|errors?|skipped)\b.* in [\d.]+s|^=* ?no tests ran"
    r"|^Ran \d+ tests? in |^FAILED \((?:failures|errors)|^OK(?: \(.*\))?$"
    r"|^test result: |^\s*(?:Tests|Test Suites|Test Files|Snapshots|Time|Duration|Start at):?\s+.*\d"
    r"|^\s*\d+ (?:passing|failing|pending)\b|^# (?:tests|pass|fail|suites|skipped|todo) \d+"
    r"|^(?:FAIL|FAIL\t\S.*|exit status \d+|PASS)$|^error: (?:test failed|\d+ targets? failed)|^Tests run: \d+"
)
PASSED = re.compile(
    r"^(?:\S+::.* PASSED\b|\s*--- PASS: |ok\s+\S+\s+[\d.(]|\s*[✓✔√] |PASS \S|ok \d+|.{1,200} \.\.\. ok$)"
)
SLOWEST = re.compile(r"^[\d.]+s (?:call|setup|teardown)\s+\S")
SUMMARY = re.compile(r"^(FAILED|ERROR) (\S.*?)(?: - (.*))?$")
_VERBOSE = re.compile(
    r"^(\S+::.*?) (?:FAILED|ERROR)\b|^test (\S.*?) \.\.\. FAILED$|^not ok \d+ ?-? ?(.*)$"
    r"|^(.{1,200}) \.\.\. (?:FAIL|ERROR)$"
)
_BLOCK = re.compile(
    r"^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(?P<pytest>\S.{0,300}?) _{3,}$"
    r"|^\s*--- FAIL: (?P<go>\S+)"
    r"|^---- (?P<cargo>\S.{0,300}?) (?:stdout|stderr) ----$"
    r"|^\s{0,4}● (?P<jest>\S.{0,300})$"
    r"|^(?:FAIL|ERROR): (?P<unittest>\S.{0,300})$"
    r"|^\s*FAIL\s+(?P<vitest>\S.{0,200} > .{1,200})$"
    r"|^\s{2,6}\d{1,4}\) (?P<mocha>\S.{0,300})$"
)
_BLOCK_END = re.compile(
    r"^={3,}|^-{60,}$|^failures:$|^test result: |^(?:ok|FAIL|PASS)\b|^\s*(?:Tests|Test Suites|Test Files):?\s"
    r"|^Ran \d+ test|^=== (?:RUN|PAUSE|CONT|NAME)|^\s*--- (?:PASS|SKIP): |^⎯{10,}\S*$|^Summary of all failing tests$"
)
_GO_RUN = re.compile(r"^=== (?:RUN|NAME|CONT)\s+(\S+)")
ERROR = re.compile(
    r"^E\s{2,}\S|^\s*(?:[A-Za-z_][\w.]{0,80})?(?:Error|Exception|Failure|Panic)\b(?::|$|\s\[)|^thread '.*panicked at"
    r"|^\s*assertion .*failed|^\s*(?:panic|Error|error|fatal)[:\[]|^\s*expect\(|^\s+\S+_test\.go:\d+: "
)
PLACE = re.compile(
    r"^([\w./@+~-]{1,200}\.\w{1,5}):(\d+)(?::|$| )|^\s+File \"[^\"]{1,300}\", line \d+|panicked at [^\s:]{1,200}:\d+"
    r"|[(\s❯]([\w./@+~-]{1,200}\.\w{1,5}):\d+(?::\d+)?\)?|^\s+[\w./-]{1,200}\.\w{1,5}:\d+: "
)
_LIBRARY = re.compile(r"site-packages|node_modules|/lib/python|/rustc/|internal/|/src/(?:testing|runtime)/|/node:")
_LONGEST_BLOCK = 2_000


@dataclass(slots=True)
class Failure:
    """Line numbers of what the report says about one failed test. ``summary`` is the runner's own one-line
    account, ``headline`` the line that opens its block."""

    name: str
    headline: int | None = None
    summary: int | None = None
    errors: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    body: list[int] = field(default_factory=list)


def passes(lines: Sequence[str]) -> list[int]:
    return [index for index, line in enumerate(lines) if PASSED.match(line[:LINE_LIMIT])]


def failures(lines: Sequence[str], passed: Collection[int]) -> list[Failure]:
    """Every failed test once, in order of the report; ``passed`` are the lines of ``passes``."""
    found: dict[str, Failure] = {}
    passed = frozenset(passed)
    _from_blocks(lines, found, passed)
    for index, line in enumerate(lines):
        if index in passed:
            continue
        line = line[:LINE_LIMIT]
        match = SUMMARY.match(line)
        if match and ("::" in line or "/" in line or match.group(3)):
            _entry(found, match.group(2)).summary = index
            continue
        match = _VERBOSE.match(line)
        if match:
            name = next(group for group in match.groups() if group is not None)
            entry = _entry(found, name)
            if entry.headline is None:
                entry.headline = index
    return list(found.values())


def _entry(found: dict[str, Failure], name: str) -> Failure:
    """``tests/test_a.py::TestB::test_c[1]`` and the block title ``TestB.test_c[1]`` are one failure."""
    name = name.strip()
    titles = [name]
    if "::" in name and ".py" in name:
        titles.append(name.split("::", 1)[1].replace("::", "."))
    for title in titles:
        entry = found.get(title)
        if entry is not None and (entry.summary is None or entry.name == name):
            if entry.name != name and len(titles) > 1:
                # Two files may hold tests of one name: from here on this one answers to its full name.
                del found[title]
                entry.name = name
                found[name] = entry
            return entry
    return found.setdefault(name, Failure(name))


def _from_blocks(lines: Sequence[str], found: dict[str, Failure], passed: Collection[int]) -> None:
    current: Failure | None = None
    running = ""
    told: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        if index in passed:
            current, running = None, ""
            continue
        line = line[:LINE_LIMIT]
        match = _BLOCK.match(line)
        if match:
            name = next(group for group in match.groups() if group is not None)
            # pytest titles blocks without their file, so two tests may share one; jest only repeats itself.
            key = f"{name}#{index}" if name in found and match.lastgroup == "pytest" else name
            current = found.setdefault(key, Failure(name))
            if current.headline is not None:
                current = None  # jest tells every failure again at the end
                continue
            current.headline = index
            for earlier in told.pop(name, ()):
                _add(current, lines[earlier], earlier)
            continue
        if run := _GO_RUN.match(line):
            running, current = run.group(1), None
        elif _BLOCK_END.match(line):
            # unittest underlines the title of a block.
            if not (current and line.startswith("-----") and current.headline == index - 1):
                current = None
            if line.lstrip().startswith("---"):
                running = ""
        elif current is not None and len(current.body) < _LONGEST_BLOCK:
            _add(current, line, index)
        elif running and line[:1] in (" ", "\t"):
            told.setdefault(running, []).append(index)


def _add(failure: Failure, line: str, index: int) -> None:
    line = line[:LINE_LIMIT]
    if not line.strip():
        return
    failure.body.append(index)
    if ERROR.match(line):
        failure.errors.append(index)
    if PLACE.search(line) and not _LIBRARY.search(line):
        failure.places.append(index)
