"""One line of metadata for a tool result, by the name of its tool: what Hermes Agent leaves of old output.

Foreign tools are first given the names it knows; what stays unknown gets the generic line. Exit codes are found in
JSON only, as there, and JSON's escaped newlines are no lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("bash", "shell", "exec_command", "local_shell", "run_shell_command", "execute_bash"), "terminal"),
    **dict.fromkeys(("read", "view", "open_file"), "read_file"),
    **dict.fromkeys(("write", "create_file"), "write_file"),
    **dict.fromkeys(("grep", "glob", "search_file_content"), "search_files"),
    **dict.fromkeys(("edit", "multiedit", "replace", "apply_patch", "str_replace_editor"), "patch"),
    **dict.fromkeys(("websearch", "google_web_search"), "web_search"),
    **dict.fromkeys(("webfetch", "web_fetch"), "web_extract"),
    **dict.fromkeys(("task", "agent"), "delegate_task"),
    **dict.fromkeys(("todowrite", "write_todos", "update_plan"), "todo"),
    "skill": "skill_view",
    "askuserquestion": "clarify",
}
"""Names of other agents' tools in lower case -> the tool that does the same."""

_EXIT_CODE = re.compile(r'"exit_code"\s*:\s*(-?\d+)')
_TOTAL = re.compile(r'"total_count"\s*:\s*(\d+)')

Arguments = Mapping[str, Any]


def known_name(tool: str) -> str:
    """The name that the reference knows a tool by; its own when it knows none."""
    return ALIASES.get(tool.lower(), tool)


def describe(tool: str, arguments: str, content: str) -> str:
    """The line for a result; never an error, whatever the arguments are."""
    name, given = known_name(tool), parsed(arguments)
    if name in _LINES:
        return f"[{name}] {_LINES[name](given, content)}"
    if name.startswith("browser_"):
        return f"[{name}] {_first(given, 'url', 'ref', default='')} ({len(content):,} chars)"
    shown = "".join(f" {key}={str(value)[:40]}" for key, value in [*given.items()][:2])
    return f"[{name or 'unknown'}]{shown} ({len(content):,} chars result)"


def parsed(arguments: str) -> dict[str, Any]:
    """The arguments of a call; empty when they are no JSON object."""
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _first(given: Arguments, *keys: str, default: str = "?") -> str:
    value = next((given[key] for key in keys if given.get(key)), default)
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


def _lines(content: str) -> int:
    return content.count("\n") + 1 if content.strip() else 0


def _path(given: Arguments) -> str:
    return _first(given, "path", "file_path", "filePath", "notebook_path")


def _terminal(given: Arguments, content: str) -> str:
    code = _EXIT_CODE.search(content)
    command = _cut(_first(given, "command", "cmd", default=""), 80)
    return f"ran `{command}` -> exit {code.group(1) if code else '?'}, {_lines(content)} lines output"


def _search(given: Arguments, content: str) -> str:
    total = _TOTAL.search(content)
    where = _first(given, "path", "dir_path", default=".")
    count = total.group(1) if total else "?"
    return f"{_first(given, 'target', default='content')} search for '{_first(given, 'pattern')}' in {where} -> " + (
        f"{count} matches"
    )


def _write(given: Arguments, content: str) -> str:
    written = given.get("content")
    return f"wrote to {_path(given)} ({str(written).count(chr(10)) + 1 if written else '?'} lines)"


_LINES: Mapping[str, Callable[[Arguments, str], str]] = {
    "terminal": _terminal,
    "read_file": lambda a, c: f"read {_path(a)} from line {_first(a, 'offset', default='1')} ({len(c):,} chars)",
    "write_file": _write,
    "search_files": _search,
    "patch": lambda a, c: f"{_first(a, 'mode', default='replace')} in {_path(a)} ({len(c):,} chars result)",
    "web_search": lambda a, c: f"query='{_first(a, 'query')}' ({len(c):,} chars result)",
    "web_extract": lambda a, c: f"{_first(a, 'url', 'urls')} ({len(c):,} chars)",
    "delegate_task": lambda a, c: f"'{_cut(_first(a, 'goal', 'description'), 60)}' ({len(c):,} chars result)",
    "execute_code": lambda a, c: f"`{_cut(_first(a, 'code'), 63)}` ({_lines(c)} lines output)".replace("\n", " "),
    "skill_view": lambda a, c: f"name={_first(a, 'name', 'skill')} ({len(c):,} chars)",
    "vision_analyze": lambda a, c: f"'{_first(a, 'question')[:50]}' ({len(c):,} chars)",
    "memory": lambda a, c: f"{_first(a, 'action')} on {_first(a, 'target')}",
    "todo": lambda a, c: "updated task list",
    "clarify": lambda a, c: "asked user a question",
    "text_to_speech": lambda a, c: f"generated audio ({len(c):,} chars)",
    "cronjob": lambda a, c: _first(a, "action"),
    "process": lambda a, c: f"{_first(a, 'action')} session={_first(a, 'session_id')}",
}
