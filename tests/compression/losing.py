"""Stored sessions in which the agent needs what has left its window."""

from __future__ import annotations

from dataclasses import replace

from sessions.importers.parsed import ParsedBoundary, ParsedSession, Part
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store

HOLDER = 4
"""The result that says rows 10042 and 10075 first: a line that no stub of a log keeps, and its last one."""


def needing(*, own: bool = False) -> ParsedSession:
    """Sixty logs; the last response names rows of the second. ``own``: the agent compacted before turn 30."""
    found = parsed(60, lines=76)
    found.messages[-2].parts[0] = Part("text", "Row 10042 stopped the batch, not 10075")
    if own:
        found.boundaries = [ParsedBoundary(found.turns[30].request_end - 1, "compact")]
    return found


def saying(found: ParsedSession, text: str) -> ParsedSession:
    """The same with ``text`` in place of a middle row of ``HOLDER``."""
    part = found.messages[HOLDER].parts[0]
    found.messages[HOLDER].parts[0] = replace(part, text=part.text.replace("row 10042 of batch", text))
    return found


def losing(project: Project, *, own: bool = False) -> Session:
    return store(needing(own=own), project)
