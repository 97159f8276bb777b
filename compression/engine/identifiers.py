"""Which words of a text name something: paths, hashes, errors, code names, numbers.

One compiled pattern, one pass, linear in the text. What is asked of a result text before it is
scanned (JSON taken apart, escapes and listing gutters removed) is ``readable``; whether a name
stands in another text is ``occurs``. Nothing here weighs identifiers or decides what is kept.

Letters are ASCII letters on purpose: in ``文件foo_bar不存在`` the name is ``foo_bar``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

CLASSES = ("path", "hex", "error", "dotted", "snake", "camel", "number", "quoted")

# First parts that make a dotted name a call into a library rather than a name of this project.
LIBRARY_ROOTS = (
    "self|this|cls|super|os|sys|re|json|math|time|np|pd|plt|torch|tf|fmt|strings|strconv|bytes|errors|context|"
    "filepath|console|Math|JSON|Object|Array|Promise|document|window|process|System|std"
)

# Words that name nothing in particular: they would match everywhere and prove nothing.
_STOP_LIST_TEXT = """
    100 200 201 202 204 206 301 302 304 307 308 400 401 403 404 405 409 410 413 415 418 422 429 500 501 502 503
    504 250 255 256 300 512 600 644 700 755 777 800 900 999 1000 1024 2000 2048 3000 4000 4096 5000 6000 7000
    8000 8192 9000 10000 16384 20000 32768 50000 65535 65536 100000 1000000 3306 5173 5432 6379 8001 8080 8443
    8888 9090 9200 11434 27017 localhost 127.0.0.1 0.0.0.0 http:// https:// /dev/null /dev/stdout /dev/stderr
    /tmp /usr/bin /usr/local/bin /bin/bash tool_use tool_result tool_call tool_calls tool_use_id tool_call_id
    file_path filePath old_string new_string replace_all output_mode head_limit exit_code exitCode is_error
    run_in_background subagent_type TodoWrite TodoRead WebFetch WebSearch MultiEdit NotebookEdit ExitPlanMode
    EnterPlanMode TaskCreate TaskUpdate BashOutput KillShell AskUserQuestion read_file write_file apply_patch
    exec_command shell_command update_plan activeForm in_progress utf-8 stdin stdout stderr JavaScript
    TypeScript GitHub
