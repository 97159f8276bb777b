"""What a command is asked to work on: a session file, or the number of a stored session.

Files need no database. A file with several sessions needs the key of one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import DatabaseError

from compression.transcripts import Subject, from_parsed, from_session
from sessions.importers import read_sessions
from sessions.importers.parsed import ImportFailure, ParsedSession

SHOWN_KEYS = 20
LONGEST_NUMBER = 18  # digits; a database counts no further


class NoSubject(Exception):
    """Nothing to work on; says what was looked for and what would help."""


def pick(sessions: list[ParsedSession], key: str | None, name: str) -> ParsedSession:
    """One session of a file: the only one, or the one with ``key``."""
    keys = [session.key for session in sessions]
    if key is not None:
        if key not in keys:
            raise NoSubject(f"{name} has no session {key[:80]!r}; its keys: {_some(keys)}")
        return sessions[keys.index(key)]
    if len(sessions) > 1:
        raise NoSubject(f"{name} holds {len(sessions)} sessions; choose one with --session KEY: {_some(keys)}")
    return sessions[0]


def _some(keys: list[str]) -> str:
    rest = len(keys) - SHOWN_KEYS
    return ", ".join(key[:80] for key in keys[:SHOWN_KEYS]) + (f" and {rest} more" if rest > 0 else "")


def subject_of(target: str, *, key: str | None = None, format_name: str | None = None) -> Subject:
    """The session that ``target`` names: a path, or the number of a stored session. NoSubject says why not."""
    path = Path(target)
    if is_stored(target):
        return _stored(target)
    try:
        parsed = pick(read_sessions(path, format=format_name), key, path.name)
    except ImportFailure as failure:
        raise NoSubject(failure.sentences) from None
    return from_parsed(parsed)


def is_stored(target: str) -> bool:
    """Whether ``target`` is the number of a stored session and not a file."""
    return target.isdecimal() and not os.path.exists(target)  # Path.exists raises for long names


def _stored(target: str) -> Subject:
    from sessions.models import Session

    if len(target) > LONGEST_NUMBER:
        raise NoSubject(f"{target[:LONGEST_NUMBER]}… is no number of a stored session and no file")
    number = int(target)
    with a_reachable_database():
        session = Session.objects.filter(pk=number).first()
        if session is None:
            raise NoSubject(f"there is no stored session {number}; `manage.py ingest` prints the numbers")
        return from_session(session)


@contextmanager
def a_reachable_database() -> Iterator[None]:
    """Turns a database that does not answer into a complaint that says which setting names it."""
    try:
        yield
    except DatabaseError as error:
        why = str(error).strip().partition("\n")[0]
        raise NoSubject(f"the database that DATABASE_URL names cannot be used: {why}") from None
