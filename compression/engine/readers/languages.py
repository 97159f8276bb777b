"""Which programming language lines are written in: by the name of the file that was read, else by what they say.

Counting of signs, no parsing. Text about code has few signs a line; what counts as code is the caller's choice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

OTHER = "other"
"""A language that has no grammar here."""

_EXTENSIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("py", "pyi", "pyx"), "python"),
        **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
        **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
        "tsx": "tsx",
        "go": "go",
        "rs": "rust",
        "java": "java",
        **dict.fromkeys(("c", "h"), "c"),
        **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh", "hxx", "ino"), "cpp"),
        **dict.fromkeys(
            [
                "rb",
                "php",
                "kt",
                "kts",
                "swift",
                "scala",
                "cs",
                "lua",
                "pl",
                "r",
                "jl",
                "ex",
                "exs",
                "erl",
                "hs",
                "ml",
                "clj",
                "dart",
                "zig",
                "nim",
                "sh",
                "bash",
                "zsh",
                "fish",
                "ps1",
                "sql",
                "css",
                "scss",
                "less",
                "vue",
                "svelte",
                "proto",
                "graphql",
                "tf",
                "gradle",
                "groovy",
                "cmake",
                "m",
                "mm",
                "vb",
                "f90",
                "asm",
                "s",
                "el",
                "vim",
            ],
            OTHER,
        ),
    }
)
_FILE = re.compile(r"[\w)\]-]\.([A-Za-z0-9]{1,7})(?![\w.])")
_PATH_ARGUMENT = re.compile(
    r'"(?:file_?path|path|filename|file|target_file|AbsolutePath)": ?"([^"]{1,400})"', re.IGNORECASE
)
_SHOWN_FILE = re.compile(
    r"\b(?:cat|bat|head|tail|sed|nl|less|more|git show)\b[^|;&\"]{0,200}?[\w)\]-]\.([A-Za-z0-9]{1,7})(?![\w./])"
)

_SIGNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "python": re.compile(
            r"\s*(?:async )?def \w+\(|\s*class \w+(?:\(.*\))?:$|from [\w.]+ import \S|import [\w.]+(?: as \w+)?$"
            r"|\s*(?:if|elif|for|while|with|try|except|finally|else)\b[^{]*:$|\s+self\.\w+|\s*@\w[\w.]*(?:\(|$)"
            r"|\s*(?:raise \w+|return [\w(\[{\"']|yield |assert |pass$)|\s*[\w.]+(?:: [\w\[\], "
            r"|.]+)? [-+*/|]?= [^;]*[^;{]$"
        ),
        "go": re.compile(
            r"package \w+$|func (?:\(\w+ \*?[\w.\[\]]+\) )?\w+[(\[]|type \w+(?:\[.*\])? (?:struct|interface|func"
            r"|map|=)|import (?:\(|\")"
            r"|\s*(?:if|for|switch|select)\b[^(]*\{$|\s*[\w, .]+ := \S|\s*if .*; .*\{$|\s*(?:defer|go) \w"
            r"|\s*return\b[^;]*[^;]$"
            r"|\t+\"[\w./-]+\"$|\t\w+ +[\w.*\[\]]+(?: `.*`)?$|\t(?:case .*|default):$|\t+[\w.]+\(.*\)$|var \w+ "
        ),
        "rust": re.compile(
            r"\s*(?:pub(?:\(\w+\))? )?(?:async )?(?:fn \w+|struct \w+|enum \w+|trait \w+|mod \w+|use [\w:]+)"
            r"|impl\b|\s*let (?:mut )?\w+"
            r"|\s*#!?\[|\s*match .*\{$|.*[\w>)] => |.*\w::\w|\s*///? |.*\?;$|\s*\.\w+\(.*$"
        ),
        "java": re.compile(
            r"\s*(?:public|private|protected)\s[\w<>\[\], ]+[({;=]|package [\w.]+;|import (?:static )?[\w.*]+;"
            r"|\s*@(?:Override|Test|Autowired)\b"
            r"|(?:public |abstract |final )*(?:class|interface|enum|record) \w+"
            r"|\s*(?:final )?(?:[A-Z]\w*(?:<.*>)?|int|long|double|boolean|byte|char)(?:\[\])? \w+ = .*;$"
            r"|\s*(?:if|for|while|switch|catch) \(.*\{$|\s*\} (?:else|catch)|\s*throw new |\s*return .*;$"
        ),
        "javascript": re.compile(
            r"\s*import\b.*\bfrom ['\"]|import ['\"]|\s*(?:export |async |default )*(?:function\b|class \w)"
            r"|\s*(?:export )?(?:const|let|var) [\w{\[]"
            r"|.*=>|\s*(?:if|for|while|switch) \(.*\{$|\s*\} (?:else|catch)\b|\s*return\b.*;$|module\.exports"
            r"|.*\brequire\(['\"]|\s*this\.\w+"
            r"|.*\bawait \w|.*\bconsole\.\w+\(|.*\);$|\s*case .*:$"
        ),
        "cpp": re.compile(
            r"\s*#\s*(?:include|define|if|ifdef|ifndef|endif|pragma)\b|(?:static |extern |inline |const "
            r"|unsigned )+\w|.*\bstd::|template ?<"
            r"|namespace \w|(?:class|struct|enum|union|typedef)\b|(?:public|private|protected):$"
            r"|[A-Za-z_][\w:<> ]*[ *&]+[\w:~]+\([^;]*\)(?: const)?(?: \{)?$"
            r"|\s*(?:if|for|while|switch) ?\(.*|\s*\} (?:else|while)|\s*return\b.*;$|.*->\w"
            r"|\s*[\w>\]).-]+ [-+|&]?= .*;$|.*\);$"
        ),
    }
)
_TYPED = re.compile(
    r"(?:export )?(?:interface|enum|namespace|declare|abstract class) \w|(?:export )?type \w+(?:<.*>)? ="
    r"|\s*(?:public|private|protected|readonly) \w"
    r"|import type|.*[\w)?]: (?:string|number|boolean|void|unknown|any|Promise<|Record<|[A-Z]\w*(?:\[\]|<|;|,|\)"
    r"| [={|]))"
)
_ONLY_CPP = re.compile(
    r".*\bstd::|template ?<|namespace \w|class \w|.*\b(?:nullptr|constexpr|override)\b|(?:public|private|protected):$"
)
_PLAIN = re.compile(r"\s*(?:[{}()\[\];,]+|[})\]]+[,;)]*|//.*|/?\*+(?: .*|/)?|#.*|\"\"\".*|--.*)$")
_CODE = re.compile(
    r"[{};]$|[(\[,]$|^\s*(?:def|class|func|fn|function|local|end|module|fun|sub|begin|package|import|return|if"
    r"|else|then|fi|for|do|done|case|esac|echo|export)\b"
    r"|^\s*[@$.#&]?[\w.-]+\s*(?:=|:=|\+=)\s*\S|^\s*[\w.$>:-]+\(.*\)$|^\s*[\w-]+: [^.]*;$"
)
_ENDS_SENTENCE = re.compile(r"\w[.!?]$")


class Guess(NamedTuple):
    """``share`` of the lines that look like code of ``language``."""

    language: str
    share: float


def named(arguments: str) -> str:
    """The language of the file that a tool was asked to read; empty when the arguments name none.

    An unknown or missing extension gives nothing, also for commands that only mention a file among others.
    """
    if not arguments:
        return ""
    head = arguments[:4_000]
    for path in _PATH_ARGUMENT.findall(head):
        match = _FILE.search(path[-40:])
        return _EXTENSIONS.get(match.group(1).lower(), "") if match else ""
    shown = _SHOWN_FILE.search(head)
    return _EXTENSIONS.get(shown.group(1).lower(), "") if shown else ""


def guess(lines: Sequence[str], name: str = "") -> Guess:
    """The likeliest language of ``lines`` (no blank ones); ``name`` = what ``named`` said wins."""
    number = len(lines)
    if not number:
        return Guess("", 0.0)
    plain = sum(1 for line in lines if _PLAIN.match(line))
    if name and name != OTHER:
        family = {"typescript": "javascript", "tsx": "javascript", "c": "cpp"}.get(name, name)
        return Guess(name, (_matching(_SIGNS[family], lines) + plain) / number)
    scores = {language: _matching(pattern, lines) for language, pattern in _SIGNS.items()} if not name else {}
    language = max(scores, key=lambda key: scores[key], default="")
    best = scores.get(language, 0)
    other = sum(1 for line in lines if _CODE.search(line) and not _ENDS_SENTENCE.search(line))
    if name or best < 0.15 * number or best < 2 or 2 * best < other:
        return Guess(OTHER, (other + plain) / number if other >= 0.15 * number else 0.0)
    if language == "python" and any(line.strip() == "end" for line in lines):
        return Guess(OTHER, (max(best, other) + plain) / number)
    if language == "javascript" and _matching(_TYPED, lines) >= max(2, 0.03 * number):
        language = "tsx" if any("</" in line or "/>" in line for line in lines) else "typescript"
    elif language == "cpp" and not any(_ONLY_CPP.match(line) for line in lines):
        language = "c"
    return Guess(language, (best + plain) / number)


def _matching(pattern: re.Pattern[str], lines: Sequence[str]) -> int:
    return sum(1 for line in lines if pattern.match(line))
