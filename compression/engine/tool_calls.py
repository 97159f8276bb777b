"""What a tool call does, whatever agent made it: reads, writes a whole file, edits, runs a command, keeps a plan.

Known are the tools of Claude Code, Codex, Hermes Agent, SWE-agent, OpenHands, Gemini CLI and Cline, also behind
an MCP prefix; a call of an unknown tool is ``other``. Of shell commands only the plainest are understood (one
``cat file``, one here-document into a file, ``apply_patch``); nothing is guessed about the rest. Paths are compared
as they are written: which directory a relative one starts from is not known here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import normpath
from typing import Literal

import orjson

from compression.engine.call_outcomes import failed
from compression.engine.history import Course
from compression.engine.transcript import Message, Part

Action = Literal["read", "write", "edit", "run", "plan", "other"]
FileAction = Literal["read", "write", "edit", "delete"]

_TOOLS: Mapping[Action, str] = {
    "read": "read read_file readfile view view_file cat open open_file get_file_contents read_text_file fs_read"
    " notebook_read notebookread file_read",
    "write": "write write_file writefile create_file create write_to_file save_file fs_write file_write new_file",
    "edit": "edit multiedit multi_edit edit_file patch apply_patch str_replace replace replace_in_file insert"
    " insert_edit_into_file notebookedit notebook_edit search_replace apply_diff file_edit",
    "run": "bash shell terminal exec_command shell_command local_shell local_shell_call run_terminal_cmd"
    " run_in_terminal run_shell_command execute_command run_command execute_bash exec container.exec unified_exec",
    "plan": "todowrite todo_write todo todos write_todos update_plan manage_todo_list taskcreate taskupdate"
    " task_create task_update",
}
_ACTIONS: Mapping[str, Action] = {name: action for action, names in _TOOLS.items() for name in names.split()}
_COMMANDED: Mapping[str, Action] = {
    "view": "read",
    "create": "write",
    "str_replace": "edit",
    "insert": "edit",
    "undo_edit": "edit",
}
"""Tools of the family ``str_replace_editor`` say in an argument what they do."""

_FOR_FILES: Mapping[Action, FileAction] = {"read": "read", "write": "write", "edit": "edit"}
_PATH_KEYS = ("file_path", "path", "filePath", "filepath", "absolute_path", "file", "filename", "notebook_path")
_CONTENT_KEYS = ("content", "file_text", "contents", "text")
_COMMAND_KEYS = ("command", "cmd", "script", "action")
_TARGET_KEYS = (*_PATH_KEYS, "pattern", "query", "url", "description", "subject", "name")
_PREFIX = re.compile(r"^(?:mcp__.*__|functions\.|default_api[.:])")
_PATCHED = re.compile(r"(?m)^\*\*\* (Add|Update|Delete) File: (.+)$")
_PATCHES: Mapping[str, FileAction] = {"Add": "write", "Update": "edit", "Delete": "delete"}
_HERE_DOCUMENT = re.compile(r"^\s*(?:cat|tee)\s+>\s*([\w./~@+-]+)\s+<<-?\s*['\"]?\w+['\"]?[ \t]*\n")
_NOT_PLAIN = frozenset("|&;<>$`\n(){}*?")
_READERS = frozenset(("cat", "head", "tail", "nl", "sed"))
_LONGEST_PLAIN_COMMAND = 400
_SHORT_VALUE = 60


@dataclass(frozen=True, slots=True)
class FileUse:
    """What a call does to one file. ``whole``: what is written replaces all of it and stands in the arguments."""

    path: str
    action: FileAction
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call understood. ``target``: what it is about in the agent's own words (a path, a command, a pattern)."""

    name: str
    action: Action
    files: tuple[FileUse, ...] = ()
    command: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """A call where it stands, with the place of its result when the session has one."""

    call: ToolCall
    call_id: str
    place: tuple[int, int]
    result: tuple[int, int] | None = None
    failed: bool = False


def understood(name: str, arguments: str) -> ToolCall:
    """A call in the terms of this module. Arguments that are no JSON are taken for a patch or a command."""
    tool = _PREFIX.sub("", name).lower().replace("-", "_")
    action = _ACTIONS.get(tool, "other")
    values = parsed(arguments)
    if not isinstance(values, dict):
        raw = arguments if values is None else values if isinstance(values, str) else ""
        files = _patched(raw) if action in ("edit", "run") else ()
        command = raw if action == "run" else ""
        return ToolCall(name, action, files, command, command or _paths_of(files))
    if action == "other" and "str_replace" in tool:
        action = _COMMANDED.get(str(values.get("command")), "other")
    command = _command(values) if action == "run" else ""
    files = _files(action, values, command)
    target = command or _paths_of(files) or _first(values, _TARGET_KEYS) or _short_values(values)
    return ToolCall(name, action, files, command, target)


