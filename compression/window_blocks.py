"""One message of a window as a block: what stands there part by part, in which zone, why, and what became of it.

Shared by the session's window and by the comparison of two. Decides no zone and no edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compression.engine.edits import Edit, Event, Note
from compression.message_texts import ShownMessage, ShownPart
from compression.replay_document import ReplayDocument, freed_by
from compression.text_diff import Run

STUB_LINES, STUB_COLUMNS = 9, 80
VERBS = {
    "stub": "compressed",
    "superseded": "superseded",
    "arguments": "arguments shortened",
    "thinking": "thinking cleared",
    "text": "shortened",
    "cleared": "cleared",
    "placeholder": "replaced",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One part replaced."""

    event: Event
    edit: Edit

    @property
    def said(self) -> str:
        """What happened when, and why; the step of the ladder where it was one."""
        step = "" if self.event.kind in ("compress", "recorded") else f" ({self.event.kind})"
        return f"{VERBS[self.edit.kind]} at turn {self.event.turn}{step} · {self.edit.reason}"

    @property
    def kept(self) -> str:
        """What the stub kept of its original, by kind of fact."""
        return ", ".join(self.edit.kept)

    @property
    def is_long(self) -> bool:
        """Whether the text takes more lines than are shown without asking, in a column of a wide page."""
        return sum(1 + len(line) // STUB_COLUMNS for line in self.edit.text.splitlines()) > STUB_LINES


@dataclass(frozen=True, slots=True)
class BlockPart:
    """One part as it stands on a side; ``diff`` from its original where that is what is being looked at."""

    part: ShownPart
    change: Change | None = None
    diff: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One message on one side. ``look`` is the style: sacred, pinned, compressible, compressed or removed.

    ``left``: the event of a policy that took the message out of the window. Tokens are uncalibrated.
    """

    message: ShownMessage
    look: str
    reason: str
    content_type: str
    tokens_before: int
    tokens: int
    parts: tuple[BlockPart, ...]
    left: Event | None = None
    is_selected: bool = False

    @property
    def icon(self) -> str:
        return {"sacred": "lock", "pinned": "pin", "compressed": "squeeze", "removed": "scissors"}.get(self.look, "")

    @property
    def changes(self) -> list[Change]:
        """What was replaced in it, part by part; empty on the side before."""
        return [one.change for one in self.parts if one.change is not None]

    @property
    def is_changed(self) -> bool:
        return self.look == "compressed"

    @property
    def has_addresses(self) -> bool:
        return any(change.edit.address for change in self.changes)


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """What stands in a window for the messages that left it. ``turn`` and ``step`` of the event that wrote it;
    ``left`` messages had gone by then in all, ``tokens_left`` as they were logged."""

    note: Note
    turn: int
    step: str
    left: int
    tokens_left: int
    is_note: bool = True
    is_fold: bool = False

    @property
    def is_long(self) -> bool:
        return sum(1 + len(line) // STUB_COLUMNS for line in self.note.text.splitlines()) > STUB_LINES


def note_block(document: ReplayDocument, turn: int) -> NoteBlock | None:
    """The note of a turn's window; None where no policy took a message out, or nothing was put in its place."""
    last = document.last_departure(turn)
    if last is None or last.note is None:
        return None
    gone = [i for i, event in document.gone(turn).items() if event.kind != "recorded"]
    running = document.running
    return NoteBlock(last.note, last.turn, last.kind, len(gone), sum(running[i + 1] - running[i] for i in gone))


def block_parts(
    message: ShownMessage,
    edits: Mapping[int, tuple[Event, Edit]],
    diffs: Mapping[int, Sequence[Run]] | None = None,
) -> tuple[BlockPart, ...]:
    """The parts of a message with what stands in place of those that were changed."""
    return tuple(
        BlockPart(
            part,
            Change(*edits[part.number]) if part.number in edits else None,
            tuple((diffs or {}).get(part.number, ())),
        )
        for part in message.parts
    )


def changed_tokens(size: int, edits: Mapping[int, tuple[Event, Edit]]) -> int:
    """Tokens of a message of ``size`` as it stands."""
    return size - freed_by(edits)
