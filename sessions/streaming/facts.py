"""What every adapter reports, whatever its protocol: the one list that rules, profiles and pages read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

FactType = Literal[
    "call_started",
    "tool_named",
    "argument",
    "argument_complete",
    "tool_complete",
    "text",
    "thinking",
    "usage",
    "stop",
    "error",
    "ping",
    "unknown",
]

# Facts that say that the model got on; the others prove only that the connection lives.
PROGRESS = frozenset(
    {"call_started", "tool_named", "argument", "argument_complete", "tool_complete", "text", "thinking", "stop"}
)


@dataclass(slots=True)
class Fact:
    """``call`` numbers the calls of one stream from 0: ids repeat, are missing or come late.

    ``closed`` belongs to ``tool_complete`` only: the provider ended the call and its arguments are whole. ``state``
    says how it ended otherwise.
    """

    type: FactType
    call: int | None = None
    tool: str | None = None
    path: tuple[str | int, ...] | None = None
    text: str | None = None
    value: Any = None
    id: str | None = None
    arguments: Any = None
    closed: bool | None = None
    state: str | None = None

    def as_row(self, seq: int, at: float | None) -> dict[str, Any]:
        """The event as ``stream`` prints it: only what is known, ``at`` in seconds of the caller's clock."""
        row: dict[str, Any] = {"seq": seq, "type": self.type}
        for name in ("call", "tool", "text", "value", "id"):
            value = getattr(self, name)
            if value is not None:
                row[name] = value
        if self.path is not None:
            row["path"] = ".".join(map(str, self.path))
        if self.type == "argument_complete":
            row["value"] = self.value  # null is a value
        if self.type == "tool_complete":
            row |= {"id": self.id, "name": self.tool, "arguments": self.arguments}
            row |= {"closed": bool(self.closed), "state": self.state}
        row["at"] = at
        return row