"""
STOP_LIST = frozenset(_STOP_LIST_TEXT.split()) | frozenset(str(year) for year in range(1970, 2040))

_SEGMENT = r"[A-Za-z0-9_.@+~%-]"
_PATTERN = re.compile(
    rf"""
    (?<![A-Za-z0-9_]) (?=[A-Za-z0-9_./~@+%-])
    (?:
      (?P<path>
          [a-zA-Z][a-zA-Z0-9+.-]{{1,15}}://[!#-&*-+\--:=?-Z^_a-z~]++
        | (?<![A-Za-z0-9_.@+~%/-])
          (?: (?:~|\.\.?)?+ (?:/{_SEGMENT}++)++ /?+
            | {_SEGMENT}++ (?:/{_SEGMENT}++){{2,}}+ /?+
            | {_SEGMENT}++ / {_SEGMENT}++ /
            | {_SEGMENT}++ / {_SEGMENT}* \.[A-Za-z0-9]{{1,8}} (?! [A-Za-z0-9_@+~%-] | \.[A-Za-z0-9] )
          )
      )
    | (?P<hex>
          [0-9a-fA-F]{{8}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{4}}-[0-9a-fA-F]{{12}} (?![A-Za-z0-9_])
        | (?=[a-f]*+[0-9]) (?=[0-9]*+[a-f]) [0-9a-f]{{7,64}}+ (?![A-Za-z0-9_])
        | (?=[A-F]*+[0-9]) (?=[0-9]*+[A-F]) [0-9A-F]{{7,64}}+ (?![A-Za-z0-9_])
      )
    | (?P<error>
          [A-Za-z][A-Za-z0-9_]* (?:Error|Exception|Warning|Failure|Fault|Panic) (?![A-Za-z0-9_])
        | E[A-Z]{{3,12}}+ (?![A-Za-z0-9_])
      )
    | (?P<dotted>
          (?<![A-Za-z0-9_]\.) (?! (?:[A-Za-z_]|{LIBRARY_ROOTS})\. )
          [A-Za-z_][A-Za-z0-9_]*+ (?:\.[A-Za-z_][A-Za-z0-9_]*+)++
      )
    | (?P<snake> _*+[A-Za-z][A-Za-z0-9]*+ _++ [A-Za-z0-9] [A-Za-z0-9_]*+ )
    | (?P<camel>
          (?= [A-Za-z0-9]*? (?: [a-z][A-Z] | [A-Z]{{2}}[a-z]{{2}} ) ) [A-Za-z] [A-Za-z0-9]{{4,}}+ (?![A-Za-z0-9_])
      )
    | (?P<number> (?<!\.) [0-9]{{3,}}+ (?:\.[0-9]++)?+ (?![A-Za-z0-9_]) )
    )
    """,
    re.VERBOSE,
)

_TRAILING = ".,:;-/"
_TROUBLE = re.compile(r"error|exception|fail|fatal|panic", re.IGNORECASE)
_QUOTED = re.compile(r"""(?<![A-Za-z0-9_])(["'`])((?!\1)\S(?:(?!\1)[^\n]){2,58}(?<!\s))\1(?![A-Za-z0-9_])""")
_PLAIN_WORD = re.compile(r"[a-z]+")
_LONGEST_LINE = 20_000

_ESCAPE = re.compile(r"""\\[nrt"']""")
_GUTTER = re.compile(r"(?m)^ *[0-9]+[\u2192\t|]")


def identifiers(text: str) -> dict[str, str]:
    """Every identifier of ``text`` with its class, in order of first appearance."""
    found: dict[str, str] = {}
    for name, kind in spans(text):
        found.setdefault(name, kind)
    return found


def spans(text: str) -> Iterator[tuple[str, str]]:
    """Each place where an identifier stands, in text order, as (identifier, class); spans never overlap."""
    for match in _PATTERN.finditer(text):
        name = match.group().rstrip(_TRAILING)
        if len(name) >= 3 and name not in STOP_LIST:
            yield name, match.lastgroup or ""


def quoted(text: str) -> dict[str, str]:
    """Quoted names on lines that speak of trouble: the extra pass that only tool results get."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        line = line[:_LONGEST_LINE]
        if not _TROUBLE.search(line):
            continue
        for match in _QUOTED.finditer(line):
            name = match.group(2)
            if re.search(r"[A-Za-z]", name) and not _PLAIN_WORD.fullmatch(name) and name not in STOP_LIST:
                found.setdefault(name, "quoted")
    return found


def occurs(name: str, text: str) -> bool:
    """Whether ``name`` stands in ``text`` with no letter, digit or underscore directly before or after it."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and _is_word(text[at - 1])) and not (end < len(text) and _is_word(text[end])):
            return True
        at = text.find(name, at + 1)
    return False


def unescaped(text: str) -> str:
    """``text`` with escape sequences (text inside text) as separators, so that ``\\nfoo`` is ``foo``."""
    return _ESCAPE.sub(" ", text)


def readable(text: str) -> str:
    """A tool result as names are looked for in it: JSON as keys and leaves, one per line (also one value a
    line), escapes as separators, gutters of numbered listings gone."""
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        found: list[str] = []
        try:
            found += leaves(orjson.loads(stripped))
        except orjson.JSONDecodeError:
            for line in stripped.split("\n"):
                try:
                    found += leaves(orjson.loads(line))
                except orjson.JSONDecodeError:
                    found.append(line)
        text = "\n".join(found)
    return _GUTTER.sub("", unescaped(text))


def leaves(value: object, *, keys: bool = True) -> list[str]:
    """The strings and numbers of a JSON value in order, the names of its fields among them unless told otherwise."""
    found: list[str] = []
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pairs = [part for pair in item.items() for part in pair] if keys else list(item.values())
            pending.extend(reversed(pairs))
        elif isinstance(item, list):
            pending.extend(reversed(item))
        elif isinstance(item, str):
            found.append(item)
        elif item is not None:
            found.append(orjson.dumps(item).decode())
    return found


def _is_word(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())
