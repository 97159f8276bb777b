"""An outline of code by the look of its lines, for languages without a grammar and for what a grammar cannot read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compression.engine.readers.outlines import Definition, Kind, Outline
from compression.engine.tool_output import LINE_LIMIT

_ANY_DEFINITION = re.compile(
    r"\s{0,12}(?:(?:export|public|private|protected|internal|static|async|abstract|default|final|pub(?:\(\w{1,20}\))?"
    r"|unsafe|virtual|override|open|data|sealed|inline|extern|local|declare)\s+)*"
    r"(?:(?P<type>class|interface|struct|enum|trait|impl|module|namespace|object|protocol|extension|message|service"
    r"|type|record|defmodule|CREATE (?:TABLE|VIEW|INDEX|FUNCTION))\b"
    r"|(?P<function>def|func|fn|fun|function|sub|defp?|macro_rules!|proc|constructor)\b(?!\s*=)"
    r"|(?P<constant>const|val|var|let) [\w$]+)|(?P<shell>[\w-]+ ?\(\) ?\{)"
    r"|(?P<section>\[{1,2}[\w.\"-]+\]{1,2}$|[@.#]?[\w-][\w .#:>,-]{0,80} \{$)"
)
_ANY_IMPORT = re.compile(
    r"(?:import|from|use|using|require|require_relative|include|#\s*include|source|\.)\s+[\w<\"'./@:-]"
)
_NAME = re.compile(r"\s+([^\W\d][\w$]{0,80})")
# Statements are indented deeper than most definitions.
_DEEP = ("\t\t", " " * 9)


def by_patterns(lines: Sequence[str], start: int, end: int | None = None) -> Outline:
    """Definitions by the look of their lines, in rows ``start`` .. ``end`` (exclusive)."""
    found: list[Definition] = []
    imports: dict[str, None] = {}
    rows: list[int] = []
    for row in range(start, len(lines) if end is None else end):
        line = lines[row][:LINE_LIMIT].rstrip()
        if not line or line.startswith(_DEEP):
            continue
        match = _ANY_DEFINITION.match(line)
        if match and match.lastgroup:
            depth = min((len(line) - len(line.lstrip())) // 2, 4)
            group = match.lastgroup
            kind: Kind = "type" if group in ("type", "section") else "constant" if group == "constant" else "function"
            if kind != "constant" or depth == 0:
                name = _NAME.match(line, match.end(group))
                found.append(Definition(kind, row, row + 1, depth, name=name[1] if name else ""))
        elif _ANY_IMPORT.match(line):
            imports.setdefault(" ".join(line.split()).rstrip(";"))
            rows.append(row)
    return Outline(tuple(found), tuple(imports), tuple(rows))
