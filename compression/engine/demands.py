"""Sentences in which somebody says what must or must not be done, word for word.

Found by words of obligation in English, German, Chinese and Japanese; whether a demand still holds is not judged.
Questions, headings, code and pasted output are left out as far as their form shows them.
"""

from __future__ import annotations

import re

from compression.engine.plain_line import plain_line

LONGEST_DEMAND = 240
_SHORTEST_DEMAND = 5
_LONGEST_READ = 40_000
_FENCE = re.compile(r"(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)")
_CLIENT_TAG = re.compile(r"</?[a-z][a-z_-]{2,30}>")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z\u00c0-\u024f*`-])|(?<=[。！？；])|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•+>]\s+|\d{1,3}[.)]\s+)+")
_OBLIGATION = re.compile(
    r"\b(?:must|never|always|don'?t|do not|cannot|shall|only (?:use|do|if|when|the|in|after)|no matter what|"
    r"should(?:n'?t| not)|avoid|make sure|ensure|required?|forbidden|not allowed|without (?:changing|touching|adding|"
    r"using|breaking)|instead of|keep in mind|müssen|muss|darf nicht|niemals|immer|nicht verwenden)\b"
    r"|必须|必須|不要|不得|禁止|务必|只能|不能|不可|总是|切勿|一定要|请勿|しないで|必ず",
    re.IGNORECASE,
)
_NO_SENTENCE = re.compile(
    r"^\s*(?://|#|/\*|\*/|<[/!?a-z]|[{}()\[\]|+]|at |File \"|\d+[:|→])|[{};]\s*$|^[!-~]+$|[?？]\s*$"
)


def demands(text: str) -> list[str]:
    """The demands of a text in its order, each once and as one line."""
    found: dict[str, None] = {}
    for sentence in _SENTENCE_END.split(_CLIENT_TAG.sub("\n", _FENCE.sub("\n", text[:_LONGEST_READ]))):
        if not _OBLIGATION.search(sentence[:2_000]) or _NO_SENTENCE.search(sentence):
            continue
        line = plain_line(_BULLET.sub("", sentence), LONGEST_DEMAND)
        if len(line) >= _SHORTEST_DEMAND:
            found[line] = None
    return list(found)