def parsed(arguments: str) -> object:
    """The value of arguments that are JSON, else None."""
    try:
        value: object = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return None
    return value


def _paths_of(files: Sequence[FileUse]) -> str:
    return ", ".join(use.path for use in files)


def _first(values: Mapping[str, object], keys: Sequence[str]) -> str:
    found = [value for value in map(values.get, keys) if isinstance(value, str) and value]
    return found[0] if found else ""


def _short_values(values: Mapping[str, object]) -> str:
    """What an unknown tool was asked, as far as it takes few words."""
    found = [value for value in values.values() if isinstance(value, str) and 0 < len(value) <= _SHORT_VALUE]
    return ", ".join(found[:2])


def _command(values: Mapping[str, object]) -> str:
    """The command as one text; ``["bash", "-lc", "make"]`` is ``make``."""
    found = next((values[key] for key in _COMMAND_KEYS if values.get(key)), "")
    found = found.get("command", "") if isinstance(found, dict) else found
    if isinstance(found, list):
        words = [str(word) for word in found]
        if len(words) == 3 and words[1].startswith("-") and words[1].endswith("c"):
            return words[2]
        return shlex.join(words)
    return found if isinstance(found, str) else ""


def _files(action: Action, values: Mapping[str, object], command: str) -> tuple[FileUse, ...]:
    if action == "run":
        return _patched(command) or _plain(command)
    if action not in _FOR_FILES:
        return ()
    path = _first(values, _PATH_KEYS)
    if path:
        written = action == "write" and any(isinstance(values.get(key), str) for key in _CONTENT_KEYS)
        return (FileUse(_path(path), _FOR_FILES[action], written and not values.get("append")),)
    patches = [_patched(value) for value in values.values() if isinstance(value, str)] if action == "edit" else []
    return next(filter(None, patches), ())


def _path(path: str) -> str:
    return normpath(path.strip()) if "\\" not in path else path.strip()


def _patched(text: str) -> tuple[FileUse, ...]:
    if "*** Begin Patch" not in text:
        return ()
    return tuple(FileUse(_path(path), _PATCHES[verb], whole=verb == "Add") for verb, path in _PATCHED.findall(text))


def _plain(command: str) -> tuple[FileUse, ...]:
    """The file of a command that only reads one, or writes one as a whole from a here-document."""
    written = _HERE_DOCUMENT.match(command)
    if written:
        return (FileUse(_path(written.group(1)), "write"),)
    if len(command) > _LONGEST_PLAIN_COMMAND or _NOT_PLAIN.intersection(command):
        return ()
    try:
        words = shlex.split(command)
    except ValueError:
        return ()
    if len(words) < 2 or words[0] not in _READERS or "-i" in words or words[-1].startswith("-"):
        return ()
    return (FileUse(_path(words[-1]), "read"),)


class Calls:
    """The calls of a course in their order, each with its result. Messages that the course leaves out hold none."""

    def __init__(self, course: Course) -> None:
        self._messages = course.transcript.messages
        results: dict[tuple[int, int], tuple[int, int]] = {}
        places: list[tuple[int, int]] = []
        waiting: dict[str, tuple[int, int]] = {}
        for message in self._messages:
            if message.index in course.excluded:
                continue
            for j, part in enumerate(message.parts):
                if part.kind == "tool_call":
                    places.append((message.index, j))
                    if part.call_id:
                        waiting[part.call_id] = message.index, j
                elif part.kind == "tool_result" and part.call_id in waiting:
                    results[waiting.pop(part.call_id)] = message.index, j
        self.all = [self._made(place, results.get(place)) for place in places]
        self.of_call = {made.place: made for made in self.all}
        self.of_result = {made.result: made for made in self.all if made.result is not None}

    def _made(self, place: tuple[int, int], result: tuple[int, int] | None) -> Made:
        part = _at(self._messages, place)
        bad = result is not None and failed(_at(self._messages, result))
        return Made(understood(part.name, part.text), part.call_id, place, result, bad)

    @cached_property
    def changes(self) -> Mapping[str, Sequence[tuple[Made, FileUse]]]:
        """Path -> the calls that changed the file and did not fail, oldest first."""
        found: dict[str, list[tuple[Made, FileUse]]] = {}
        for made in self.all:
            if made.result is not None and not made.failed:
                for use in made.call.files:
                    if use.action != "read":
                        found.setdefault(use.path, []).append((made, use))
        return found


def _at(messages: Sequence[Message], place: tuple[int, int]) -> Part:
    return messages[place[0]].parts[place[1]]


def calls_of(course: Course) -> Calls:
    """The calls of a course; worked out once for a transcript and reading."""
    key = f"calls {course.history}"
    memo = course.transcript.memo
    if key not in memo:
        memo[key] = Calls(course)
    found: Calls = memo[key]
    return found
