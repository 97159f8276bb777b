"""A session as the engine sees it: messages, model calls, and what the provider recorded.

Plain data. Counting, zones and policies live elsewhere; nothing here is ever changed
after it was built.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

PartKind = Literal["text", "thinking", "tool_call", "tool_result", "media", "opaque"]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message; ``text`` is the arguments of a tool call and the body of a result."""

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


@dataclass(frozen=True, slots=True)
class Message:
    """One role-tagged item. Each tool result is a ``tool`` message of its own."""

    index: int
    role: Role
    parts: tuple[Part, ...]
    timestamp: float | None = None
    source_id: str = ""
    response_id: str = ""
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Recorded:
    """The provider's own figures of one call, in tokens; ``cache_write_long`` of ``cache_write`` live for an hour."""

    context_tokens: int
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    model: str = ""
    time: float | None = None
    cache_write_long: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One model call: request = messages[:request_end], response = messages[request_end:response_end],
    results = messages[response_end:results_end].

    ``tools`` and ``system`` = a digest of what was sent of them, empty where the source does not say.
    """

    index: int
    request_end: int
    response_end: int
    results_end: int
    recorded: Recorded | None = None
    time: float | None = None
    tools: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A compaction that the agent made itself; it took effect at ``turn``.

    ``position``: messages before it are what left (but for ``preserved``); ``summary_message``
    stands in their place. ``cleared_call_ids``: results blanked in place. ``silent`` ones are
    inferred from a fall of the recorded context; ``tokens_left`` is that fall.
    """

    turn: int
    kind: Literal["compact", "micro", "silent"]
    position: int
    summary_message: int | None = None
    preserved: tuple[int, ...] = ()
    cleared_call_ids: tuple[str, ...] = ()
    tokens_left: int | None = None
    originals_in_file: bool = True


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded session. ``counts[i][j]`` are the tokens of part j of message i, uncalibrated.

    ``memo`` keeps what others worked out of it, so that a second policy need not; it is no part of the value.
    """

    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]
    counts: tuple[tuple[int, ...], ...]
    boundaries: tuple[Boundary, ...] = ()
    model: str = ""
    context_window: int | None = None
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
