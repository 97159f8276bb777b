"""How the calls of a session ended, and which failures nothing has put right since.

A failure is put right by a later success of the same command, or by a later change (or read) of the same file. That
another command would have proved the same is not seen: an error that is listed may be solved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compression.engine.call_outcomes import exit_code, first_trouble, first_words
from compression.engine.history import Course
from compression.engine.plain_line import plain_line
from compression.engine.tool_calls import Made
from compression.engine.tool_output import cleaned

MOST_ERRORS = 6

_LONGEST_LINE = 260
_LONGEST_CALL = 140
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
class Outcome:
    """A call in words and how it ended; ``code`` None when its result states none. ``trouble``: its error line."""

    call: str
    code: int | None
    failed: bool
    trouble: str = ""


def in_words(made: Made) -> str:
    """A call in one bounded line: the tool and what it is about."""
    return plain_line(f"{made.call.name} {made.call.target}", _LONGEST_CALL)


def outcome_of(course: Course, made: Made) -> Outcome:
    """How a call ended; worked out once for a transcript."""
    known: dict[tuple[int, int], Outcome] = course.transcript.memo.setdefault(f"outcomes {course.history}", {})
    if made.place not in known and made.result is not None:
        message, part = made.result
        text = course.transcript.messages[message].parts[part].text
        bad = made.failed or _broken(made, text)
        words = plain_line(made.call.command, _LONGEST_LINE) if made.call.action == "run" else ""
        known[made.place] = Outcome(words or in_words(made), exit_code(text), bad, _trouble(text) if bad else "")
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


def open_errors(course: Course, ended: Sequence[Made]) -> tuple[Outcome, ...]:
    """Failures after which neither the same command nor the same change or read of the file succeeded; newest first,
    of each only the last."""
    still: dict[tuple[str, str], Outcome] = {}
    for at, made in enumerate(ended):
        outcome, keys = outcome_of(course, made), _subjects(made)
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
