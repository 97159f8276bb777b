"""The lab's page: an output with its stub, line by line, and the same output under other policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from compression.engine.lab import Elsewhere, Tried, elsewhere
from compression.engine.presets import PRESETS
from compression.engine.stubs import Stubber
from compression.transcripts import engine_messages
from sessions.models import Message, Project

RUNS_SHOWN, LINES_SHOWN, LINE_CHARS = 120, 12, 400
TEXT_SHOWN = 2_000
PICKS = 12


@dataclass(frozen=True, slots=True)
class Output:
    """A tool output with what is known of its call."""

    text: str
    tool: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """Lines in a row that a stub has, or has not. ``more`` of them are not shown."""

    is_kept: bool
    first: int
    lines: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Row:
    """A policy's line in the table."""

    found: Elsewhere
    text: str
    saved: float


@lru_cache(maxsize=1)
def stubber() -> Stubber:
    """One for the process: what was worked out of an output serves the next request. Bounded by itself."""
    return Stubber()


def picked(project: Project, session: int, message: int) -> Output | None:
    """The tool result in a message of a session of the project; None when there is none."""
    rows = Message.objects.filter(session__project=project, session_id=session, index=message)
    for engine, _counts in engine_messages(list(rows)):
        for part in engine.parts:
            if part.kind == "tool_result":
                return Output(part.text, part.name, _arguments(project, session, message, part.call_id))
    return None


def _arguments(project: Project, session: int, message: int, call_id: str) -> str:
    """The arguments of the call, looked for in the messages shortly before."""
    rows = Message.objects.filter(
        session__project=project, session_id=session, role="assistant", index__lt=message
    ).order_by("-index")[:PICKS]
    for engine, _counts in engine_messages(list(rows)):
        for part in engine.parts:
            if part.kind == "tool_call" and part.call_id == call_id:
                return part.text
    return ""


def runs(lines: Iterable[tuple[str, bool]]) -> tuple[list[Run], int]:
    """Kept and dropped runs in order, and how many runs are left out."""
    found: list[Run] = []
    at = 1
    for is_kept, rows in groupby(lines, key=lambda row: row[1]):
        own = [line for line, _ in rows]
        shown = own if len(own) <= LINES_SHOWN or is_kept else own[:3]
        shown = shown[: 3 * LINES_SHOWN]
        found.append(Run(is_kept, at, tuple(line[:LINE_CHARS] for line in shown), len(own) - len(shown)))
        at += len(own)
    return found[:RUNS_SHOWN], max(0, len(found) - RUNS_SHOWN)


def rows(output: Output, tried: Tried) -> Sequence[Row]:
    """The output under every preset and reference that acts by itself, ours first."""
    policies = [policy for policy in PRESETS.values() if policy.strategy not in ("none", "recorded")]
    found = elsewhere(output.text, policies, tool=output.tool, arguments=output.arguments, stubber=stubber())
    return [
        Row(one, one.text[:TEXT_SHOWN], 1 - one.tokens / tried.tokens if tried.tokens and one.fate != "left" else 1.0)
        for one in found
    ]
