"""The plan of an example session, before any format: prompts, responses, calls and their results.

Writers turn a plan into a file. A plan holds minutes of the story, never dates or ids.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sessions.example.project_files import numbered
from sessions.example.shop import HOME, source


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and what came back."""

    name: str
    arguments: dict[str, Any]
    result: str
    is_error: bool = False

    @property
    def arguments_text(self) -> str:
        """The arguments as compact JSON, which is what a message of this call costs."""
        return json.dumps(self.arguments, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Response:
    """One model response: maybe thinking, maybe words, maybe calls. ``wait_minutes`` is how long
    its calls run, for those that take so long that the clock must show it."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    wait_minutes: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's prompt and the responses up to the next one. Minutes count from the session's start;
    ``end_minute`` is the time of the last response."""

    start_minute: float
    end_minute: float
    prompt: str
    responses: tuple[Response, ...]


def read(path: str, text: str, first: int = 1, count: int | None = None) -> Call:
    """A Read call for a file of the invented project."""
    arguments: dict[str, Any] = {"file_path": f"{HOME}/{path}"}
    if count is not None:
        arguments |= {"offset": first, "limit": count}
    return Call("Read", arguments, numbered(text, first, count))


def bash(command: str, description: str, result: str, *, is_error: bool = False) -> Call:
    """A shell command."""
    return Call("Bash", {"command": command, "description": description}, result, is_error)


def python(code: str, result: str) -> Call:
    """A run of Python code."""
    return Call("Python", {"code": code}, result)


def write_file(path: str, text: str) -> Call:
    """A run of Python code that writes a whole file: how this agent edits."""
    code = f"from pathlib import Path\n\ntext = '''{text}'''\nprint(Path({path!r}).write_text(text), {path!r})"
    return python(code, f"{len(text)} {path}")


def minutes(exchange: Exchange) -> list[float]:
    """When each response was complete: spread over the exchange after the waits, the last one exactly at its end."""
    count = len(exchange.responses)
    waits = sum(response.wait_minutes for response in exchange.responses[:-1])
    step = (exchange.end_minute - exchange.start_minute - waits) / count
    rng = source(f"minutes/{exchange.start_minute}")
    times = []
    waited = 0.0
    for position, response in enumerate(exchange.responses, start=1):
        shift = 0.0 if position == count else (rng.random() - 0.5) * 0.4
        times.append(exchange.start_minute + waited + step * (position + shift))
        waited += response.wait_minutes
    return times
