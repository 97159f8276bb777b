"""The generations of one Hermes Agent session: a compaction writes the kept head and tail again as new rows.

There is no record of a compaction; a row that begins with a summary prefix marks it. Copied rows become
``preserved`` positions of the boundary, so that every message stands in the session once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.importers.assembly import finish
from sessions.importers.chat_entries import ChatEntries
from sessions.importers.fields import tally
from sessions.importers.hermes_agent import entry_from_row
from sessions.importers.parsed import ParsedBoundary, ParsedMessage, ParsedSession

_LONGEST_HEAD = 12


@dataclass(slots=True)
class _Compaction:
    summary: ParsedMessage
    kept: list[ParsedMessage]
    cleared: list[str]
    is_in_file: bool


def add_rows(session: ParsedSession, rows: Iterator[dict[str, Any]], model: str) -> None:
    """Add the rows of ``session`` in the order of their ids and complete it."""
    entries = ChatEntries(session, model)
    given = len(session.messages)
    left: set[int] = set()
    for row in rows:
        session.records += 1
        if row.get("active") == 0 and row.get("compacted") == 0:
            tally(session.skipped, "rewound by the user")
            continue
        message = entries.add(entry_from_row(row))
        if message is not None and row.get("compacted") == 1:
            left.add(id(message))
    _join_generations(session, session.messages[given:], left)
    rewound = session.skipped["rewound by the user"]
    if rewound:
        session.warnings.append(f"{rewound} messages were taken back by the user and are left out.")
    session.message_records = session.source_messages
    finish(session, entries.usage)


def _join_generations(session: ParsedSession, rows: list[ParsedMessage], left: set[int]) -> None:
    """Replace the boundaries that a plain list would have by those that the rows prove."""
    copies: set[int] = set()
    compactions: list[_Compaction] = []
    shown: list[ParsedMessage] = []  # what the generation of the moment holds
    at = 0
    while at < len(rows):
        message = rows[at]
        at += 1
        if "compact_summary" not in message.flags:
            shown.append(message)
            continue
        head = _copied_head(shown)
        earlier = shown[: len(shown) - head]
        tail = _copied_tail(earlier, rows[at:])
        copied = shown[len(shown) - head :] + rows[at : at + tail]
        kept = earlier[:head] + earlier[len(earlier) - tail :]
        is_in_file = bool(copied) or any(id(row) in left for row in shown)
        compactions.append(
            _Compaction(message, kept if is_in_file else list(shown), _rewritten(copied, kept), is_in_file)
        )
        copies.update(id(row) for row in copied)
        shown = [*earlier[:head], message, *earlier[len(earlier) - tail :]] if is_in_file else [*shown, message]
        at += tail
    session.messages = [message for message in session.messages if id(message) not in copies]
    session.source_messages -= len(copies)
    if copies:
        session.metadata["row copied by a compaction"] = len(copies)
    session.boundaries = _boundaries(session, compactions)


def _boundaries(session: ParsedSession, compactions: Sequence[_Compaction]) -> list[ParsedBoundary]:
    position_of = {id(message): at for at, message in enumerate(session.messages)}
    system = {at for at, message in enumerate(session.messages[:1]) if message.role == "system"}
    found = []
    for item in compactions:
        position = position_of[id(item.summary)]
        kept = system | {position_of[id(message)] for message in item.kept if id(message) in position_of}
        cleared = tuple(item.cleared)
        found.append(
            ParsedBoundary(
                position, "compact", position, tuple(sorted(kept)), cleared, originals_in_file=item.is_in_file
            )
        )
    return found


def _copied_head(shown: list[ParsedMessage]) -> int:
    """How many rows before a summary repeat the start of the generation.

    A single equal row may be a person who says the same again; only the time of the original makes it a copy.
    """
    for count in range(min(_LONGEST_HEAD, len(shown) // 2), 0, -1):
        pairs = list(zip(shown[:count], shown[len(shown) - count :], strict=True))
        if all(_is_copy(*pair) for pair in pairs) and (count > 1 or pairs[0][0].timestamp == pairs[0][1].timestamp):
            return count
    return 0


def _copied_tail(earlier: list[ParsedMessage], after: list[ParsedMessage]) -> int:
    """How many rows behind a summary repeat the end of the generation before it."""
    for count in range(min(len(earlier), len(after)), 0, -1):
        start = len(earlier) - count
        if all(_is_copy(earlier[start + step], after[step]) for step in range(count)):
            return count
    return 0


def _is_copy(original: ParsedMessage, row: ParsedMessage) -> bool:
    if original.role != row.role or "compact_summary" in original.flags:
        return False
    ids = _call_ids(original)
    return ids == _call_ids(row) if ids else _text(original) == _text(row)


def _rewritten(copied: list[ParsedMessage], kept: list[ParsedMessage]) -> list[str]:
    """The results whose copy no longer says what the original said."""
    pairs = zip(kept, copied, strict=True)
    return [
        original.parts[0].call_id
        for original, row in pairs
        if original.role == "tool" and _text(original) != _text(row)
    ]


def _call_ids(message: ParsedMessage) -> tuple[str, ...]:
    return tuple(part.call_id for part in message.parts if part.call_id)


def _text(message: ParsedMessage) -> str:
    return "\x1e".join(part.text for part in message.parts)
