"""What a tool's output is once its wrapping is off: lines of text, an exit status, a gutter.

Recorded results come wrapped in JSON, coloured, numbered, overwritten by progress bars, or with a
reminder that the client appended. Classification and compression look at the text without all that.
Nothing here judges content; the original is never changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import orjson

# Compressors look at no more than this many characters of one line.
LINE_LIMIT = 2_000

_ANSI = re.compile(r"\x1b(?:\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|[@-Z\\^_()][0-9A-B]?)")
_REMINDER = "<system-reminder>"
_REMINDER_END = "</system-reminder>"
_GUTTER = re.compile(r"( *\d{1,7}(?:\u2192|:(?=[^\d/]|$)|\t))")
_NUMBERED = re.compile(r"(?m)^ *\d{1,7}[\u2192:\t|]")
# Lines that are counted up one by one with a colon and go on with a digit could be times of day, a few of them.
_FEW_LINES = 8
_BODY_KEYS = ("output", "stdout", "content", "result", "text", "aggregated_output")
_ERROR_KEYS = ("stderr", "error")
_STATUS_KEYS = ("exit_code", "exitCode", "exit_status", "returncode", "return_code", "returnCode", "code")


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """``lines`` carry no gutter; ``gutter[i]`` is the number before line i with the mark behind it (empty
    tuple: no listing).

    ``status`` are lines of our own making about a wrapper's exit code (``exit_code: 1``), in words of
    the wrapper. ``reminder_lines`` counts the lines of reminders that were taken off the end.
    """

    lines: tuple[str, ...]
    gutter: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    reminder_lines: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def shown(self, index: int) -> str:
        """Line ``index`` as a stub shows it: with its line number when there was one."""
        return self.gutter[index] + self.lines[index] if self.gutter else self.lines[index]


@lru_cache(maxsize=2)  # detection and compression of one result come right after each other
def cleaned(text: str) -> ToolOutput:
    """``text`` without wrapper, colours, overwritten progress, reminder and gutter."""
    body, status = _unwrapped(text)
    reminder_lines = 0
    if _REMINDER in body:
        body, reminder_lines = _without_reminders(body)
    if "\x1b" in body:
        body = _ANSI.sub("", body)
    if "\r" in body:
        body = "\n".join(_last_state(line) for line in body.replace("\r\n", "\n").split("\n"))
    lines = body.split("\n")
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    gutter: tuple[str, ...] = ()
    if _NUMBERED.match(lines[0]):
        lines, gutter = _without_gutter(lines)
    return ToolOutput(tuple(lines), gutter, status, reminder_lines)


def _unwrapped(text: str) -> tuple[str, tuple[str, ...]]:
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return text, ()
    head = stripped[:200]
    if not any(f'"{key}"' in head or f'"{key}"' in stripped[-200:] for key in _BODY_KEYS):
        return text, ()
    try:
        wrapper = orjson.loads(stripped)
    except orjson.JSONDecodeError:
        return text, ()
    inner = wrapper.get("metadata") if isinstance(wrapper.get("metadata"), dict) else {}
    body_key = next((key for key in _BODY_KEYS if isinstance(wrapper.get(key), str)), None)
    if body_key is None or len(wrapper) > 8 or not _looks_wrapped(wrapper, inner, body_key):
        return text, ()
    status = tuple(
        f"{key}: {orjson.dumps(value).decode()}"
        for source in (wrapper, inner)
        for key, value in source.items()
        if key in _STATUS_KEYS and isinstance(value, int | str) and len(str(value)) <= 40
    )
    parts = [wrapper[body_key]]
    parts += [wrapper[key] for key in _ERROR_KEYS if isinstance(wrapper.get(key), str) and wrapper[key].strip()]
    return "\n".join(parts), status


def _looks_wrapped(wrapper: dict[str, object], inner: dict[str, object], body_key: str) -> bool:
    """A record may have a field named ``text``; a wrapper has a status beside its body, or nothing else that
    is long."""
    if any(key in wrapper or key in inner for key in _STATUS_KEYS):
        return True
    others = [value for key, value in wrapper.items() if key != body_key and key not in _ERROR_KEYS]
    return body_key in ("output", "stdout", "aggregated_output") and all(
        value is None or isinstance(value, bool) or (isinstance(value, str) and not value) for value in others
    )


def _without_reminders(body: str) -> tuple[str, int]:
    """Reminders count only at the very end, where clients append them; elsewhere they are text."""
    removed = 0
    while True:
        end = body.rstrip()
        if not end.endswith(_REMINDER_END):
            return body, removed
        start = end.rfind(_REMINDER)
        if start < 0:
            return body, removed
        removed += end.count("\n", start) + 1
        body = end[:start].rstrip("\n")


def _last_state(line: str) -> str:
    if "\r" not in line:
        return line
    return next((state for state in reversed(line.split("\r")) if state.strip()), "")


def _without_gutter(lines: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """All of the lines must be numbered (blank ones apart) and by the same mark: a log whose lines start
    with digits is no listing."""
    marks = _NUMBERED.findall("\n".join(lines))
    if len(marks) == len(lines) and _counts_lines(marks, lines):
        bare = [line[len(mark) :] for line, mark in zip(lines, marks, strict=True)]
        if marks[0][-1] in ":|" and all(not line or line[0] == " " for line in bare):
            bare = [line[1:] for line in bare]
        return bare, tuple(mark.lstrip() for mark in marks)
    matches = [_GUTTER.match(line[:40]) for line in lines]
    numbered = sum(1 for match in matches if match)
    if numbered < 2 or numbered < 0.9 * sum(1 for line in lines if line.strip()):
        return lines, ()
    if not _rises([match.group() for match in matches if match]):
        return lines, ()
    bare = [line[match.end() :] if match else line for line, match in zip(lines, matches, strict=True)]
    return bare, tuple(match.group().lstrip() if match else "" for match in matches)


def _counts_lines(marks: list[str], lines: list[str]) -> bool:
    """Whether the numbers go up by one from line to line, all with one mark. Rows of a table with a bar may be
    numbered too, but are not put in line like the lines of a file."""
    kind = marks[0][-1]
    if any(mark[-1] != kind for mark in marks):
        return False
    if len(lines) == 1 and lines[0][len(marks[0]) :].lstrip()[:1] in ("{", "["):
        return True
    numbers = [int(mark[:-1]) for mark in marks]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return False
    if kind == "|":
        return len(marks) > 2 and marks[0][0] in " 0"
    if kind == ":":
        return len(marks) >= _FEW_LINES or (len(marks) > 1 and all(_GUTTER.match(line[:40]) for line in lines))
    return len(marks) > 1 or marks[0].startswith("   ")


def _rises(marks: list[str]) -> bool:
    numbers = [int(mark.strip()[:-1] if mark[-1] != "\t" else mark.strip()) for mark in marks]
    return len(numbers) > 1 and all(before < after for before, after in pairwise(numbers))
