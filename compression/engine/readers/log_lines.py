"""What one line of a log says about itself: when, how bad, and which message it is.

A level is a word in the place of a level, never a piece of another word or of the message. A
message's template is the message without what varies: digits and quoted values.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
TIME = re.compile(
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
_WHERE_IT_STANDS = 160
_TEMPLATE_LENGTH = 300


def may_hold_log(text: str) -> bool:
    """A quick look that is never wrong when it says no."""
    return bool(_CLOCK.search(text)) or any(sign in text for sign in _LEVEL_SIGNS)


class LogLine(NamedTuple):
    time: str
    level: str
    spelled: str
    template: str


def read(line: str) -> LogLine:
    """``level`` is "" for a line without one; statuses of access logs stand as ``4xx`` and ``5xx``. ``spelled``
    is the level as this line writes it."""
    head = line[:_WHERE_IT_STANDS]
    time = TIME.search(head)
    message = line[:_TEMPLATE_LENGTH]
    if time:
        message = message[: time.start()] + message[time.end() :]
    return LogLine(time.group() if time else "", *_level(head), _VARIABLE.sub("#", message))


def level_of(head: str) -> str:
    return _level(head)[0]


def _level(head: str) -> tuple[str, str]:
    match = _LEVEL.search(head)
    if match:
        spelled = match.group(1) or match.group(2) or match.group(3) or match.group(4)
        word = _SAME.get(spelled.upper(), spelled.upper())
        if word in LEVELS and not (match.group(1) and _TWO_PLAIN_WORDS.search(head, 0, match.start())):
            return word, spelled
    if match := _KLOG.match(head):
        return _KLOG_LEVELS[match.group(1)], match.group(1)
    if match := _STATUS.search(head):
        level = {"4": "4xx", "5": "5xx"}.get(match.group(1), "")
        return level, level
    return "", ""
