"""Messages in a file: a bare array, a request with one, or a list of such requests of which one is chosen.

Bytes are kept: what is cut out of a file is a piece of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from compression.dialects.bodies import document, read_messages
from compression.dialects.raw_json import Value
from compression.dialects.request import Dialect, Request, Unreadable
from compression.subjects import NoSubject
from sessions.importers import read_sessions
from sessions.importers.parsed import ImportFailure

MOST_BYTES = 512 * 1024 * 1024
SHOWN_KEYS = 20
_LISTS = ("messages", "traj")


def request_of(path: Path, *, dialect: Dialect | None, key: str | None) -> Request:
    """The request in a file; NoSubject names the file, the place and the remedy."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise NoSubject(f"{path.name} is larger than {MOST_BYTES:,} bytes: no provider takes such a request")
        raw = path.read_bytes()
    except OSError as error:
        raise NoSubject(f"{path}: cannot be read ({error.strerror})") from None
    try:
        top = document(raw)
        found = _chosen(top, path, key)
        members = found.members()
        if found.kind == "array":
            return read_messages(raw, found, dialect)
        messages = next((members[name] for name in _LISTS if name in members), None)
        return read_messages(raw, messages, dialect, members.get("system"), members.get("tools"))
    except Unreadable as error:
        raise NoSubject(f"{path.name}: {error}") from None


def _chosen(top: Value, path: Path, key: str | None) -> Value:
    """One of several requests by its key; the only one without."""
    items = top.items()
    if not items or not all(any(name in item.members() for name in _LISTS) for item in items):
        if key is not None:
            raise NoSubject(f"{path.name} holds one list of messages; leave --session out")
        return top
    runs = dict(zip(_keys(items, path), items, strict=True))
    if key is None and len(runs) > 1:
        keys = ", ".join(list(runs)[:SHOWN_KEYS])
        raise NoSubject(f"{path.name} holds {len(runs)} sessions; choose one with --session KEY: {keys}")
    if key is not None and key not in runs:
        keys = ", ".join(list(runs)[:SHOWN_KEYS])
        raise NoSubject(f"{path.name} has no session {key[:80]!r}; its keys: {keys}")
    return runs[key] if key is not None else next(iter(runs.values()))


def _keys(items: Sequence[Value], path: Path) -> list[str]:
    """What each run calls itself, else the key by which the other commands know it, else its place in the list."""
    names = [_name(item) for item in items]
    others = [str(number) for number in range(len(items))]
    if not all(names):
        with suppress(ImportFailure):
            read = [session.key for session in read_sessions(path)]
            others = read if len(read) == len(items) else others
    return [name or other for name, other in zip(names, others, strict=True)]


def _name(run: Value) -> str:
    members = run.members()
    for name in ("session_id", "id"):
        text = members[name].text() if name in members else None
        if text:
            return text[:80]
    return ""
