"""Text of Chat Completions: thinking that hides in ``<think>`` tags, and tool calls that leaked as markup."""

from __future__ import annotations

from collections.abc import Iterator

from sessions.streaming.facts import Fact

OPEN, CLOSE = "<think>", "</think>"

# What models write around a call; in text it says that a parser on the server missed one.
LEAKED_MARKS = ("<|tool_call", "<|channel|>", "<tool_call>", "<｜tool▁call", "[TOOL_CALLS]", "<function=")
_CARRY = max(map(len, LEAKED_MARKS)) - 1


class ThinkTags:
    """Only a tag that begins the answer counts: later ones are what the answer is about."""

    def __init__(self) -> None:
        self._held = ""
        self._where = "start"

    def split(self, delta: str) -> Iterator[tuple[bool, str]]:
        """Pairs (is thinking, text)."""
        if self._where == "text":
            yield False, delta
            return
        self._held += delta
        if self._where == "start":
            begun = self._held.lstrip()
            if OPEN.startswith(begun):
                if begun != OPEN:
                    return
            elif not begun.startswith(OPEN):
                self._where = "text"
                yield from self.flush()
                return
            self._where = "thinking"
            self._held = begun.removeprefix(OPEN)
        thinking, tag, rest = self._held.partition(CLOSE)
        if tag:
            self._where, self._held = "text", ""
            yield True, thinking
            yield False, rest
            return
        keep = next((n for n in range(len(CLOSE) - 1, 0, -1) if thinking.endswith(CLOSE[:n])), 0)
        cut = len(thinking) - keep
        self._held = thinking[cut:]
        yield True, thinking[:cut]

    def flush(self) -> Iterator[tuple[bool, str]]:
        held, self._held = self._held, ""
        yield self._where == "thinking", held


class LeakedMarkup:
    """Says once for each stream that a call stands in the text, where no rule looks for one."""

    def __init__(self) -> None:
        self._tail = ""
        self.found = ""

    def look(self, text: str) -> Fact | None:
        if self.found:
            return None
        window = self._tail + text
        self.found = next((mark for mark in LEAKED_MARKS if mark in window), "")
        self._tail = window[-_CARRY:]
        return Fact("unknown", text="leaked_markup", value=self.found) if self.found else None
