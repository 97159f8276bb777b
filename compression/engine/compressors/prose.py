"""Prose: the sentences that carry most of the text's own words, by counting, without a model.

A sentence's worth is how often its words stand in the whole text, as far as nothing before it has said them, with
a bonus for names and numbers, for opening a paragraph, and for standing early; one that repeats another but for its
numbers is worth little. Headings are kept as the frame. Words are
runs of letters; of scripts without spaces each character is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from compression.engine.readers.problems import exit_lines
from compression.engine.tool_output import cleaned
from compression.engine.units import Tier, Unit, Units, clip, units_of

LONGEST_SHOWN = 400

_END = re.compile(
    r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)[\"')\]*_]{0,3}\s+(?=[\"'(\[*_]{0,3}[A-Z0-9])|(?<=[。！？])"
)
_WORD = re.compile(r"[^\W\d_]{3,40}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NAME = re.compile(r"\d|[a-z][A-Z]|_|`|/\w")
_HEADING = re.compile(r"#{1,6} \S|\*\*[^*]{1,80}\*\*:?$|[A-Z][^.!?]{0,60}:$")
_DIGITS = re.compile(r"\d+")
_STOP_WORDS_TEXT = """
    the and for that this with from have has had not are was were will would can could should but you your they
    their its our all any each which when where what who how why then than there here into onto over under also
    only such been being does did done about after before between because while these those some most more
    other same very may must one two use used using
"""
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())
_LONGEST_SENTENCE = 2_000
_OFTEN = 8


def units(text: str) -> Units:
    source = cleaned(text)
    exits = set(exit_lines(source.lines))
    sentences = list(_sentences(source.text))
    worth_of = worths([sentence for sentence, _, _ in sentences], [opens for _, opens, _ in sentences])
    opening = next((position for position, (sentence, _, _) in enumerate(sentences) if not _HEADING.match(sentence)), 0)
    best = sorted(range(len(sentences)), key=lambda position: (-worth_of[position], position))
    place = {position: rank for rank, position in enumerate(best)}
    found = []
    for position, (sentence, _, line) in enumerate(sentences):
        is_title = position == 0 < opening and sentence.startswith("# ")
        tier, rank, label = _role(
            sentence, position == opening, is_title, place[position], len(sentences), line in exits
        )
        shown = clip(" ".join(clip(sentence, 2 * LONGEST_SHOWN).split()), LONGEST_SHOWN)
        found.append(Unit(shown, tier, position, rank, label, position, 1))
    return units_of(source, found, total=len(found), noun=("sentence", "sentences"), gaps="once")


def worths(sentences: Sequence[str], opens: Sequence[bool] = ()) -> list[int]:
    """How much each of ``sentences`` tells of the whole; ``opens`` says which ones begin a paragraph."""
    words = [_WORD.findall(sentence[:_LONGEST_SENTENCE].lower()) for sentence in sentences]
    patterns = [_DIGITS.sub("", sentence[:LONGEST_SHOWN]) for sentence in sentences]
    # A sentence that is said over and over does not make its words important.
    once = dict(zip(reversed(patterns), reversed(words), strict=True))
    total = Counter(word for spoken in once.values() for word in spoken if word not in _STOP_WORDS)
    found = []
    told: set[str] = set()
    said: set[str] = set()
    for position, (sentence, spoken, pattern) in enumerate(zip(sentences, words, patterns, strict=True)):
        bag = {word for word in spoken if word not in _STOP_WORDS}
        fresh = len(bag - said)
        said |= bag
        worth = (
            _worth(sentence, bag, fresh, total) + 100 * (bool(opens) and opens[position]) + max(0, 100 - 10 * position)
        )
        found.append(worth // 16 if sentence in told else worth // 4 if pattern in told else worth)
        told.update((pattern, sentence))
    return found


def _sentences(text: str) -> Iterator[tuple[str, bool, int]]:
    """(sentence, whether it opens a paragraph, its line). A line break inside a paragraph ends a sentence too:
    tools print lists and short lines more often than wrapped text."""
    opens = True
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            opens = True
            continue
        start = 0
        for match in _END.finditer(line):
            if line[start : match.start()].strip():
                yield line[start : match.end()].strip(), opens, number
                opens = False
            start = match.end()
        if line[start:].strip():
            yield line[start:].strip(), opens, number
            opens = False


def _worth(sentence: str, bag: set[str], fresh: int, total: Counter[str]) -> int:
    """Its words count up to a few times each, and a sentence whose words were all said before a quarter."""
    length = max(len(bag), 5)
    worth = 100 * sum([min(total[word], _OFTEN) for word in bag]) // length
    worth += 100 * min(len(_NAME.findall(sentence[:LONGEST_SHOWN])), 6)
    worth = worth * (length + 3 * fresh) // (4 * length)
    return worth // 3 if _is_code(sentence) else worth


def _role(
    sentence: str, is_opening: bool, is_title: bool, place: int, number: int, is_exit: bool
) -> tuple[Tier, int, str]:
    if is_exit:
        return "must", -1, "exit code"
    if is_opening:
        return "must", 0, "first sentence"
    if is_title:
        return "must", 1, "title"
    if _HEADING.match(sentence):
        return "should", place, "heading"
    if 3 * place <= number:
        return "should", place, "sentence"
    return "may", place, "sentence"


def _is_code(sentence: str) -> bool:
    return (
        sentence.endswith(("{", "}", ";", "()")) or sentence[0] in "│├└|+$>" or ":= " in sentence or " => " in sentence
    )
