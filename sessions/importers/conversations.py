"""Where the message lists stand in a file: a bare array, a wrapper, runs, requests or one message a line.

Says nothing about what a message means; a list element may be of any type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sessions.importers.fields import JsonObject, tally
from sessions.importers.reader import Reader

_LIST_KEYS = ("messages", "traj")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One list of messages and the object that held it (empty for a bare array)."""

    messages: list[Any]
    about: JsonObject


def conversations(values: Iterator[Any], reader: Reader) -> list[Conversation]:
    """All conversations of a file, in file order. Lone messages, one a line, make one conversation."""
    found: list[Conversation] = []
    loose: list[Any] = []
    for value in values:
        if isinstance(value, list):
            found.extend(_from_array(value, reader))
        elif isinstance(value, dict) and (held := _held_list(value)) is not None:
            found.append(Conversation(held, value))
        elif isinstance(value, dict) and "role" in value:
            loose.append(value)
        else:
            reader.skip("no message")
    return [Conversation(loose, {}), *found] if loose else found


def _from_array(items: list[Any], reader: Reader) -> list[Conversation]:
    runs = [item for item in items if isinstance(item, dict) and _held_list(item) is not None]
    if runs:
        if len(runs) < len(items):
            tally(reader.skipped, "run without messages", len(items) - len(runs))
        return [Conversation(_held_list(run) or [], run) for run in runs]
    lists = [item for item in items if isinstance(item, list)]
    if lists and len(lists) == len(items):
        return [Conversation(item, {}) for item in lists]
    return [Conversation(items, {})] if items else []


def _held_list(record: JsonObject) -> list[Any] | None:
    for key in _LIST_KEYS:
        value = record.get(key)
        if isinstance(value, list):
            return value
    return None
