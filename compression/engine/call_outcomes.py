"""How a tool call ended: its exit status, whether it failed, and its first line of trouble.

Read from the result alone, in the words that agents use. Without a sign of failure a call counts as done;
whether its output is right is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import orjson

from compression.engine.readers.problems import error_lines, tracebacks
from compression.engine.tool_output import cleaned
from compression.engine.transcript import Part

_EXIT = re.compile(
    r"^[\s\[(<]*(?:the command |command |process )?"
    r"(?:completed with |finished with |failed with |exited with )?"
    r"(?:exit(?:[ _]?(?:code|status))?|returncode|code|status)[>:=\s]+(-?\d{1,5})(?=[\s\])<.,;]|$)",
    re.IGNORECASE,
)
_EDGE_LINES = 4
_LONGEST_STATUS_LINE = 200
_REFUSED = ("<tool_use_error>", "Error:", "ERROR:", "error:", "Error executing", "Failed to", "failed to")
_STATUS_NUMBER = re.compile(r'^[A-Za-z_]+: "?(-?\d{1,5})"?$')
_LONGEST_READ = 200_000


def exit_code(text: str) -> int | None:
    """The exit status that a result states in its wrapper or in its first or last lines; None when it states none."""
    output = cleaned(text)
    for line in output.status:
        match = _STATUS_NUMBER.match(line)
        if match:
            return int(match.group(1))
    lines = output.lines
    edges = lines if len(lines) <= 2 * _EDGE_LINES else (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:])
    for line in edges:
        match = _EXIT.match(line[:_LONGEST_STATUS_LINE])
        if match:
            return int(match.group(1))
    return None


def failed(result: Part) -> bool:
    """Whether a result tells of a failure: flagged, ended with another status than 0, or refused by the tool."""
    if result.is_error:
        return True
    code = exit_code(result.text)
    if code is not None:
        return code != 0
    start = result.text[:_LONGEST_STATUS_LINE].lstrip()
    return start.startswith(_REFUSED) or (start.startswith("{") and _says_error(result.text))


def _says_error(text: str) -> bool:
    try:
        answer = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(answer, dict) and (bool(answer.get("error")) or answer.get("success") is False)


def first_trouble(text: str) -> str:
    """The line that says what went wrong: of a stack trace the one that names the error, else the first error line;
    empty when no line speaks of trouble."""
    lines = cleaned(text[:_LONGEST_READ]).lines
    for trace in tracebacks(lines):
        if trace.key:
            return lines[trace.key[-1]].strip()
    found = error_lines(lines)
    return lines[found[0]].strip() if found else ""


def first_words(text: str) -> str:
    """The first line that says more than an exit status; empty when none does."""
    return next((line.strip() for line in _spoken(cleaned(text[:_LONGEST_READ]).lines)), "")


def _spoken(lines: Sequence[str]) -> Sequence[str]:
    return [line for line in lines if line.strip() and not _EXIT.match(line[:_LONGEST_STATUS_LINE])]
