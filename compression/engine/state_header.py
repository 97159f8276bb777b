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

from compression.engine.call_outcomes import exit_code, first_trouble, first_words
from compression.engine.demands import demands
from compression.engine.history import Course, Request
from compression.engine.pending_items import pending_items
from compression.engine.pins import is_prompt
from compression.engine.plain_line import plain_line
from compression.engine.tool_calls import FileAction, Made, calls_of
from compression.engine.tool_output import cleaned
from compression.engine.transcript import Message
from compression.engine.units import Count

RECENT_CALLS = 6
LATEST_REQUESTS = 3
MOST_DEMANDS = 14
MOST_FILES = 24
MOST_ERRORS = 6
MOST_PENDING = 16

_LONGEST_GOAL = 900
_LONGEST_REQUEST = 500
_LONGEST_LINE = 260
_LONGEST_SAID = 600
_LONGEST_CALL = 140

_TITLE = "State of the work, in the session's own words:"
_NOTE_TITLE = "State of the work"
_MARK = 3
"""Tokens that a line's mark and break cost at most."""

_OF_THE_CLIENT = re.compile(
    r"\s*(?:<(?:bash-|command-|local-command)|\[Request interrupted|Caveat: The messages below)"
)
_RULES = frozenset(("injected", "memory"))
_DONE_TO: dict[FileAction, str] = {"read": "read", "write": "written", "edit": "edited", "delete": "deleted"}
_PREFIXED = re.compile(r"^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)+")
_PLUMBING = re.compile(r"(?:2>&1|\|).*", re.DOTALL)
_LOOKING = re.compile(r"\s*(?:cat|head|tail|sed|grep|rg|ls|find|git (?:log|show|diff|blame)|gh|curl|jq|wc|echo)\b")
_BROKEN = re.compile(
    r"^(?:FAIL\b|FAILED\b|--- FAIL:|error(?:\[\w+\])?:|Error:|fatal:|panic:|npm ERR!|E   \S)|\bERROR task failed\b"
    r"|^Traceback \(most recent call last\):|^=+ .*\b\d+ (?:failed|errors?)\b"
)
_REFUSED = re.compile(r"the user said:\s*\S")
_MOST_LINES_READ = 4_000
_PROBES_COUNT = 20
"""A look that failed (a page, a file, a search) is of interest for so many calls."""


@dataclass(frozen=True, slots=True)
class FileTouched:
    """A file with the last thing that was done to it; ``changes`` = how often it was written or edited."""

    path: str
    action: FileAction
    changes: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call in words and how it ended; ``code`` None when its result states none. ``trouble``: its error line."""

    call: str
    code: int | None
    failed: bool
    trouble: str = ""


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
        errors=_open_errors(course, [call for call, _ in ended]),
        command=_outcome(course, run[-1]) if run else None,
        files=_files(call for call, _ in ended if not call.failed),
        said=plain_line(said, _LONGEST_SAID),
        calls=tuple(_words(call) for call in made[max(0, len(made) - recent_calls) :]),
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
        _Section("Open errors", 3, tuple(map(_ending, header.errors))),
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


def _words(made: Made) -> str:
    return plain_line(f"{made.call.name} {made.call.target}", _LONGEST_CALL)


def _ending(outcome: Outcome) -> str:
    code = "" if outcome.code is None else f"exit code {outcome.code}"
    ended = code or ("failed" if outcome.failed else "no error reported")
    trouble = f": {outcome.trouble}" if outcome.trouble else ""
    return f"{outcome.call} -> {ended}{trouble}"


def _outcome(course: Course, made: Made) -> Outcome:
    """How a call ended; worked out once for a transcript."""
    known: dict[tuple[int, int], Outcome] = course.transcript.memo.setdefault("outcomes", {})
    if made.place not in known and made.result is not None:
        text = _text_at(course, made.result)
        bad = made.failed or _broken(made, text)
        words = plain_line(made.call.command, _LONGEST_LINE) if made.call.action == "run" else _words(made)
        known[made.place] = Outcome(words, exit_code(text), bad, _trouble(text) if bad else "")
    return known[made.place]


def _trouble(text: str) -> str:
    refused = _REFUSED.search(text[:4_000])
    said = text[refused.start() :] if refused else first_trouble(text) or first_words(text)
    return plain_line(said, _LONGEST_LINE)


def _broken(made: Made, text: str) -> bool:
    """A command may hide its exit code in a pipe; commands that only show text may show any error."""
    if made.call.action != "run" or _LOOKING.match(_PREFIXED.sub("", made.call.command)):
        return False
    lines = cleaned(text).lines
    edges = lines if len(lines) <= _MOST_LINES_READ else (*lines[:1_000], *lines[-3_000:])
    return any(_BROKEN.search(line[:300]) for line in edges)


def _open_errors(course: Course, ended: Sequence[Made]) -> tuple[Outcome, ...]:
    """Failures after which neither the same command nor the same change or read of the file succeeded; newest first,
    of each only the last."""
    still: dict[tuple[str, str], Outcome] = {}
    for at, made in enumerate(ended):
        outcome, keys = _outcome(course, made), _subjects(made)
        for key in keys:
            still.pop(key, None)
        nothing_found = outcome.code == 1 and not outcome.trouble
        long_ago = _is_probe(made) and at < len(ended) - _PROBES_COUNT
        if outcome.failed and keys and not nothing_found and not long_ago:
            still[keys[0]] = outcome
    return tuple(reversed(still.values()))[:MOST_ERRORS]


def _is_probe(made: Made) -> bool:
    call = made.call
    return call.action in ("read", "other") or bool(_LOOKING.match(_PREFIXED.sub("", call.command)))


def _subjects(made: Made) -> list[tuple[str, str]]:
    """What a later call must have in common with a failed one to stand for another try."""
    call = made.call
    if call.action == "run":
        last = _PLUMBING.sub("", _PREFIXED.sub("", call.command)).rpartition("&&")[2]
        return [("run", " ".join(last.split()))]
    if call.files:
        return [("read" if use.action == "read" else "change", use.path) for use in call.files]
    return [(call.name, call.target)]
