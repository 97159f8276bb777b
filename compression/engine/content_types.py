"""Which kind of output a tool result is, how sure, and why in words.

Decided by content; the tool's name and arguments only break ties. A bounded sample from both ends is
looked at, so the time does not grow with the text (JSON is parsed whole). What has no form of its own is
``code_output``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import orjson

from compression.engine.excerpt import excerpt
from compression.engine.readers import (
    binary_data,
    diffs,
    languages,
    listings,
    log_lines,
    search_lines,
    tables,
    test_runs,
)
from compression.engine.tool_output import ToolOutput, cleaned

KINDS = (
    "test_report",
    "code_output",
    "log",
    "table",
    "json",
    "source_code",
    "search_hits",
    "diff",
    "listing",
    "markup",
    "prose",
    "binary",
)

_HEAD = 80
_TAIL = 60
_LINE = 300
_READ_AS_CODE = 40

_TEST_SIGNS = re.compile(
    r"^=+ test session starts =+$|^=+ short test summary info =+$|^=+ FAILURES =+$"
    r"|^=+ .*\b\d+ (?:passed|failed|errors?)\b.* in [\d.]+s.*=+$|^\d+ (?:passed|failed)\b.* in [\d.]+s"
    r"|^--- (?:FAIL|PASS): \S+ \([\d.]+s\)|^=== RUN   \S|^(?:ok  ?|FAIL)\t\S+\t(?:[\d.]+s|\(cached\)|\[build failed\])"
    r"|^test result: (?:ok|FAILED)\. |^running \d+ tests?$|^test \S+ \.\.\. (?:ok|FAILED|ignored)$"
    r"|^Tests:\s+.*\d+ total|^Test Suites: .*\d+ total|^\s*Test Files\s+\d+ |^\s+Tests\s+\d+ (?:passed|failed)"
    r"|^(?:PASS|FAIL) \S+\.(?:test|spec)\.\w+|^Ran \d+ tests? in [\d.]+s|^TAP version \d+|^(?:not )?ok \d+ - "
    r"|^\S+::\S+ (?:PASSED|FAILED|SKIPPED|ERROR|XFAIL)\b|^\s+\d+ (?:passing|failing)\b|^Tests run: \d+, Failures: \d+",
    re.MULTILINE,
)
_DIFF = re.compile(r"^diff --git |^@@ -\d+(?:,\d+)? \+\d+|^Index: \S|^--- a/|^\+\+\+ b/")
_DIFF_BODY = re.compile(
    r"[+\- @\\]|diff |index [0-9a-f]|commit [0-9a-f]|(?:new|deleted) file|rename |similarity |Binary files |Index: |==="
)
_HIT = re.compile(r"(?:[^\s:,;|]{1,300}:)?\d{1,7}:")
_BESIDE_HIT = re.compile(r"(?:[^\s:,;|]{1,300}?-)?\d{1,7}-|--$")
_PATH_HIT = re.compile(r"[^\s:,;|]{1,250}[./][^\s:,;|]{0,100}(?::\d+)?:(?!//|\d+: )")
_GREP_TOOL = re.compile(r"grep|search|\brg\b|ripgrep")
_GREP_COMMAND = re.compile(r"\b(?:grep|rg|ag|ack)\b")
_LIST_TOOL = re.compile(r"glob|^ls$|list|find|tree")
_STAT = re.compile(r" \d+ files? changed\b")
_COMMIT = re.compile(r"^[*|/\\ ]*[0-9a-f]{7,40} \S")
_MARKUP = re.compile(r"^\s*<(?:!DOCTYPE|html|\?xml|head|body|div|svg|rss)\b", re.IGNORECASE)
_ELEMENT = re.compile(r"\s*</?[A-Za-z][\w:.-]{0,60}(?:\s[^<>]{0,400})?/?>|.{0,400}</[A-Za-z][\w:.-]{0,60}>$")
_MARKUP_FILE = re.compile(r"\.(?:html?|xhtml|xml|svg|xsd|plist|pom|rss)\"", re.IGNORECASE)
_CODE_END = re.compile(
    r"[{};,()\[\]:=]$|^\s*(?://|#include|import |from \S+ import|return\b|@\w)"
    r"|^\s*(?:def|class|func|fn|const|let|var)\s"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{6}")
_AROUND_WORDS = "*_`'\"(),.;:!?’“”-"
_HEADING = re.compile(r"^#{1,6} \S|^\s*[-*+] \S|^\s*\d+[.)] \S|^\*\*[^*]+\*\*")
_PROSE_FILE = re.compile(r"\.(?:md|markdown|rst|txt|adoc|mdx)\"", re.IGNORECASE)
_PROSE_TOOLS = frozenset({"task", "agent", "webfetch", "websearch", "web_search", "fetch", "delegate_task"})


class ContentType(NamedTuple):
    """``confidence`` is 0..1, comparable within this module only."""

    kind: str
    confidence: float
    why: str


def detect(text: str, tool_name: str = "", arguments: str = "") -> ContentType:
    """The kind whose compressor serves ``text`` best."""
    source = cleaned(excerpt(text).text)
    if not source.text.strip():
        return ContentType("code_output", 1.0, "empty")
    lines = [line[:_LINE].rstrip() for line in _sample(source.lines) if line.strip()]
    tool = tool_name.lower()
    searched = bool(_GREP_TOOL.search(tool) or _GREP_COMMAND.search(arguments[:2_000]))
    # A search names the file that it looked into, which is not the text that it found.
    language = "" if searched else languages.named(arguments)
    return (
        _json(source)
        or _binary(source)
        or _diff(lines)
        or (_code(lines, language, 0.4, f"a {language} file was read") if language else None)
        # A list of tests by file looks like hits of a search.
        or (None if searched else _tests(lines))
        or _search(source, lines, hinted=searched)
        or _tests(lines)
        or _table(source, lines)
        or _log(lines)
        or _markup(lines, arguments)
        or _listing(lines, tool)
        or _commits(lines)
        or _prose(source, lines, tool, arguments)
        or _code(lines, language, 0.45 if source.gutter or language else 0.6, "")
        or ContentType("code_output", 0.5, "numbered lines of a file" if source.gutter else "lines of no known form")
    )


def _sample(lines: Sequence[str]) -> Sequence[str]:
    return lines if len(lines) <= _HEAD + _TAIL else [*lines[:_HEAD], *lines[-_TAIL:]]


def _json(source: ToolOutput) -> ContentType | None:
    first = next(line for line in source.lines if line.strip()).lstrip()
    if first[0] not in "{[":
        return None
    try:
        value = orjson.loads(source.text)
    except orjson.JSONDecodeError:
        return _json_lines(source.text.replace("}{", "}\n{").split("\n"))
    if isinstance(value, dict | list) and value:
        return ContentType("json", 1.0, f"parses as a JSON {'object' if isinstance(value, dict) else 'array'}")
    return None


def _json_lines(lines: Sequence[str]) -> ContentType | None:
    filled = [line for line in lines if line.strip()]
    if len(filled) < 2:
        return None
    try:
        values = [orjson.loads(line) for line in filled]
    except orjson.JSONDecodeError:
        return None
    if all(isinstance(value, dict | list) for value in values):
        return ContentType("json", 0.95, "one JSON value after the other")
    return None


def _tests(lines: Sequence[str]) -> ContentType | None:
    signs = [match.group().strip() for match in _TEST_SIGNS.finditer("\n".join(lines))]
    if not signs:
        return None
    totals = any(test_runs.TOTALS.match(line) for line in signs)
    if len(signs) >= 2 or totals or len(lines) <= 5:
        return ContentType("test_report", 0.95 if len(signs) >= 2 else 0.8, f"test runner's line: {signs[-1][:60]}")
    return None


def _table(source: ToolOutput, lines: Sequence[str]) -> ContentType | None:
    sample = source.lines[: _HEAD + _TAIL]
    found = tables.parse(sample)
    rows = sum(len(table.rows) for table in found)
    if not rows or any(_DIFF.match(line) for line in lines[:20]):
        return None
    names = found[0].format
    covered = sum(row.lines for table in found for row in table.rows) + 2 * len(found)
    share = min(covered / max(sum(1 for line in sample if line.strip()), 1), 1.0)
    if names in ("csv", "tsv", "columns") and _timed(lines) > 0.5 * len(lines) and names != "csv":
        return None
    if share >= 0.6 and (rows >= 3 or names != "csv"):
        return ContentType("table", round(share * 0.95, 2), f"{names} table: {share:.0%} of the lines are its rows")
    return None


def _timed(lines: Sequence[str]) -> int:
    return sum(1 for line in lines if log_lines.time_of(line[:120]))


def _log(lines: Sequence[str]) -> ContentType | None:
    if not log_lines.may_hold_log("\n".join(lines)):
        return None
    timed = _timed(lines)
    few = lines[::4]
    if 10 * timed < len(lines) and 4 * sum(1 for line in few if log_lines.level_of(line[:120])) < len(few):
        return None
    levelled = sum(1 for line in lines if log_lines.level_of(line[:120]))
    known = max(timed, levelled)
    if known >= 4 and (known >= 0.4 * len(lines) or (known >= 0.15 * len(lines) and timed and levelled)):
        confidence = 0.6 + 0.35 * known / len(lines)
        return ContentType(
            "log", round(confidence, 2), f"{timed} of {len(lines)} lines have a time, {levelled} a level"
        )
    return None


def _share(pattern: re.Pattern[str], lines: Sequence[str]) -> float:
    """The share of ``lines`` that begin so; 0 when none of every sixth does."""
    few = lines[::6]
    if len(few) > 3 and not any(map(pattern.match, few)):
        return 0.0
    return sum(1 for line in lines if pattern.match(line)) / len(lines)


def _binary(source: ToolOutput) -> ContentType | None:
    share, encoding = binary_data.share(source.lines)
    if share >= 0.5:
        return ContentType("binary", round(min(share, 1.0), 2), f"{share:.0%} of it is {encoding}")
    return None


def _diff(lines: Sequence[str]) -> ContentType | None:
    if not any("@@ -" in line or " | " in line or line.startswith(("diff ", "+++ ", "Index: ")) for line in lines):
        return None
    signs = sum(1 for line in lines if _DIFF.match(line))
    hunks = sum(1 for line in lines if line.startswith("@@ -"))
    if (signs >= 2 and (_share(_DIFF_BODY, lines) >= 0.5)) or (hunks and _DIFF.match(lines[0])):
        return ContentType("diff", 0.95, f"{signs} lines of a diff's headers")
    told = bool(_STAT.match(lines[-1]))
    if len(lines) >= 2 and _share(diffs.STAT if told else diffs.SIGNED_STAT, lines) >= (0.5 if told else 0.7):
        return ContentType("diff", 0.9, "a diff's statistics")
    return None


def _search(source: ToolOutput, lines: Sequence[str], *, hinted: bool) -> ContentType | None:
    if source.gutter and search_lines.is_one_file(source):
        return ContentType("search_hits", 0.8, "numbered lines with gaps between them")
    if len(lines) < 3 and not (hinted and lines):
        return None
    hits = sum(1 for line in lines if _PATH_HIT.match(line) or _HIT.match(line))
    # Lines around hits are none without a hit: dates look like them.
    beside = sum(1 for line in lines if _BESIDE_HIT.match(line)) if hits else 0
    share = max(_share(_PATH_HIT, lines), min(1.0, (_share(_HIT, lines) + beside / len(lines))))
    if share >= (0.6 if hinted else 0.7) and not search_lines.reports_problems(lines):
        if not hinted and _timed(lines) > 0.5 * len(lines):
            return None
        return ContentType("search_hits", round(0.95 * share, 2), f"{hits} of {len(lines)} lines are hits of a search")
    return None


def _markup(lines: Sequence[str], arguments: str) -> ContentType | None:
    elements = _share(_ELEMENT, lines)
    first = bool(_MARKUP.match(lines[0]))
    if first and (elements >= 0.2 or len(lines) <= 3):
        return ContentType("markup", 0.95, "begins as a page or as XML")
    if elements >= (0.3 if _MARKUP_FILE.search(arguments[:2_000]) else 0.6) and len(lines) >= 3:
        return ContentType("markup", round(0.9 * elements, 2), f"{elements:.0%} of the lines are elements")
    return None


def _listing(lines: Sequence[str], tool: str) -> ContentType | None:
    share = listings.share(lines)
    if (len(lines) >= 3 and share >= 0.7) or (_LIST_TOOL.search(tool) and share >= 0.5):
        return ContentType("listing", round(0.95 * share, 2), f"{share:.0%} of the lines name a file")
    return None


def _commits(lines: Sequence[str]) -> ContentType | None:
    if len(lines) >= 3 and _share(_COMMIT, lines) >= 0.7:
        return ContentType("code_output", 0.7, "list of commits")
    return None


def _code(lines: Sequence[str], language: str, least: float, why: str) -> ContentType | None:
    """``language`` as the arguments name it; a file of text with a few lines of code stays text."""
    lines = lines[:: 1 + len(lines) // _READ_AS_CODE]
    found = languages.guess(lines, language)
    if len(lines) < 3 or found.share < least:
        return None
    told = (
        why
        or f"{found.share:.0%} of the lines read as {found.language if found.language != languages.OTHER else 'code'}"
    )
    return ContentType("source_code", round(min(0.5 + found.share / 2, 0.95), 2), told)


def _prose(source: ToolOutput, lines: Sequence[str], tool: str, arguments: str) -> ContentType | None:
    if len(lines) > 70:
        lines = lines[::2]
    hinted = tool in _PROSE_TOOLS or bool(_PROSE_FILE.search(arguments[:2_000]))
    code = sum(1 for line in lines if _CODE_END.search(line))
    if not hinted and code > (0.2 if source.gutter else 0.35) * len(lines):
        return None
    sentences = sum(1 for line in lines if _is_sentence(line))
    marked = sum(1 for line in lines if _HEADING.match(line))
    share = (sentences + 0.5 * marked) / len(lines)
    if hinted and share >= 0.25:
        return ContentType("prose", 0.8, f"{sentences} of {len(lines)} lines read as sentences; the tool returns text")
    if share >= 0.5 and code <= 0.35 * len(lines):
        return ContentType(
            "prose", round(min(0.5 + share / 2, 0.95), 2), f"{sentences} of {len(lines)} lines read as sentences"
        )
    return None


def _is_sentence(line: str) -> bool:
    words = line.split()
    if len(words) >= 6:
        plain = sum(word.strip(_AROUND_WORDS).isalpha() for word in words[:16])
        if plain >= 5 and plain >= 0.6 * min(len(words), 16):
            return True
    return not line.isascii() and bool(_CJK.search(line))
