"""Which messages each request of a session holds, under one of two readings of its own compactions.

``uncompacted`` ignores what the agent compacted and drops its summaries, so that a policy is in
charge of the whole history. ``as-recorded`` resets the window at each boundary as it really was.
No policy acts here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.transcript import Boundary, Message, Transcript

History = Literal["uncompacted", "as-recorded"]

SOURCES = ("system", "memory", "user", "thinking", "text", "tool_call", "tool_result", "media")
"""Where tokens come from. ``text`` is the assistant's own; a message's overhead goes to its first part."""

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

    def indexes(self, first: int = 0, last: int | None = None) -> Sequence[int]:
        """Indexes of the messages at ordinals first..last (last excluded)."""
        last = len(self) if last is None else last
        kept = len(self.kept)
        if first >= kept:
            return range(self.start + first - kept, self.start + max(first, last) - kept)
        return (*self.kept[first : min(last, kept)], *range(self.start, self.start + max(0, last - kept)))


@dataclass(frozen=True, slots=True)
class Course:
    """A session under one reading: tokens of each message, and what each request holds.

    ``sizes[i]`` = uncalibrated tokens of message i, 0 when ``excluded``. ``unknown_left[t]`` = calibrated
    tokens that left before turn t without the log saying what (silent clearings; as-recorded only).
    """

    transcript: Transcript
    history: History
    sizes: tuple[int, ...]
    prefix: tuple[int, ...]
    windows: tuple[Request, ...]
    excluded: frozenset[int]
    unknown_left: tuple[int, ...]
    cleared: tuple[tuple[int, int], ...] = ()  # (from turn on, message blanked by the agent)
    warnings: tuple[str, ...] = ()

    def counted(self, window: Request) -> int:
        """Uncalibrated tokens of a request."""
        return sum(self.sizes[i] for i in window.kept) + self.prefix[window.end] - self.prefix[window.start]


def source_of(message: Message, part_number: int) -> str:
    """Which token source a part belongs to."""
    part = message.parts[part_number]
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


def source_prefixes(transcript: Transcript, excluded: frozenset[int]) -> tuple[tuple[int, ...], ...]:
    """Running sums of tokens by source: row s, column i = tokens of source s in messages[:i]. O(parts)."""
    columns: list[list[int]] = [[0] for _ in SOURCES]
    number = {name: i for i, name in enumerate(SOURCES)}
    totals = [0] * len(SOURCES)
    for message, counts in zip(transcript.messages, transcript.counts, strict=True):
        if message.index not in excluded:
            first = number[source_of(message, 0)] if message.parts else number["user"]
            totals[first] += MESSAGE_OVERHEAD
            for j, tokens in enumerate(counts):
                totals[number[source_of(message, j)]] += tokens
        for column, total in zip(columns, totals, strict=True):
            column.append(total)
    return tuple(map(tuple, columns))


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
    results = {part.call_id: m.index for m in transcript.messages for part in m.parts if part.kind == "tool_result"}
    windows: list[Request] = []
    unknown_left: list[int] = []
    cleared: list[tuple[int, int]] = []
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
                blanked = (results[call] for call in boundary.cleared_call_ids if call in results)
                cleared.extend((turn.index, i) for i in blanked)
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
        cleared=tuple(cleared),
    )


def course_of(transcript: Transcript, history: History) -> Course:
    """The session under one reading."""
    return uncompacted(transcript) if history == "uncompacted" else as_recorded(transcript)
