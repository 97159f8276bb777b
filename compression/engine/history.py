"""Which messages each request of a session holds, under one of two readings of its own compactions.

``uncompacted`` ignores what the agent compacted and drops its summaries, so that a policy is in
charge of the whole history. ``as-recorded`` resets the window at each boundary as it really was.
No policy acts here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from compression.engine.snapshots import digest
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.transcript import Boundary, Message, Part, Transcript

History = Literal["uncompacted", "as-recorded"]

SOURCES = ("system", "memory", "user", "thinking", "text", "tool_call", "tool_result", "media")
"""Where tokens come from. ``text`` is the assistant's own; a message's overhead goes to its first part."""

_NUMBER = {name: number for number, name in enumerate(SOURCES)}
_EMPTY = Part("text")

CLEARED_TOKENS = 8
"""What stands for a result that the agent blanked itself, in tokens."""


@dataclass(frozen=True, slots=True)
class Request:
    """The messages of one request: ``kept`` earlier ones, then messages[start:end]."""

    kept: tuple[int, ...]
    start: int
    end: int

    def __len__(self) -> int:
        return len(self.kept) + self.end - self.start

    def __getitem__(self, ordinal: int) -> int:
        """Index of the message at ``ordinal`` (0 = first in the window)."""
        kept = len(self.kept)
        return self.kept[ordinal] if ordinal < kept else self.start + ordinal - kept

    def ordinal(self, index: int) -> int | None:
        """Where message ``index`` stands in the window; None when it is not in it."""
        if self.start <= index < self.end:
            return index - self.start + len(self.kept)
        return self.kept.index(index) if index in self.kept else None

    def indexes(self, first: int = 0, last: int | None = None) -> Sequence[int]:
        """Indexes of the messages at ordinals first..last (last excluded)."""
        last = len(self) if last is None else last
        kept = len(self.kept)
        if first >= kept:
            return range(self.start + first - kept, self.start + max(first, last) - kept)
        return (*self.kept[first : min(last, kept)], *range(self.start, self.start + max(0, last - kept)))


@dataclass(frozen=True)
class Course:
    """A session under one reading: tokens of each message, and what each request holds.

    ``sizes[i]`` = uncalibrated tokens of message i, 0 when ``excluded``. ``unknown_left[t]`` = calibrated
    tokens that left before turn t without the log saying what (silent clearings; as-recorded only).
    ``cleared`` = (from turn on, message, part) blanked by the agent, ``summaries`` those kept because their
    originals are not in the file. What is cached depends on the transcript only, whatever the policy.
    """

    transcript: Transcript
    history: History
    sizes: tuple[int, ...]
    prefix: tuple[int, ...]
    windows: tuple[Request, ...]
    excluded: frozenset[int]
    unknown_left: tuple[int, ...]
    cleared: tuple[tuple[int, int, int], ...] = ()
    summaries: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()

    def counted(self, window: Request) -> int:
        """Uncalibrated tokens of a request before anything in it was blanked."""
        return sum(self.sizes[i] for i in window.kept) + self.prefix[window.end] - self.prefix[window.start]

    @cached_property
    def source_rows(self) -> tuple[tuple[int, ...], ...]:
        """Uncalibrated tokens of each request by source, in the order of ``SOURCES``. One pass, O(parts)."""
        wanted = {w.start for w in self.windows} | {w.end for w in self.windows}
        running = [0] * len(SOURCES)
        at: dict[int, tuple[int, ...]] = {0: tuple(running)}
        for message, counts in zip(self.transcript.messages, self.transcript.counts, strict=True):
            if message.index not in self.excluded:
                add_tokens(running, message, counts)
            if message.index + 1 in wanted:
                at[message.index + 1] = tuple(running)
        rows = []
        saved = _Saved(self)
        for turn, window in enumerate(self.windows):
            row = [end - start for end, start in zip(at[window.end], at[window.start], strict=True)]
            for i in window.kept:
                add_tokens(row, self.transcript.messages[i], self.transcript.counts[i])
            row[_NUMBER["tool_result"]] -= saved.at(turn, window)
            rows.append(tuple(row))
        return tuple(rows)

    @cached_property
    def counted_rows(self) -> tuple[int, ...]:
        """Uncalibrated tokens of each request as it was sent under this reading."""
        return tuple(map(sum, self.source_rows))

    @cached_property
    def arrivals(self) -> tuple[int, ...]:
        """The first turn whose request reaches past each message; the number of turns when none does."""
        ends = list(accumulate((turn.request_end for turn in self.transcript.turns), max))
        found: list[int] = []
        for turn, end in enumerate(ends):
            found += [turn] * (end - len(found))
        return (*found, *[len(ends)] * (len(self.sizes) - len(found)))

    @cached_property
    def results(self) -> tuple[tuple[int, int, int], ...]:
        """(message, part, tokens) of every tool result, oldest first."""
        return tuple(
            (message.index, j, counts[j])
            for message, counts in zip(self.transcript.messages, self.transcript.counts, strict=True)
            if message.index not in self.excluded
            for j, part in enumerate(message.parts)
            if part.kind == "tool_result"
        )

    def results_between(self, first: int, end: int) -> Sequence[tuple[int, int, int]]:
        """The tool results of messages[first:end]."""
        return self.results[bisect_left(self.results, (first,)) : bisect_left(self.results, (end,))]

    @cached_property
    def results_by_tool(self) -> Mapping[str, Sequence[int]]:
        """Tool name in lower case -> messages with one of its results, oldest first."""
        found: dict[str, list[int]] = {}
        for i, j, _ in self.results:
            found.setdefault(self.transcript.messages[i].parts[j].name.lower(), []).append(i)
        return found

    @cached_property
    def arguments(self) -> Mapping[str, str]:
        """Call id -> the arguments of the call."""
        return {p.call_id: p.text for m in self.transcript.messages for p in m.parts if p.kind == "tool_call"}

    def sha(self, message: int, part: int) -> str:
        """sha256 of a part's text, hashed once for a transcript."""
        known: dict[tuple[int, int], str] = self.transcript.memo.setdefault("sha256", {})
        if (message, part) not in known:
            known[message, part] = digest(self.transcript.messages[message].parts[part].text)
        return known[message, part]


