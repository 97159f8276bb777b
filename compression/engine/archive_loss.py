"""What archives lost beside what they freed: retention and fidelity of the events that began a new window.

It measures one kind of event with the measures of all; it defines none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from compression.engine.edits import Event
from compression.engine.fidelity import fidelity
from compression.engine.occurrences import occurrences_of
from compression.engine.replay import Replay
from compression.engine.retention import Loss, tally

LISTED = 50


def archive_fields(replay: Replay, lost: Iterable[Loss]) -> dict[str, Any]:
    """For a summary: sums over all archives of a replay, and each of the first ``LISTED``. Tokens are calibrated."""
    by_turn = {loss.turn: loss for loss in lost}
    archives = [event for event in replay.events if event.kind == "archive"]
    rows = [_fields(replay, event, by_turn.get(event.turn)) for event in archives]
    claims = sum(row["claims"] for row in rows)
    needed = tally(need for event in archives if (loss := by_turn.get(event.turn)) for need in loss.needed).fields()
    return {
        "archives": len(rows),
        "archive_freed": sum(row["freed"] for row in rows),
        "archive_n": needed["n"],
        "archive_view": needed["view"],
        "archive_reach": needed["reach"],
        "archive_claims": claims,
        "archive_fidelity": _share(sum(row["true_claims"] for row in rows), claims),
        "archive_list": rows[:LISTED],
    }


def _fields(replay: Replay, event: Event, loss: Loss | None) -> dict[str, Any]:
    needed = tally(loss.needed if loss else ()).fields()
    held, claims = _claims(replay, event)
    return {
        "turn": event.turn,
        "freed": event.reclaimed,
        "left": len(event.left),
        "n": needed["n"],
        "view": needed["view"],
        "reach": needed["reach"],
        "claims": claims,
        "true_claims": held,
        "fidelity": _share(held, claims),
    }


def _claims(replay: Replay, event: Event) -> tuple[int, int]:
    """(names and numbers of the note that stand in the window as it was, all of them)."""
    if event.note is None or event.note.simulated:
        return 0, 0
    texts: Sequence[str] = occurrences_of(replay.course).texts
    window = replay.course.windows[event.turn]
    original = "\n".join(texts[i] for i in sorted({*event.left, *window.indexes()}))
    held, claims, _ = fidelity(original, event.note.text.partition("\n")[2], ())
    return held, claims


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
