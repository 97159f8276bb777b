"""The state of the work at a request, in the session's own words: what an agent needs to go on from here.

Goal and latest requests, constraints, unfinished tasks, open errors, the last command, the files touched. Every word
is copied from the request's messages or counted; no model is asked and nothing later is read. What was *decided* in
prose is only there as the assistant's last words: this is no summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import dirname

from compression.engine.demands import demands
from compression.engine.history import Course, Request
from compression.engine.open_errors import Outcome, in_words, open_errors, outcome_of
from compression.engine.pending_items import pending_items
from compression.engine.pins import is_prompt
from compression.engine.plain_line import plain_line
from compression.engine.tool_calls import FileAction, Made, calls_of
from compression.engine.transcript import Message
from compression.engine.units import Count

RECENT_CALLS = 6
LATEST_REQUESTS = 3
MOST_DEMANDS = 14
MOST_FILES = 24
MOST_PENDING = 16

_LONGEST_GOAL = 900
_LONGEST_REQUEST = 500
_LONGEST_LINE = 260
_LONGEST_SAID = 600

_TITLE = "State of the work, in the session's own words:"
_NOTE_TITLE = "State of the work"
_MARK = 3
"""Tokens that a line's mark and break cost at most."""

_OF_THE_CLIENT = re.compile(
    r"\s*(?:<(?:bash-|command-|local-command)|\[Request interrupted|Caveat: The messages below)"
)
_RULES = frozenset(("injected", "memory"))
_DONE_TO: dict[FileAction, str] = {"read": "read", "write": "written", "edit": "edited", "delete": "deleted"}


@dataclass(frozen=True, slots=True)
class FileTouched:
    """A file with the last thing that was done to it; ``changes`` = how often it was written or edited."""

    path: str
    action: FileAction
    changes: int


