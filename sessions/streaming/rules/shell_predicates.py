"""What rules ask of a parsed command. Each predicate has a name, by which the rule file calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import takewhile

from sessions.streaming.rules.patterns import pattern
from sessions.streaming.rules.shell_commands import DOWNLOADERS, INTERPRETERS, SHELLS, Command, commands_in

Predicate = Callable[[Command], bool]

_RM_LETTERS = frozenset("rRfivdIPxW")
_RM_LONG = {
    "--recursive": "r",
    "--force": "f",
    "--verbose": "",
    "--interactive": "",
    "--dir": "",
    "--one-file-system": "",
}
_CRITICAL_BELOW = ("etc", "usr", "var", "home", "bin", "boot", "lib", "opt", "root", "srv", "sys", "dev")
_CRITICAL = re.compile(
    r"(?:/|~|\$HOME|/\*|~/\*|\$HOME/\*|\*|\./?|\./\*|\.\.(?:/.*)?|[A-Za-z]:[/\\]?\*?|/Users(?:/[^/]*)?"
    rf"|/(?:{'|'.join(_CRITICAL_BELOW)})(?:/.*)?)",
    re.DOTALL,
)
_DEVICE = re.compile(r"/dev/(?:sd|nvme|hd|vd|xvd|disk|mmcblk|mapper/|loop)")
_GIT_WITH_ARGUMENT = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")
_DELETION = (
    r"(?i)rmtree\s*\(|\brm_rf\b|\brm_r\b|\brmSync\s*\(|\brmdirSync\s*\(|\bunlink(?:Sync)?\s*\(|\bunlink\s+[\"'$]"
    r"|\bos\.(?:remove|removedirs|rmdir)\s*\(|\bfs(?:\.promises)?\.rm\s*\(|\brimraf\b|\bFile\.delete\b|\bremove_tree\b"
)
_SYSTEM_CALL = (
    r"(?:system|popen|exec|execSync|spawnSync|spawn|run|call|check_call|check_output|Popen)\s*\(?\s*\[?\s*([\"'])"
)
_DROP = r"(?i)\b(?:drop\s+(?:table|database)|truncate\s+table)\b"
PREDICATES: dict[str, Predicate] = {}


def predicate(check: Predicate) -> Predicate:
    PREDICATES[check.__name__] = check
    return check


def critical(word: str | None) -> bool:
    if word is None:
        return False
    return bool(_CRITICAL.fullmatch(re.sub(r"/{2,}", "/", word)) or _CRITICAL.fullmatch(word.rstrip("/") or "/"))


def _rm(command: Command) -> tuple[set[str], list[str | None]] | None:
    """Letters of the options and the operands; None for another command, or options that rm refuses."""
    if command.name != "rm":
        return None
    letters: set[str] = set()
    operands: list[str | None] = []
    words = command.words[1:]
    for place, word in enumerate(words):
        if word == "--":
            operands += words[place + 1 :]
            break
        if word is None or not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            if not word.startswith("--no-preserve-root"):
                name = word.split("=")[0]
                known = [short for long, short in _RM_LONG.items() if long.startswith(name)]
                letters |= set(known[0]) if known else set()
        elif set(word[1:]) <= _RM_LETTERS:
            letters |= set(word[1:].replace("R", "r"))
        else:
            return None
    return letters, operands


@predicate
def rm_rf(command: Command) -> bool:
    found = _rm(command)
    return found is not None and {"r", "f"} <= found[0]


@predicate
def rm_critical(command: Command) -> bool:
    found = _rm(command)
    if found is None:
        return False
    return "--no-preserve-root" in command.words or ("r" in found[0] and any(map(critical, found[1])))


@predicate
def rm_dynamic(command: Command) -> bool:
    found = _rm(command)
    return found is not None and bool({"r", "f"} & found[0]) and None in found[1]


@predicate
def dynamic_command_rf(command: Command) -> bool:
    """Only flags before the first operand: what is run may have a subcommand with flags of its own."""
    if not command.words or command.name is not None:
        return False
    flags = takewhile(lambda word: word is not None and word.startswith("-"), command.words[1:])
    letters = [set((flag or "")[1:]) for flag in flags]
    return any(found <= _RM_LETTERS and "f" in found and found & {"r", "R"} for found in letters)


@predicate
def find_delete(command: Command) -> bool:
    return command.name in ("find", "fd") and "-delete" in command.words


def _git(command: Command) -> list[str]:
    """The subcommand and its words."""
    if command.name != "git":
        return []
    words = [word or "" for word in command.words[1:]]
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _GIT_WITH_ARGUMENT else 1
    return words[place:]


def _has(words: list[str], letter: str, *names: str) -> bool:
    return any(
        word.split("=")[0] in names or (word.startswith("-") and not word.startswith("--") and letter in word)
        for word in words
    )


@predicate
def git_clean(command: Command) -> bool:
    words = _git(command)
    if not command.ended or words[:1] != ["clean"]:
        return False
    return _has(words[1:], "f", "--force") and not _has(words[1:], "n", "--dry-run")


@predicate
def git_reset_hard(command: Command) -> bool:
    words = _git(command)
    return words[:1] == ["reset"] and "--hard" in words


@predicate
def git_push_force(command: Command) -> bool:
    words = _git(command)
    if words[:1] != ["push"]:
        return False
    return _has(words[1:], "f", "--force", "--mirror") or any(len(w) > 1 and w.startswith("+") for w in words[1:])


@predicate
def git_discard(command: Command) -> bool:
    words = _git(command)
    if not command.ended or words[:1] not in (["checkout"], ["restore"]):
        return False
    return any(word in (".", "./", ":/", "*") for word in words[1:]) and not _has(words[1:], "S", "--staged")


@predicate
def git_branch_delete(command: Command) -> bool:
    words = _git(command)
    forced = "-D" in words or ("--force" in words and not {"--delete", "-d"}.isdisjoint(words))
    return words[:1] == ["branch"] and forced


@predicate
def git_stash(command: Command) -> bool:
    return _git(command)[:2] in (["stash", "drop"], ["stash", "clear"])


def _reads_code(command: Command) -> bool:
    """An interpreter that runs what it reads."""
    if not command.ended or command.name not in INTERPRETERS:
        return False
    rest = [word or "" for word in command.words[1:]]
    if command.name in SHELLS:
        if any(
            word == "-s" or (word.startswith("-") and not word.startswith("--") and "s" in word[1:]) for word in rest
        ):
            return True
        return all(word.startswith("-") and "c" not in word.strip("-")[:3] for word in rest)
    return all(word in ("-", "-u", "-B", "-I", "-E") for word in rest)


@predicate
def download_exec(command: Command) -> bool:
    if _reads_code(command) and any(flow and flow[0] in DOWNLOADERS for flow in command.flows_in):
        return True
    runs_words = command.name is None or command.name in SHELLS | {"source", ".", "eval"}
    return bool(command.words) and command.downloads and runs_words


@predicate
def decode_exec(command: Command) -> bool:
    return _reads_code(command) and any(
        flow and flow[0] in ("base64", "base32", "xxd", "openssl") and {"-d", "-D", "--decode", "-r"} & set(flow)
        for flow in command.flows_in
    )


@predicate
def dd_device(command: Command) -> bool:
    return command.name == "dd" and any(
        word is not None and word.startswith("of=") and _DEVICE.match(word[3:]) for word in command.words
    )


@predicate
def redirect_device(command: Command) -> bool:
    return any(_DEVICE.match(target) for target in command.writes_to)


@predicate
def chmod_critical(command: Command) -> bool:
    return command.name in ("chmod", "chgrp") and _recursive_on_critical(command)


@predicate
def chown_critical(command: Command) -> bool:
    return command.name == "chown" and _recursive_on_critical(command)


def _recursive_on_critical(command: Command) -> bool:
    words = [word or "" for word in command.words[1:]]
    operands = [word for word in words if not word.startswith("-")][1:]
    return _has(words, "R", "--recursive") and any(map(critical, operands))


@predicate
def fork_bomb(command: Command) -> bool:
    return command.bomb


@predicate
def sql_drop(command: Command) -> bool:
    if command.name not in ("psql", "mysql", "mariadb", "sqlite3"):
        return False
    return any(pattern(_DROP).search(text) for text in _texts(command))


def _texts(command: Command) -> Iterator[str]:
    yield from (word for word in command.words[1:] if word)
    yield from command.stdin


@predicate
def inline_script_delete(command: Command) -> bool:
    name = (command.name or "").rstrip("0123456789.")
    if name not in ("python", "node", "perl", "ruby", "php"):
        return False
    for text in _texts(command):
        if pattern(_DELETION).search(text):
            return True
        if any(_dangerous_system_calls(text)):
            return True
    return False


def _dangerous_system_calls(text: str) -> Iterator[bool]:
    for place, found in enumerate(re.finditer(_SYSTEM_CALL, text[:10_000])):
        if place == 20:
            return
        end = text.find(found.group(1), found.end())
        code = text[found.end() : end if end >= 0 else None][:1_000]
        for command in commands_in(code, final=True):
            yield rm_rf(command) or rm_critical(command)