class _Saved:
    """Tokens that the agent's own blanking took from a request; asked turn by turn."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._open: list[tuple[int, int]] = []
        self._next = 0

    def at(self, turn: int, window: Request) -> int:
        cleared = self._course.cleared
        while self._next < len(cleared) and cleared[self._next][0] <= turn:
            _, i, j = cleared[self._next]
            self._open.append((i, self._course.transcript.counts[i][j] - CLEARED_TOKENS))
            self._next += 1
        return sum(tokens for i, tokens in self._open if window.ordinal(i) is not None)


def add_tokens(row: list[int], message: Message, counts: Sequence[int]) -> None:
    """Add the tokens of a message to a row by source, its overhead with its first part."""
    row[_NUMBER[source_of(message, 0)]] += MESSAGE_OVERHEAD
    for j, tokens in enumerate(counts):
        row[_NUMBER[source_of(message, j)]] += tokens


def source_of(message: Message, part_number: int) -> str:
    """Which token source a part belongs to; a message without parts belongs where a text of it would."""
    part = message.parts[part_number] if message.parts else _EMPTY
    if part.kind in ("tool_call", "tool_result", "media", "thinking"):
        return part.kind
    if part.kind == "opaque":
        return "thinking"
    if message.role == "system":
        return "system"
    if message.role == "assistant":
        return "text"
    if message.flags & {"memory", "skill", "injected", "compact_summary"}:
        return "memory"
    return "user"


def _leading_system(messages: Sequence[Message]) -> tuple[int, ...]:
    found = []
    for message in messages:
        if message.role != "system":
            break
        found.append(message.index)
    return tuple(found)


def uncompacted(transcript: Transcript) -> Course:
    """The whole history: summaries and repeated copies of the agent's own compactions are left out."""
    replaced = [b for b in transcript.boundaries if b.kind == "compact" and b.originals_in_file]
    summaries = {b.summary_message for b in replaced if b.summary_message is not None}
    excluded = frozenset(
        m.index
        for m in transcript.messages
        if m.index in summaries or (replaced and "preserved" in m.flags and m.index >= replaced[0].position)
    )
    kept = [b for b in transcript.boundaries if b.kind == "compact" and not b.originals_in_file]
    warnings = tuple(f"turn {b.turn}: what a summary stands for is not in the file; the summary is kept" for b in kept)
    sizes = _sizes(transcript, excluded)
    return Course(
        transcript=transcript,
        history="uncompacted",
        sizes=sizes,
        prefix=tuple(accumulate(sizes, initial=0)),
        windows=tuple(Request((), 0, turn.request_end) for turn in transcript.turns),
        excluded=excluded,
        unknown_left=(0,) * len(transcript.turns),
        summaries=tuple(b.summary_message for b in kept if b.summary_message is not None),
        warnings=warnings,
    )


def _sizes(transcript: Transcript, excluded: frozenset[int]) -> tuple[int, ...]:
    return tuple(0 if i in excluded else sum(counts) + MESSAGE_OVERHEAD for i, counts in enumerate(transcript.counts))


def _after(boundary: Boundary, system: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    summary = () if boundary.summary_message is None else (boundary.summary_message,)
    kept = [i for i in (*system, *summary, *boundary.preserved) if i < boundary.position]
    return tuple(dict.fromkeys(kept)), boundary.position


def as_recorded(transcript: Transcript) -> Course:
    """Each boundary resets the window as the agent really did."""
    system = _leading_system(transcript.messages)
    sizes = _sizes(transcript, frozenset())
    boundaries = sorted(transcript.boundaries, key=lambda b: (b.turn, b.position))
    results = {
        part.call_id: (m.index, j)
        for m in transcript.messages
        for j, part in enumerate(m.parts)
        if part.kind == "tool_result" and transcript.counts[m.index][j] > CLEARED_TOKENS
    }
    windows: list[Request] = []
    unknown_left: list[int] = []
    cleared: dict[tuple[int, int], int] = {}
    kept: tuple[int, ...] = ()
    start = left = 0
    position = 0
    for turn in transcript.turns:
        while position < len(boundaries) and boundaries[position].turn <= turn.index:
            boundary = boundaries[position]
            position += 1
            if boundary.kind == "compact":
                kept, start = _after(boundary, system)
                left = 0
            elif boundary.kind == "silent":
                left += boundary.tokens_left or 0
            else:
                for call in boundary.cleared_call_ids:
                    if call in results and results[call][0] < turn.request_end:
                        cleared.setdefault(results[call], turn.index)
        windows.append(Request(kept, min(start, turn.request_end), turn.request_end))
        unknown_left.append(left)
    return Course(
        transcript=transcript,
        history="as-recorded",
        sizes=sizes,
        prefix=tuple(accumulate(sizes, initial=0)),
        windows=tuple(windows),
        excluded=frozenset(),
        unknown_left=tuple(unknown_left),
        cleared=tuple((turn, i, j) for (i, j), turn in cleared.items()),
    )


def course_of(transcript: Transcript, history: History) -> Course:
    """The session under one reading; worked out once for a transcript."""
    known = transcript.memo.get(history)
    if known is None:
        known = uncompacted(transcript) if history == "uncompacted" else as_recorded(transcript)
        transcript.memo[history] = known
    course: Course = known
    return course
