"""A judge listens to one call while its arguments arrive, and latches what its rules find.

It never takes a finding back. Shell text is looked at where a word has ended, then once more, whole, when its string
closes; paths and secrets when their string closes. Contents of files are no shell code and are not judged as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import normpath
from typing import Any, Literal

from sessions.streaming.partial_json import Path, Piece
from sessions.streaming.rules.rule_file import Rule, default_rules
from sessions.streaming.rules.shell_commands import LONGEST, Command, commands_in

Verdict = Literal["allow", "ask", "abort"]

SHELL_FIELDS = frozenset({"command", "cmd", "script", "shell_command", "commandline", "CommandLine"})
SHELL_TOOLS = frozenset(
    {
        *("bash", "shell", "exec_command", "terminal", "run_terminal_cmd", "execute_command", "execute_bash"),
        *("run_shell_command", "local_shell_call", "shell_call_command", "container.exec", "run_command"),
    }
)
WRITE_TOOLS = frozenset(
    {
        *("write", "edit", "multiedit", "notebookedit", "write_file", "write_to_file", "create_file", "edit_file"),
        *("str_replace_editor", "str_replace_based_edit_tool", "replace_in_file", "replace", "apply_diff"),
    }
)
PATH_FIELDS = frozenset({"file_path", "path", "notebook_path", "filename", "target_file", "absolute_path"})
PATCH_TOOL = "apply_patch"
PATCH_LEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")

EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool"})
"""Tools whose argument ``command`` says whether they write; a path waits for it."""

LONGEST_SHOWN = 200
LONGEST_GROWING = 10_000
"""Characters up to which a command that is still open is looked at; a longer one is, when it closes."""

LONGEST_TEXT = 1_000_000
"""Characters of an argument that are searched for secrets."""

GROWTH = 10
"""A growing command of more than SHORT characters is looked at again when it has gained 1/GROWTH of the rest, so that
all looks together cost what some cost."""

SHORT = 200

OUTSIDE_ROOT = Rule("write-outside-root", "ask", "path", "writes outside the session's root folder")
TOO_LONG = Rule(
    "command-too-long", "ask", "shell", f"only the first {LONGEST:,} characters of the command were looked at"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: in which argument, at which character of it, and the text there (cut)."""

    rule: Rule
    path: Path
    start: int
    text: str

    def as_dict(self) -> dict[str, Any]:
        at = {"path": list(self.path), "start": self.start, "text": self.text}
        return {"id": self.rule.id, "why": self.rule.why, "at": at}


@dataclass(frozen=True, slots=True)
class Watch:
    """A project's own wish: call back when ``field`` of ``tool`` is known."""

    tool: str
    field: str
    call: Callable[[str, Path, Any], None]