@dataclass(frozen=True, slots=True)
class Header:
    """Single lines of the session, each bounded. ``requests`` are the latest after the goal; ``files`` newest first,
    changed ones before those that were only read; ``counts`` are the numbers that were counted here."""

    goal: str = ""
    requests: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    pending: tuple[tuple[str, str], ...] = ()
    errors: tuple[Outcome, ...] = ()
    command: Outcome | None = None
    files: tuple[FileTouched, ...] = ()
    said: str = ""
    calls: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it, without a token budget."""
        return _rendered(_sections(self))

    @property
    def counts(self) -> frozenset[str]:
        """Numbers of the text that stand nowhere in the session."""
        return frozenset(str(file.changes) for file in self.files)


def state_header(course: Course, request: Request, upto: int, *, recent_calls: int = RECENT_CALLS) -> Header:
    """The state of the work before message ``upto``, from the messages of a request. O(its text)."""
    messages = [
        course.transcript.messages[i]
        for i in request.indexes()
        if i < min(upto, request.end) and i not in course.excluded
    ]
    held = {message.index for message in messages}
    made = [call for call in calls_of(course).all if call.place[0] in held]
    ended = [(call, _text_at(course, call.result)) for call in made if call.result and call.result[0] in held]
    run = [call for call, _ in ended if call.call.action == "run"]
    prompts = [text for m in messages if is_prompt(m) and (text := _spoken(m))]
    others = [_spoken(m) for m in messages if m.role == "system" or (m.flags & _RULES and "skill" not in m.flags)]
    goal = plain_line(prompts[0], _LONGEST_GOAL) if prompts else ""
    later = [text for text in dict.fromkeys(prompts[1:]) if text != prompts[0]]
    requests = tuple(plain_line(text, _LONGEST_REQUEST) for text in later[-LATEST_REQUESTS:])
    said = next((text for m in reversed(messages) if m.role == "assistant" and (text := _said(m))), "")
    return Header(
        goal=goal,
        requests=requests,
        constraints=_constraints(prompts, others, (goal, *requests)),
        pending=_pending(course, made, dict(ended)),
        errors=open_errors(course, [call for call, _ in ended]),
        command=outcome_of(course, run[-1]) if run else None,
        files=_files(call for call, _ in ended if not call.failed),
        said=plain_line(said, _LONGEST_SAID),
        calls=tuple(in_words(call) for call in made[max(0, len(made) - recent_calls) :]),
    )


def header_text(header: Header, count: Count, budget: int = 1_200) -> str:
    """The header in at most ``budget`` tokens: the most needed lines first, long ones shortened before they are
    dropped. Empty when not even the goal fits."""
    sections = sorted(_sections(header), key=lambda section: section.rank)
    chosen: dict[str, list[str]] = {}
    left = budget - count([_TITLE])[0] - 1
    for section in sections:
        for line in section.lines:
            candidates = [line, *(plain_line(line, len(line) // part) for part in (2, 4) if len(line) > _LONGEST_LINE)]
            costs = count([*candidates, section.title])
            title = 0 if section.title in chosen else costs[-1] + 1
            fitting = [at for at in range(len(candidates)) if costs[at] + _MARK + title <= left]
            if fitting:
                chosen.setdefault(section.title, []).append(candidates[fitting[0]])
                left -= costs[fitting[0]] + _MARK + title
    text = _rendered([replace(section, lines=tuple(chosen.get(section.title, ()))) for section in _sections(header)])
    return text if count([text])[0] <= budget else ""


def memory_note(header: Header) -> str:
    """The header as a Markdown note that an agent can load later."""
    parts = [f"# {_NOTE_TITLE}"]
    for section in _sections(header):
        if section.lines:
            parts += [f"## {section.title}", "\n".join(f"- {line}" for line in section.lines)]
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Section:
    """``rank``: the lower the more needed. Sections stand in reading order."""

    title: str
    rank: int
    lines: tuple[str, ...]


def _sections(header: Header) -> list[_Section]:
    changed = tuple(file for file in header.files if file.action != "read")
    read = tuple(file for file in header.files if file.action == "read")
    root = _root(header.files)
    under = f", under {root}" if root else ""
    return [
        _Section("Goal", 0, (header.goal,) if header.goal else ()),
        _Section("Latest requests", 1, header.requests),
        _Section("Constraints", 5, header.constraints),
        _Section("Unfinished tasks", 2, tuple(f"{text} [{status}]" for text, status in header.pending)),
        _Section("Open errors", 3, tuple(_ending(error) for error in header.errors if error != header.command)),
        _Section("Last command", 4, (_ending(header.command),) if header.command else ()),
        _Section(f"Files changed, newest first{under}", 6, tuple(_touched(file, root) for file in changed)),
        _Section(f"Files read, newest first{under}", 8, tuple(_touched(file, root) for file in read)),
        _Section("Last words of the assistant", 7, (header.said,) if header.said else ()),
        _Section("Last calls, oldest first", 9, header.calls),
    ]


def _rendered(sections: Iterable[_Section]) -> str:
    blocks = ["\n".join((f"{s.title}:", *(f"- {line}" for line in s.lines))) for s in sections if s.lines]
    return "\n".join((_TITLE, *blocks)) if blocks else ""


def _said(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if part.kind == "text" and part.text.strip())


def _spoken(message: Message) -> str:
    """What a message says, unless the client wrote it about itself."""
    text = _said(message)
    return "" if _OF_THE_CLIENT.match(text) else text


def _text_at(course: Course, place: tuple[int, int]) -> str:
    return course.transcript.messages[place[0]].parts[place[1]].text


def _constraints(prompts: Iterable[str], others: Iterable[str], shown: Sequence[str]) -> tuple[str, ...]:
    """Demands of the user, the newest where they are too many, then those of what was injected; none that a shown
    request says already."""
    own = dict.fromkeys(demand for text in prompts for demand in demands(text))
    own_new = [demand for demand in own if not any(demand in text for text in shown)][-MOST_DEMANDS:]
    rest = dict.fromkeys(demand for text in others for demand in demands(text) if demand not in own)
    return tuple([*own_new, *rest][:MOST_DEMANDS])


def _pending(course: Course, made: Iterable[Made], ended: Mapping[Made, str]) -> tuple[tuple[str, str], ...]:
    lists = [call for call in made if call.call.action == "plan" and not call.failed]
    found = pending_items((_text_at(course, call.place), ended.get(call, "")) for call in lists)
    return tuple((plain_line(text, _LONGEST_LINE), plain_line(status, 40)) for text, status in found[:MOST_PENDING])


def _files(done: Iterable[Made]) -> tuple[FileTouched, ...]:
    touched: dict[str, FileTouched] = {}
    for made in done:
        for use in made.call.files:
            if not use.path or len(use.path) > _LONGEST_LINE or not use.path.isprintable():
                continue
            before = touched.pop(use.path, FileTouched(use.path, use.action, 0))
            changes = before.changes + (use.action != "read")
            action = before.action if use.action == "read" and before.changes else use.action
            touched[use.path] = FileTouched(use.path, action, changes)
    newest = [*reversed(touched.values())]
    newest.sort(key=lambda file: file.action == "read")
    return tuple(newest[:MOST_FILES])


def _root(files: Sequence[FileTouched]) -> str:
    """The directory that saves most when named once for the files below it; files elsewhere keep all of theirs."""
    below: dict[str, int] = {}
    for file in files:
        directory = dirname(file.path)
        while len(directory) > 1 and directory.startswith("/"):
            below[directory] = below.get(directory, 0) + 1
            directory = dirname(directory)
    saved = {directory: (number - 1) * len(directory) for directory, number in below.items() if number > 1}
    return max(saved, key=lambda directory: (saved[directory], directory), default="")


def _touched(file: FileTouched, root: str) -> str:
    path = file.path.removeprefix(f"{root}/") if root else file.path
    times = f", {file.changes} times" if file.changes > 1 else ""
    return path if file.action == "read" else f"{path} ({_DONE_TO[file.action]}{times})"


def _ending(outcome: Outcome) -> str:
    code = "" if outcome.code is None else f"exit code {outcome.code}"
    ended = code or ("failed" if outcome.failed else "no error reported")
    trouble = f": {outcome.trouble}" if outcome.trouble else ""
    return f"{outcome.call} -> {ended}{trouble}"
