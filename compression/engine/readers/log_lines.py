"""What one line of a log says about itself: when, how bad, and which message it is.

A level is a word in the place of a level, never a piece of another word or of the message. A
message's template is the message without what varies: digits and quoted values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|\b{_MONTH} [ \d]\d \d\d:\d\d:\d\d"
    rf"|\d\d/{_MONTH}/\d{{4}}:\d\d:\d\d:\d\d(?: [+-]\d{{4}})?"
    r"|(?<![\d:.])\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?![\d:])"
)
_LEVEL = re.compile(
    r"(?:(?<=[\s\[(<|:])|^)"
    r"(TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|ERR|CRITICAL|CRIT|FATAL|PANIC|ALERT|EMERG|SEVERE)(?=[\s\])>|:,]|$)"
    r"|\b(?:level|lvl|severity|loglevel)\"?\s?[=:]\s?\"?([A-Za-z]{3,9})\b"
    r"|[\[<|](trace|debug|info|notice|warning|warn|error|err|critical|crit|fatal|panic|alert|emerg"
    r"|Trace|Debug|Info|Warning|Warn|Error|Critical|Fatal)[\]>|]"
    r"|^\W{0,3}(debug|info|warning|warn|error|fatal): "
)
_CLOCK = re.compile(r"\d:\d\d:\d\d")
_LEVEL_SIGNS = (
    "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "CRIT", "FATAL", "PANIC", "SEVERE", "ALERT", "EMERG",
    "level=", "level:", 'level"', "lvl=", "severity", "[debug", "[info", "[warn", "[err", "[Info", "[Warn",
    "[Err", "[crit", "[fatal", "<info", "<warn", "<err",
)  # fmt: skip
_KLOG = re.compile(r"([IWEF])\d{4} \d\d:")
_KLOG_LEVELS = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
_STATUS_LEVELS = frozenset(("", "4xx", "5xx"))
_STATUS = re.compile(r'" ([1-5])\d\d (?:\d|-)')
_TWO_PLAIN_WORDS = re.compile(r"(?:^|\s)[A-Za-z][a-z]+ [a-z]+ ")
_SAME = {
    "WARNING": "WARN",
    "ERR": "ERROR",
    "CRIT": "CRITICAL",
}
LEVELS = ("EMERG", "ALERT", "PANIC", "FATAL", "CRITICAL", "SEVERE", "ERROR", "WARN", "NOTICE", "INFO", "DEBUG", "TRACE")
ERRORS = frozenset(LEVELS[:7]) | {"5xx"}
WARNINGS = frozenset({"WARN", "4xx"})

_VARIABLE = re.compile(r"""(?<![A-Za-z0-9_])[A-Za-z_-]{0,40}?\d[\w.:-]*+|"[^"]{0,200}"|'[^']{0,200}'""")
# Without one of these no level is told.
_LEVEL_ROOTS = (
    "info", "debug", "err", "warn", "level", "trace", "crit", "fatal", "notice", "lvl", "severity", "panic", "alert",
    "emerg", "severe",
)  # fmt: skip
_REQUEST = re.compile(r'"([A-Z]{3,7} /?[^\s"?]{0,200})[^"]{0,300}"')
_SHAPE = bytes.maketrans(b"123456789", b"000000000")
_WHERE_IT_STANDS = 160
_TEMPLATE_LENGTH = 300


def may_hold_log(text: str) -> bool:
    """A quick look that is never wrong when it says no."""
    return bool(_CLOCK.search(text)) or any(sign in text for sign in _LEVEL_SIGNS)


def time_of(head: str) -> re.Match[str] | None:
    """Where ``head`` tells a time of day. Most lines without one are known by their colons."""
    return _TIME.search(head) if head.count(":") > 1 and _CLOCK.search(head) else None


class LogLine(NamedTuple):
    """``level`` is "" for a line without one; statuses of access logs stand as ``4xx`` and ``5xx``. ``spelled``
    is the level as this line writes it."""

    time: str
    level: str
    spelled: str
    template: str


class _Shape(NamedTuple):
    """What all lines have in common that differ in digits only. ``start`` .. ``end`` is the place of the time;
    ``by_status``: the level is told by a digit."""

    start: int
    end: int
    level: str
    spelled: str
    template: str
    by_status: bool


def read_all(lines: Sequence[str]) -> list[LogLine]:
    """Each line read, O(lines) plus a closer look at the first line of each shape."""
    shapes: dict[bytes, _Shape] = {}
    found: list[LogLine] = []
    heads = "\n".join([line[:_TEMPLATE_LENGTH] for line in lines]).encode("utf-8", "surrogatepass")
    for key, line in zip(heads.translate(_SHAPE).split(b"\n"), lines, strict=True):
        shape = shapes.get(key)
        if shape is None:
            shape = shapes[key] = _shape(line)
        level, spelled = shape.level, shape.spelled
        if shape.by_status:
            level = spelled = _by_status(line)
        found.append(LogLine(line[shape.start : shape.end], level, spelled, shape.template))
    return found


def _shape(line: str) -> _Shape:
    head = line[:_WHERE_IT_STANDS]
    time = time_of(head)
    message = line[:_TEMPLATE_LENGTH]
    start = end = 0
    if time:
        start, end = time.span()
        message = message[:start] + message[end:]
    level, spelled = _level(head)
    by_status = level in _STATUS_LEVELS and bool(_STATUS.search(head))
    if by_status:
        # What was asked for tells one kind of failed request from another.
        message = _REQUEST.sub(r"\1", message, count=1)
    return _Shape(start, end, level, spelled, _VARIABLE.sub("#", message), by_status)


def level_of(head: str) -> str:
    """``level`` is "" for a line without one; statuses of access logs stand as ``4xx`` and ``5xx``."""
    return _level(head)[0]


def _level(head: str) -> tuple[str, str]:
    lower = head.lower()
    if any(root in lower for root in _LEVEL_ROOTS) and (match := _LEVEL.search(head)):
        spelled = match.group(1) or match.group(2) or match.group(3) or match.group(4)
        word = _SAME.get(spelled.upper(), spelled.upper())
        if word in LEVELS and not (match.group(1) and _TWO_PLAIN_WORDS.search(head, 0, match.start())):
            return word, spelled
    if match := _KLOG.match(head):
        return _KLOG_LEVELS[match.group(1)], match.group(1)
    level = _by_status(head)
    return level, level


def _by_status(head: str) -> str:
    match = _STATUS.search(head[:_WHERE_IT_STANDS])
    return {"4": "4xx", "5": "5xx"}.get(match.group(1), "") if match else ""
