"""The blocks of one request: every part of every message with its zone, the reason, and what became of it.

Works on any run of a request's messages, so that a page can ask for a few of a hundred thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from compression.engine.content_types import ContentType, detect
from compression.engine.edits import Edit, Event, Note
from compression.engine.replay import Replay
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.transcript import Message, Part
from compression.engine.zones import Zone, head_reason

Side = Literal["before", "after"]

HIDDEN_TEXT = "System prompt and tool schemas"


@dataclass(frozen=True, slots=True)
class Block:
    """One part of one message in a request.

    ``tokens`` are uncalibrated and hold the message's overhead in its first part, so that the blocks of a
    request add up to its counted tokens. ``message`` is None for the prefix that is not in the log, whose
    tokens are the provider's.
    """

    message: int | None
    part: int
    role: str
    kind: str
    tool: str
    zone: Zone
    reason: str
    content_type: str
    tokens: int
    text: str
    edit: dict[str, Any] | None = None


def hidden_block(hidden: int) -> Block:
    """The part of the head that the log does not hold."""
    return Block(None, 0, "system", "hidden", "", "head", "not in the log, from usage", "", hidden, HIDDEN_TEXT)


def note_block(note: Note) -> Block:
    """What stands in a window for the messages that left it."""
    reason = "simulated: a model would have written it" if note.simulated else "stands for what left"
    return Block(None, 0, note.role, "note", "", "compressible", reason, note.kind, note.tokens, note.text)


def edit_fields(edit: Edit) -> dict[str, Any]:
    """An edit as it is published; the texts stay behind."""
    fields = asdict(edit)
    for name in ("text", "counts", "sha256"):
        fields.pop(name)
    fields["kept"] = list(edit.kept)
    return fields


def part_text(part: Part) -> str:
    """What a reader sees of a part."""
    if part.kind == "media":
        size = f", {part.width} x {part.height}" if part.width else ""
        return f"[{part.media_type or 'media'}{size}, {part.size:,} bytes, sha256 {part.sha256}]"
    if part.kind == "opaque":
        return f"[not readable: {part.size:,} bytes kept by the provider]"
    if part.kind == "thinking" and not part.text:
        return "[thinking without its text; the provider has it]"
    return part.text


def blocks_of(
    message: Message,
    counts: Iterable[int],
    zone: Zone,
    reason: str,
    edits: Mapping[tuple[int, int], Edit],
    side: Side,
    arguments: Mapping[str, str] | None = None,
    *,
    cleared_before: bool = False,
) -> list[Block]:
    """The blocks of one message on one side; ``cleared_before`` when the history itself has blanked results."""
    if not message.parts:
        return [Block(message.index, 0, message.role, "text", "", zone, reason, "", MESSAGE_OVERHEAD, "")]
    found = []
    for j, tokens in enumerate(counts):
        part = message.parts[j]
        edit = edits.get((message.index, j))
        # What the agent blanked itself is blank on both sides, unless that is what is being looked at.
        stands = edit if edit and (side == "after" or (cleared_before and edit.kind == "cleared")) else None
        found.append(
            Block(
                message=message.index,
                part=j,
                role=message.role,
                kind=part.kind,
                tool=part.name,
                zone=zone,
                reason=_reason(part, edit, zone, reason, tokens),
                content_type=_content_type(part, edit, arguments or {}),
                tokens=(stands.tokens_after if stands else tokens) + (MESSAGE_OVERHEAD if j == 0 else 0),
                text=stands.text if stands else part_text(part),
                edit=edit_fields(edit) if edit else None,
            )
        )
    return found


def _content_type(part: Part, edit: Edit | None, arguments: Mapping[str, str]) -> str:
    if part.kind != "tool_result":
        return ""
    if edit is not None and edit.content_type:
        return edit.content_type
    return content_type(part, arguments).kind


def content_type(part: Part, arguments: Mapping[str, str]) -> ContentType:
    """What kind of text a tool result is."""
    return detect(part.text, part.name, arguments.get(part.call_id, ""))


def _reason(part: Part, edit: Edit | None, zone: Zone, reason: str, tokens: int) -> str:
    if edit is not None:
        return edit.reason
    if zone != "compressible":
        return reason
    if part.kind == "tool_result":
        return f"old result, {tokens:,} tokens"
    return "old, not a tool result"


def zone_reason(message: Message, zone: Zone, pinned: Mapping[int, str], recent_budget: int) -> str:
    """Why a message lies in its zone."""
    if zone == "head":
        return head_reason(message)
    if zone == "pinned":
        return pinned[message.index]
    if zone == "recent":
        return f"within the newest {recent_budget:,} tokens"
    return ""


def window_blocks(replay: Replay, turn: int, side: Side) -> list[Block]:
    """The whole window of a turn on one side. Before = had no policy acted; zones are the policy's on both."""
    transcript = replay.transcript
    zones = replay.zones_at(turn)
    edits = replay.edits_at(turn)
    cleared = {place: edit for place, edit in edits.items() if edit.kind == "cleared"}
    arguments = replay.course.arguments
    blocks = [hidden_block(replay.calibration.hidden)] if replay.calibration.hidden else []
    course = replay.base if side == "before" else replay.course
    request = course.windows[turn] if side == "before" else zones.request
    note = replay.note_at(turn) if side == "after" else None
    own = {i: ordinal for ordinal, i in enumerate(zones.request.indexes())}
    gone = left_in(replay.events, turn)
    for ordinal, i in enumerate(request.indexes()):
        if note is not None and ordinal == note.ordinal:
            blocks.append(note_block(note))
        if i in course.excluded:
            continue
        message = transcript.messages[i]
        if i in own:
            zone = zones.of(own[i])
            reason = zone_reason(message, zone, zones.pinned, zones.recent_budget)
            blocks += blocks_of(
                message,
                transcript.counts[i],
                zone,
                reason,
                edits,
                side,
                arguments,
                cleared_before=replay.base is replay.course,
            )
        else:
            left = gone.get(i, "left the window in the agent's own compaction")
            own_edits = cleared if replay.base is replay.course else {}
            blocks += [
                Block(b.message, b.part, b.role, b.kind, b.tool, "compressible", left, b.content_type, b.tokens, b.text)
                for b in blocks_of(
                    message, transcript.counts[i], "compressible", left, own_edits, side, arguments, cleared_before=True
                )
            ]
    if note is not None and note.ordinal >= len(request):
        blocks.append(note_block(note))
    return blocks


def left_in(events: Iterable[Event], turn: int) -> dict[int, str]:
    """Why each message that a policy's events took out of the window by a turn is not in it."""
    return {
        i: f"left the window at turn {event.turn}: {event.kind}"
        for event in events
        if event.turn <= turn and event.kind != "recorded"
        for i in event.left
    }
