"""What archives lost beside what they freed: retention and fidelity of the events that began a new window.

It measures one kind of event with the measures of all; it defines none of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from compression.engine.edits import Event
from compression.engine.fidelity import fidelity
from compression.engine.history import Request
from compression.engine.rendering import rendered
from compression.engine.replay import Replay
from compression.engine.retention import Loss, tally
from compression.engine.state_header import state_header

LISTED = 20
"""Archives that are listed, and whose claims are checked: each reads all of the session before it."""

_ADDRESSED = re.compile(r"(?m)^\[.* original hermes:[0-9a-f]+\]$")


def archive_fields(replay: Replay, lost: Sequence[Loss]) -> dict[str, Any]:
    """For a summary: sums over all archives of a replay, and the first ``LISTED`` one by one. Tokens are calibrated.

    ``lost`` = the losses of the replay, one for each event that changed something; none where nobody asks for them.
    """
    changes = zip((event for event in replay.events if event.changes), lost, strict=bool(lost))
    archives = [(event, loss) for event, loss in changes if event.kind == "archive"]
    rows = [_fields(replay, event, loss) for event, loss in archives[:LISTED]]
    claims = sum(row["claims"] for row in rows)
    needed = tally(need for _, loss in archives for need in loss.needed).fields()
    return {
        "archives": len(archives),
        "archive_freed": sum(event.reclaimed for event, _ in archives),
        "archive_n": needed["n"],
        "archive_view": needed["view"],
        "archive_reach": needed["reach"],
        "archive_claims": claims,
        "archive_fidelity": _share(sum(row["true_claims"] for row in rows), claims),
        "archive_list": rows,
    }


def _fields(replay: Replay, event: Event, loss: Loss) -> dict[str, Any]:
    needed = tally(loss.needed).fields()
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
    """(names and numbers of the note that stand in the session so far or were counted in it, all of them). Lines
    that lead to an original hold figures of our own."""
    if event.note is None or event.note.simulated:
        return 0, 0
    course, window = replay.course, replay.course.windows[event.turn]
    so_far = Request((), 0, window.end) if course.history == "uncompacted" else window
    messages = course.transcript.messages
    original = rendered(messages[i] for i in so_far.indexes() if i not in course.excluded)
    counts = state_header(course, so_far, so_far.end).counts
    held, claims, _ = fidelity(original, _ADDRESSED.sub("", event.note.text), counts)
    return held, claims


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
