"""Takes wrappers off a command: ``sudo -u root -- env X=1 rm x`` is ``rm x``."""

from __future__ import annotations

import re
from collections.abc import Sequence

Words = tuple[str | None, ...]
"""Values of a command's words, the name first; None where only the shell would know."""

MOST_WRAPPERS = 10

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")

_WITH_ARGUMENT = {
    "sudo": "ugpCrtTUhDR",
    "doas": "uC",
    "env": "uC",
    "nohup": "",
    "time": "fo",
    "nice": "n",
    "ionice": "cnp",
    "timeout": "ks",
    "stdbuf": "ioe",
    "setsid": "",
    "command": "",
    "builtin": "",
    "exec": "a",
    "xargs": "IndLPsEa",
    "watch": "n",
    "chroot": "",
    "unbuffer": "",
    "busybox": "",
    "parallel": "jaNS",
    "flock": "wEc",
    "strace": "eopsu",
    "caffeinate": "tw",
    "noglob": "",
    "coproc": "",
}
"""Each wrapper and its one-letter options that take an argument."""

_OPERANDS = {"timeout": 1, "flock": 1, "chroot": 1}


def base_name(word: str | None) -> str | None:
    return None if word is None else word.rsplit("/", 1)[-1]


def unwrapped(words: Sequence[str | None]) -> Words:
    """The words of the command that is run in the end, its name without a folder."""
    rest = list(words)
    for _ in range(MOST_WRAPPERS):
        name = base_name(rest[0]) if rest else None
        if name not in _WITH_ARGUMENT:
            break
        inner = _after_options(name, rest[1:])
        if not inner:
            break
        rest = inner
    return (base_name(rest[0]), *rest[1:]) if rest else ()


def _after_options(name: str, words: list[str | None]) -> list[str | None]:
    operands, place = _OPERANDS.get(name, 0), 0
    while place < len(words):
        word = words[place]
        if word == "--":
            place += 1
            break
        if word is not None and name in ("env", "sudo") and _ASSIGNMENT.match(word):
            place += 1
        elif word is not None and word.startswith("-") and len(word) > 1:
            if name == "env" and word.startswith(("-S", "--split-string")):
                return []
            place += 2 if not word.startswith("--") and word[-1] in _WITH_ARGUMENT[name] else 1
        else:
            break
    return words[place + operands :]
