"""Where the names of a session stand: in which messages, which first, and which responses use them.

What counts as text of a message is ``reading``'s to say. A name is looked up among the messages that hold its rarest
word, so nothing here grows with names x messages. It neither weighs names nor knows policies.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from compression.engine.history import Course
from compression.engine.identifiers import occurs, unescaped
from compression.engine.reading import NOTHING, Reading, reading_of, words

_WORD = re.compile(r"[A-Za-z0-9_]+")


class View:
    """Texts that stand somewhere (stubs, a summary), asked for single names."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [unescaped(text) for text in texts]
        self._words = [words(text) for text in self._texts]

    def holds(self, name: str) -> bool:
        """Whether the name occurs in one of the texts."""
        asked = _WORD.findall(name)
        return any(
            held.issuperset(asked) and (asked == [name] or occurs(name, text))
            for held, text in zip(self._words, self._texts, strict=True)
        )


class Occurrences:
    """The names of a course's messages. Messages that the course leaves out hold nothing."""

    def __init__(self, course: Course) -> None:
        self._messages = course.transcript.messages
        self.readings: list[Reading] = [
            NOTHING if m.index in course.excluded else reading_of(m) for m in self._messages
        ]
        self.texts = [reading.text for reading in self.readings]
        self._words = [reading.words for reading in self.readings]
        self._first: dict[str, int] = {}
        self._uses: dict[str, tuple[int, ...]] = {}
        self.assistants = [m.index for m in self._messages if m.role == "assistant" and m.index not in course.excluded]

    @cached_property
    def _postings(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for i, held in enumerate(self._words):
            for word in held:
                found.setdefault(word, []).append(i)
        return found

    @cached_property
    def _used_words(self) -> set[str]:
        return set().union(*(self._words[i] for i in self.assistants))

    def names(self, index: int) -> dict[str, str]:
        """The identifiers of a message with their classes; a tool result also has quoted ones."""
        return self.readings[index].names

    def messages(self, name: str, first: int = 0) -> Iterator[int]:
        """The messages from ``first`` on in which a name occurs, oldest first."""
        asked = _WORD.findall(name)
        lists = [self._postings.get(word, []) for word in asked]
        if not lists:
            return
        rarest = min(lists, key=len)
        for i in rarest[bisect_left(rarest, first) :]:
            if asked == [name] or (self._words[i].issuperset(asked) and occurs(name, self.texts[i])):
                yield i

    def first(self, name: str) -> int | None:
        """The first message in which a name occurs."""
        if name not in self._first:
            self._first[name] = next(self.messages(name), -1)
        found = self._first[name]
        return None if found < 0 else found

    def uses(self, name: str) -> tuple[int, ...]:
        """The assistant messages that use a name, oldest first."""
        if name not in self._uses:
            possible = self._used_words.issuperset(_WORD.findall(name))
            found = self.messages(name) if possible else iter(())
            self._uses[name] = tuple(i for i in found if self._messages[i].role == "assistant")
        return self._uses[name]


def occurrences_of(course: Course) -> Occurrences:
    """The names of a course; worked out once for a transcript and reading."""
    key = f"occurrences {course.history}"
    memo = course.transcript.memo
    if key not in memo:
        memo[key] = Occurrences(course)
    found: Occurrences = memo[key]
    return found
