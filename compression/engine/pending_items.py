"""What a session's task list still holds: the unfinished entries after all of its changes.

Lists come whole (TodoWrite, update_plan, todo), merged by id, or an entry at a time (TaskCreate, TaskUpdate, whose
result says the number). Lists that are prose are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from compression.engine.tool_calls import parsed

_LIST_KEYS = ("todos", "plan", "items", "tasks", "todoList", "todo_list")
_TEXT_KEYS = ("content", "step", "subject", "title", "task", "description", "text")
_CREATED = re.compile(r"#(\d{1,9})\b")
_DONE = frozenset(("completed", "complete", "done", "cancelled", "canceled", "deleted", "skipped"))
_CHECKBOX = re.compile(r"(?m)^[ \t]*[-*] ?\[( |x|X|~|-)\] (.+)$")


def pending_items(calls: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """(text, status) of what is unfinished. ``calls``: (arguments, result) of the calls that keep lists, oldest
    first; a call whose result is missing counts."""
    entries: dict[str, tuple[str, str]] = {}
    for arguments, result in calls:
        values = parsed(arguments)
        if not isinstance(values, dict):
            continue
        listed = next((values[key] for key in _LIST_KEYS if isinstance(values.get(key), list | str)), None)
        if listed is not None:
            fresh = _listed(listed)
            entries = entries | fresh if values.get("merge") is True else fresh
        else:
            _change(entries, values, result)
    return tuple((text, status) for text, status in entries.values() if text and status.lower() not in _DONE)


def _listed(entries: list[object] | str) -> dict[str, tuple[str, str]]:
    if isinstance(entries, str):
        boxes = _CHECKBOX.findall(entries)
        return {
            str(n): (text.strip(), "completed" if mark in "xX" else "pending") for n, (mark, text) in enumerate(boxes)
        }
    found: dict[str, tuple[str, str]] = {}
    for number, entry in enumerate(entries):
        if isinstance(entry, dict):
            found[str(entry.get("id", f"at {number}"))] = _text(entry), _status(entry)
        elif isinstance(entry, str):
            found[f"at {number}"] = entry, "pending"
    return found


def _change(entries: dict[str, tuple[str, str]], values: Mapping[str, object], result: str) -> None:
    """One entry created, or changed by its number."""
    number = next((str(values[key]) for key in ("taskId", "task_id", "id") if values.get(key)), "")
    if number:
        text, status = entries.get(number, ("", ""))
        entries[number] = _text(values) or text, _status(values) if values.get("status") else status or "pending"
    elif _text(values):
        created = _CREATED.search(result[:200])
        entries[created.group(1) if created else f"new {len(entries)}"] = _text(values), _status(values)


def _text(entry: Mapping[str, object]) -> str:
    return next((value for key in _TEXT_KEYS if isinstance(value := entry.get(key), str) and value.strip()), "")


def _status(entry: Mapping[str, object]) -> str:
    status = entry.get("status")
    if isinstance(status, str) and status:
        return status
    return "completed" if entry.get("completed") is True or entry.get("done") is True else "pending"
