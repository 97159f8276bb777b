"""What every importer returns: one recorded session as plain data.

Nothing here knows Django, tokens or policies. Lists are in the order in which the
model saw them; positions are indexes into ``ParsedSession.messages``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

PartKind = Literal["text", "thinking", "tool_call", "tool_result", "media", "opaque"]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message.

    ``text`` holds the words of a text or thinking part, the *arguments* (as the text
    of a JSON object, or raw) of a tool call, and the body of a tool result. ``media``
    never keeps its bytes: type, ``size`` in bytes, sha256 and pixels only. ``opaque``
    is encrypted or provider-private matter, of which only ``size`` is known.
    """

    kind: PartKind
    text: str = ""
    call_id: str = ""
    name: str = ""
    is_error: bool = False
    signature: str = ""
    media_type: str = ""
    size: int = 0
    sha256: str = ""
    width: int = 0
    height: int = 0


@dataclass(slots=True)
class ParsedMessage:
    """One role-tagged item. A tool result is always a ``tool`` message of its own.

    Flags in use: ``injected`` (context that no person typed: caveats, skill bodies,
    AGENTS.md), ``memory`` / ``skill`` (what kind of injection), ``compact_summary``,
    ``synthetic`` (written by the client, never a model call), ``missing_result`` (an
    assistant message with a call that has no result in the file), ``orphan_result``
    (a result whose call is not in the file), ``inherited`` (copied from a parent
    session), ``preserved`` (repeated verbatim after a compaction).
    """

    role: Role
    parts: list[Part]
    timestamp: float | None = None
    source_id: str = ""
    response_id: str = ""
    model: str = ""
    flags: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Usage:
    """The provider's own figures for one response, in tokens, in disjoint buckets.

    ``context_tokens`` = uncached + cache_read + cache_write.
    """

    uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0  # the part of cache_write that lives for one hour
    output: int = 0
    reasoning: int = 0
    model: str = ""
    time: float | None = None

    @property
    def context_tokens(self) -> int:
        return self.uncached + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """One model call. request = messages[:request_end]; response = messages[request_end:response_end];
    the tool results that it caused = messages[response_end:results_end]."""

    request_end: int
    response_end: int
    results_end: int
    usage: Usage | None = None
    model: str = ""
    time: float | None = None


@dataclass(frozen=True, slots=True)
class ParsedBoundary:
    """A compaction that the agent itself made.

    It took effect for every request whose ``request_end`` > ``position``. ``summary`` is
    the position of the message that stands for what left (None when nothing stands for it);
    ``preserved`` are positions of earlier messages that stayed verbatim; ``cleared_call_ids``
    are results that were blanked (micro-compaction). ``originals_in_file`` is False when what
    left was never in this file (a continued session, an opaque compaction).
    """

    position: int
    kind: str  # "compact" | "micro"
    summary: int | None = None
    preserved: tuple[int, ...] = ()
    cleared_call_ids: tuple[str, ...] = ()
    tokens_before: int | None = None
    tokens_saved: int | None = None
    originals_in_file: bool = True


@dataclass(frozen=True, slots=True)
class Detection:
    """Which format a file is, how sure (0..1), and why in words."""

    format: str
    score: float
    why: str


@dataclass(slots=True)
class ParsedSession:
    """One session of a file. ``key`` is the session's own id when it has one, else made from ``beginning``:
    a hash of its first messages that stays the same while the file grows, and that another recording with the
    same opening has too. Keys are distinct within a file; beginnings need not be."""

    key: str
    format: str
    detection: Detection
    beginning: str = ""
    title: str = ""
    agent: str = ""
    parent: str = ""
    spawned_by: str = ""
    models: list[str] = field(default_factory=list)
    started_at: float | None = None
    ended_at: float | None = None
    context_window: int | None = None
    system_in_log: bool = False
    tools_json: str = ""
    messages: list[ParsedMessage] = field(default_factory=list)
    turns: list[ParsedTurn] = field(default_factory=list)
    boundaries: list[ParsedBoundary] = field(default_factory=list)
    source_messages: int = 0
    records: int = 0  # all records of the file that belong here = the two below + metadata + skipped
    message_records: int = 0  # those that became a message or a part of one
    boundary_records: int = 0  # those that say only that the context was compacted
    metadata: Counter[str] = field(default_factory=Counter)  # records kept as metadata, by type
    skipped: Counter[str] = field(default_factory=Counter)  # records not used, by reason
    warnings: list[str] = field(default_factory=list)


class ImportFailure(Exception):
    """The file cannot be read as a session. ``message`` names what is wrong and where,
    ``hint`` the remedy, ``guesses`` the formats that came nearest."""

    def __init__(self, message: str, hint: str = "", guesses: Sequence[Detection] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.guesses = tuple(guesses)

    @property
    def sentences(self) -> str:
        """Message and hint for one line, each with its full stop."""
        message = self.message if not self.hint or self.message.endswith((".", "!", "?")) else self.message + "."
        return f"{message} {self.hint}".rstrip()
