"""Messages in a file: a bare array, a request with one, or a list of such requests of which one is chosen.

Bytes are kept: what is cut out of a file is a piece of it.
"""

from __future__ import annotations

from pathlib import Path

from compression.dialects.bodies import document, read_messages
from compression.dialects.raw_json import Value
from compression.dialects.request import Dialect, Request, Unreadable
from compression.subjects import NoSubject

MOST_BYTES = 512 * 1024 * 1024
SHOWN_KEYS = 20


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
        found = _chosen(top, path.name, key)
        members = found.members()
        if found.kind == "array":
            return read_messages(raw, found, dialect)
        return read_messages(raw, members.get("messages"), dialect, members.get("system"), members.get("tools"))
    except Unreadable as error:
        raise NoSubject(f"{path.name}: {error}") from None


def _chosen(top: Value, name: str, key: str | None) -> Value:
    """One of several requests by its key; the only one without."""
    items = top.items()
    runs = {_key(item, n): item for n, item in enumerate(items) if "messages" in item.members()}
    if not runs or len(runs) < len(items):
        if key is not None:
            raise NoSubject(f"{name} holds one list of messages; leave --session out")
        return top
    if key is None and len(runs) > 1:
        keys = ", ".join(list(runs)[:SHOWN_KEYS])
        raise NoSubject(f"{name} holds {len(runs)} sessions; choose one with --session KEY: {keys}")
    if key is not None and key not in runs:
        keys = ", ".join(list(runs)[:SHOWN_KEYS])
        raise NoSubject(f"{name} has no session {key[:80]!r}; its keys: {keys}")
    return runs[key] if key is not None else next(iter(runs.values()))


def _key(run: Value, number: int) -> str:
    """What a run calls itself, else its place in the list."""
    members = run.members()
    for name in ("session_id", "id"):
        text = members[name].text() if name in members else None
        if text:
            return text[:80]
    return str(number)
