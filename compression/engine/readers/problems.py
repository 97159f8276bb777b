"""Where an output tells of trouble: tracebacks, error lines, exit statuses.

Shared by every compressor that looks at lines. It finds places; what they are worth is the
compressor's business. Lines are looked at up to a bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from compression.engine.readers.sightings import Sightings
from compression.engine.tool_output import LINE_LIMIT

EXIT = re.compile(
    r"^\s*\[?(?:Process )?(?:exited with (?:exit )?(?:code|status) -?\d+|exit(?:[ _]?(?:code|status))?[:= ]+-?\d+)"
    r"|returned non-zero exit status \d+|^exit status \d+|\bexited with (?:code|status) \d+|^make(?:\[\d+\])?: \*\*\* ",
    re.IGNORECASE,
)
ERROR_LINE = re.compile(
    r"^E\s{2,}\S|^\s*(?:error|fatal|panic|exception)\b(?!\s*[=(])|^\S+:\d+(?::\d+)?:? (?:fatal )?error\b"
    r"|\b(?:ERROR|FATAL|CRITICAL|FAILED|FAILURE)\b(?!\s*[=(])|\b(?:npm|yarn|pnpm) ERR!?"
    r"|\b[A-Za-z]\w{0,80}(?:Error|Exception|Panic)(?=: |$)|^error(?:\[\w+\])?:|(?:: |^)(?:fatal|error): "
    r"|: (?:command not found|[Nn]o such file or directory|[Pp]ermission denied)|\bpanicked at\b|^FAIL\b|^--- FAIL:"
    r"|\bSegmentation fault\b|\bundefined(?:: \w| reference to )",
)
# Every line that ERROR_LINE finds holds one of these; looking for them first is several times faster.
_SIGNS = (
    "rror", "RROR", "ERR", "atal", "FATAL", "FAIL", "anic", "PANIC", "xception", "EXCEPTION", "CRITICAL", "E  ", "E\t",
    "not found", "o such file", "ermission denied", "Segmentation", "undefined",
)  # fmt: skip
_PLACE = re.compile(r"^\s*-->\s+\S+:\d+|^\S+\.[A-Za-z]{1,5}:\d+:\d+: ")
_ANY_PLACE = re.compile(r"\.[A-Za-z]{1,5}:\d+:\d+: ")
_VARIABLE = re.compile(r"\d+")

_PYTHON_START = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s+File "([^"]+)", line \d+')
_OTHER_START = re.compile(
    r"^(?:panic: |fatal error: |goroutine \d+ |Exception in thread |Caused by: |thread '[^']*' panicked at |Uncaught )"
    r"|^\s*(?:[A-Za-z_][\w.$]*(?:Error|Exception))(?:: |$)"
)
_OTHER_SIGNS = (
    "panic: ", "fatal error: ", "goroutine ", "Exception", "Error", "Caused by: ", "thread '", "Uncaught ",
)  # fmt: skip
_OTHER_FRAME = re.compile(
    r"^\s+at \S|^\s*\.\.\. \d+ (?:more|common)|^\t\S+:\d+|^[\w./*()]+\(.*\)$|^\s*\d+: +\S+|^\s+\d+: "
)
_GO_PLACE = re.compile(r"^\t(?!.*/(?:go/src|runtime)/)\S+:\d+")
_LONGEST_TRACE = 400

BAD_STATE = re.compile(
    r"error|err|fatal|critical|failed|failure|fail|panic|exception|crashed|timeout|timed_out|5\d\d|unhealthy|denied"
    r"|oomkilled|(?:crashloop|imagepull)backoff|errimagepull|evicted|exited \([1-9]\d{0,3}\).{0,40}",
    re.IGNORECASE,
)
"""A value that tells of trouble, as a status, a level or a result has it."""


class Traceback(NamedTuple):
    """Lines ``first`` .. ``end`` (exclusive); ``key`` lines are the ones that name error and place."""

    first: int
    end: int
    key: tuple[int, ...]


def tracebacks(lines: Sequence[str]) -> list[Traceback]:
    """Every stack trace, in order; they do not overlap."""
    found: list[Traceback] = []
    end = 0
    for index in sorted(Sightings(lines).of((_PYTHON_START, *_OTHER_SIGNS))):
        if index < end:
            continue
        trace: Traceback | None = None
        if _PYTHON_START in lines[index]:
            trace = _python(lines, index)
        elif _starts_other(lines, index):
            trace = _other(lines, index)
        if trace is not None:
            found.append(trace)
            end = trace.end
    return found


def error_lines(lines: Sequence[str]) -> list[int]:
    """Indexes of lines that report an error, the first of each kind (digits aside)."""
    sightings = Sightings(lines)
    signed = sightings.of(_SIGNS)
    placed = sightings.of(("-->",)) | sightings.matching(_ANY_PLACE)
    seen: set[str] = set()
    found: list[int] = []
    for index in sorted(signed | placed):
        line = lines[index][:LINE_LIMIT]
        if (index in signed and ERROR_LINE.search(line)) or (index in placed and _PLACE.match(line)):
            template = _VARIABLE.sub("", line)
            if template not in seen:
                seen.add(template)
                found.append(index)
    return found


def exit_lines(lines: Sequence[str]) -> list[int]:
    """Indexes of lines near either end that tell how the command ended."""
    near = sorted({*range(min(5, len(lines))), *range(max(len(lines) - 10, 0), len(lines))})
    return [index for index in near if EXIT.search(lines[index][:LINE_LIMIT])]


def _starts_other(lines: Sequence[str], index: int) -> bool:
    if not _OTHER_START.match(lines[index][:LINE_LIMIT]):
        return False
    following = _after_panic(lines, index)
    return following < len(lines) and bool(_OTHER_FRAME.match(lines[following][:LINE_LIMIT]))


def _after_panic(lines: Sequence[str], start: int) -> int:
    """Where the frames begin: Go tells a signal, leaves a line blank and names the goroutine first."""
    index = start + 1
    if lines[start].startswith(("panic: ", "fatal error: ")):
        while index < min(len(lines), start + 5) and not _OTHER_FRAME.match(lines[index][:LINE_LIMIT]):
            index += 1
    return index


def _python(lines: Sequence[str], start: int) -> Traceback:
    margin = lines[start].index(_PYTHON_START)
    frames: list[int] = []
    end = start + 1
    while end < len(lines) and end - start < _LONGEST_TRACE:
        line = lines[end][margin:]
        if line[:1] not in (" ", "\t"):
            break
        if _FRAME.match(line[:LINE_LIMIT]):
            frames.append(end)
        end += 1
    key = []
    if frames:
        own = [index for index in frames if "site-packages" not in lines[index] and "/lib/python" not in lines[index]]
        key = sorted({frames[-1], *own[-1:]})
        if frames[-1] + 1 < end:
            key.append(frames[-1] + 1)
    if end < len(lines) and lines[end].strip():
        key.append(end)
        end += 1
    return Traceback(start, end, tuple(key))


def _other(lines: Sequence[str], start: int) -> Traceback:
    first = end = _after_panic(lines, start)
    while end < len(lines) and end - start < _LONGEST_TRACE and _OTHER_FRAME.match(lines[end][:LINE_LIMIT]):
        end += 1
    place = next((index for index in range(first, end) if _GO_PLACE.match(lines[index][:LINE_LIMIT])), first)
    return Traceback(
        start, end, tuple(dict.fromkeys((start, max(place - 1, start), place))) if place > first else (start, first)
    )