class Judge:
    """The rules on one call. ``root`` is the session's folder, where it is known."""

    def __init__(
        self,
        tool: str,
        *,
        rules: Sequence[Rule] | None = None,
        root: str | None = None,
        watches: Sequence[Watch] = (),
    ) -> None:
        self.tool = tool
        self.findings: list[Finding] = []
        self._rules = default_rules() if rules is None else tuple(rules)
        self._root = root
        self._watches = [watch for watch in watches if watch.tool == tool]
        self._open: dict[Path, list[str]] = {}
        self._lengths: dict[Path, int] = {}
        self._next: dict[Path, int] = {}
        kind = tool.lower().rsplit("__", 1)[-1]
        self._shell = kind in SHELL_TOOLS
        self._writes = kind in WRITE_TOOLS
        self._patches = kind == PATCH_TOOL
        self._editor = kind in EDITORS
        self._waits, self._reads = self._editor, False
        self._waiting: list[tuple[Path, str]] = []

    @property
    def level(self) -> Verdict:
        """The strictest of what was found."""
        levels = {finding.rule.level for finding in self.findings}
        return "abort" if "abort" in levels else "ask" if levels else "allow"

    def hear(self, pieces: Sequence[Piece]) -> list[Finding]:
        """What these pieces of the arguments add to the findings."""
        before = len(self.findings)
        for piece in pieces:
            if not piece.closed:
                self._grow(piece)
                continue
            if piece.kind == "string":
                self._forget(piece.path)
                self._closed_text(piece.path, piece.value)
            elif piece.path == ():
                self._waits = False
                self._judge_waiting()
            elif piece.kind == "array" and self._is_shell(piece.path):
                self._argv(piece.path, piece.value)
            for watch in self._watches:
                if piece.path == (watch.field,):
                    watch.call(self.tool, piece.path, piece.value)
        return self.findings[before:]

    def hear_raw(self, text: str) -> list[Finding]:
        """Arguments that are a text and no JSON (custom tools, or JSON that broke), when they are whole."""
        return self.hear([Piece((), "", True, text)])

    def hear_whole(self, arguments: Any) -> list[Finding]:
        """Arguments that came at once."""
        return self.hear(list(_pieces(arguments)))

    def _is_shell(self, path: Path) -> bool:
        if path == ():
            return self._shell
        names = [part for part in path if isinstance(part, str)]
        if self._writes or self._patches:
            return False
        return bool(names) and names[-1] in SHELL_FIELDS and isinstance(path[-1], str)

    def _grow(self, piece: Piece) -> None:
        if not piece.text or not self._is_shell(piece.path):
            return
        parts = self._open.setdefault(piece.path, [])
        parts.append(piece.text)
        length = self._lengths[piece.path] = self._lengths.get(piece.path, 0) + len(piece.text)
        if length > LONGEST_GROWING or length < self._next.get(piece.path, 0) or not _ends_a_word(piece.text):
            return
        self._next[piece.path] = length + max(0, length - SHORT) // GROWTH
        self._commands(piece.path, commands_in("".join(parts), final=False))

    def _forget(self, path: Path) -> None:
        for kept in (self._open, self._lengths, self._next):
            kept.pop(path, None)

    def _closed_text(self, path: Path, text: str) -> None:
        if self._is_shell(path):
            self._commands(path, commands_in(text, final=True))
        name = path[-1] if path else ""
        if self._editor and path == ("command",):
            self._waits = False
            self._reads = text == "view"
            self._judge_waiting()
        elif self._writes and name in PATH_FIELDS:
            self._waiting.append((path, text))
            self._judge_waiting()
        elif self._patches:
            self._patched(path, text)
        for rule in self._rules:
            if (
                rule.on == "text"
                and rule.applies(self.tool, _field(path))
                and (found := rule.finds(text[:LONGEST_TEXT]))
            ):
                self._add(rule, path, *found)

    def _judge_waiting(self) -> None:
        if self._waits:
            return
        for path, text in [] if self._reads else self._waiting:
            self._written(path, text, 0)
        self._waiting = []

    def _argv(self, path: Path, words: Any) -> None:
        if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
            # Quoted for the parser; the words are judged, not a shell's reading of them.
            text = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
            self._commands(path, commands_in(text, final=True))

    def _commands(self, path: Path, commands: Sequence[Command]) -> None:
        for command in commands:
            if command.cut:
                self._add(TOO_LONG, path, LONGEST, "")
            for rule in self._rules:
                if rule.on == "shell" and rule.applies(self.tool, _field(path)) and rule.hits(command):
                    self._add(rule, path, command.at, command.text)

    def _written(self, path: Path, text: str, start: int) -> None:
        clean = normpath(text.replace("\\", "/")) if text else text
        for rule in self._rules:
            if rule.on == "path" and rule.applies(self.tool, _field(path)) and rule.finds(clean):
                self._add(rule, path, start, text)
        if _leaves(clean, self._root):
            self._add(OUTSIDE_ROOT, path, start, text)

    def _patched(self, path: Path, text: str) -> None:
        start = 0
        for line in text.split("\n"):
            for lead in PATCH_LEADS:
                if line.startswith(lead):
                    self._written(path, line.removeprefix(lead).strip(), start + len(lead))
            start += len(line) + 1

    def _add(self, rule: Rule, path: Path, start: int, text: str) -> None:
        if all(finding.rule.id != rule.id for finding in self.findings):
            self.findings.append(Finding(rule, path, start, text[:LONGEST_SHOWN]))


def judge_call(tool: str, arguments: Any, *, root: str | None = None, rules: Sequence[Rule] | None = None) -> Judge:
    """The verdict on a call that is whole; a function that bundles calls (``tool_uses``) is unpacked."""
    judge = Judge(tool, rules=rules, root=root)
    if isinstance(arguments, str):
        judge.hear_raw(arguments)
    else:
        judge.hear_whole(arguments)
    inner = arguments.get("tool_uses") if isinstance(arguments, dict) else None
    for use in inner if isinstance(inner, list) else []:
        if isinstance(use, dict) and isinstance(use.get("parameters"), dict):
            name = str(use.get("recipient_name", "")).rsplit(".", 1)[-1]
            one = Judge(name, rules=rules, root=root)
            one.hear_whole(use["parameters"])
            known = {finding.rule.id for finding in judge.findings}
            judge.findings += [finding for finding in one.findings if finding.rule.id not in known]
    return judge


def _ends_a_word(text: str) -> bool:
    return any(char in text for char in " \t\n;&|)\"'")


def _field(path: Path) -> str:
    return str(path[0]) if path else ""


def _leaves(path: str, root: str | None) -> bool:
    """Whether the path, as it is written, leaves the root."""
    if path.startswith(("../", "~/")) or path in ("..", "~"):
        return True
    if root is None or not path.startswith("/"):
        return False
    inside = normpath(root)
    return path != inside and not path.startswith(inside.rstrip("/") + "/")


def _pieces(arguments: Any) -> Iterator[Piece]:
    """The closed values of arguments, inner ones first; no recursion, for the nesting is a stranger's."""
    waiting: list[tuple[Path, Any, bool]] = [((), arguments, False)]
    while waiting:
        path, value, seen = waiting.pop()
        if isinstance(value, dict | list) and not seen:
            waiting.append((path, value, True))
            inner = list(value.items() if isinstance(value, dict) else enumerate(value))
            waiting.extend(((*path, key), one, False) for key, one in reversed(inner))
        elif isinstance(value, dict | list):
            yield Piece(path, "", True, value, "object" if isinstance(value, dict) else "array")
        else:
            yield Piece(path, "", True, value, "string" if isinstance(value, str) else "scalar")
