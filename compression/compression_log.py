"""The compression log of one session under one policy: what each event did, and what all of them did.

The statistics that the book chapter keeps by hand, read off a stored replay. Runs no engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from compression.engine.edits import Event
from compression.event_words import STEPS, did
from compression.replay_document import ReplayDocument


@dataclass(frozen=True, slots=True)
class LogRow:
    """One event, ``did`` in words; ``address`` leads to what left.

    ``before`` and ``after`` = tokens of the whole window; ``ratio`` = after / before."""

    turn: int
    time: datetime | None
    kind: str
    before: int
    after: int
    blocks: int
    left: int
    reason: str
    did: str
    is_step: bool
    address: str

    @property
    def reclaimed(self) -> int:
        return self.before - self.after

    @property
    def ratio(self) -> float | None:
        return self.after / self.before if self.before else None


@dataclass(frozen=True, slots=True)
class CompressionLog:
    """The events that changed something; ``skipped`` counts those that would have freed too little."""

    rows: Sequence[LogRow]
    before: int
    after: int
    blocks: int
    left: int
    skipped: int

    @property
    def reclaimed(self) -> int:
        return self.before - self.after

    @property
    def ratio(self) -> float | None:
        """Of the sums, not of the ratios."""
        return self.after / self.before if self.before else None


COLUMNS = (
    "turn",
    "time",
    "kind",
    "before",
    "after",
    "reclaimed",
    "ratio",
    "blocks",
    "left_the_window",
    "reason",
    "did",
    "snapshot",
)


def compression_log(document: ReplayDocument) -> CompressionLog:
    """All events of a replay, in their order."""
    changes = [event for event in document.events if event.changes or event.kind in STEPS]
    rows = [_row(document, event) for event in changes]
    return CompressionLog(
        rows=rows,
        before=sum(row.before for row in rows),
        after=sum(row.after for row in rows),
        blocks=sum(row.blocks for row in rows),
        left=sum(row.left for row in rows),
        skipped=sum(1 + event.repeats for event in document.events if event.kind == "skip"),
    )


def _row(document: ReplayDocument, event: Event) -> LogRow:
    seconds = document.times[event.turn] if event.turn < len(document.times) else None
    return LogRow(
        turn=event.turn,
        time=_moment(seconds),
        kind=event.kind,
        before=event.before,
        after=event.after,
        blocks=len(event.edits),
        left=len(event.left),
        reason=event.reason,
        did=did(event),
        is_step=event.kind in STEPS,
        address=event.note.address if event.note else "",
    )


def _moment(seconds: float | None) -> datetime | None:
    """Times come out of logs: what is no time of ours is left out."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def csv_rows(log: CompressionLog) -> list[Sequence[object]]:
    """Heading, events, totals."""
    lines: list[Sequence[object]] = [COLUMNS]
    for row in log.rows:
        time = row.time.isoformat() if row.time else None
        lines.append(
            (
                row.turn,
                time,
                row.kind,
                row.before,
                row.after,
                row.reclaimed,
                row.ratio,
                row.blocks,
                row.left,
                row.reason,
                row.did,
                row.address or None,
            )
        )
    totals = (
        "total",
        None,
        None,
        log.before,
        log.after,
        log.reclaimed,
        log.ratio,
        log.blocks,
        log.left,
        None,
        None,
        None,
    )
    return [*lines, totals]
