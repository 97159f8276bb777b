"""The names that left the view under a replay, as they are stored with it: plain rows, bounded in number and length.

Which names count, and what is reach, is the engine's business (``engine.retention``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from compression.engine.replay import Replay
from compression.engine.retention import Loss

MOST = 2_000
NAME_CHARS = 300


@dataclass(frozen=True, slots=True)
class LostName:
    """A name that was used after the event at turn ``left_at`` and had left the view there.

    ``message``: the tool result where it first stood; ``use``: the first message that used it afterwards, a response
    of turn ``used_at``. ``address`` in the stub that stands for that result, empty when none does.
    """

    name: str
    kind: str
    message: int
    left_at: int
    use: int
    used_at: int
    is_reachable: bool
    address: str

    @property
    def is_cut(self) -> bool:
        """Whether the name was too long to be stored whole."""
        return len(self.name) >= NAME_CHARS


def lost_names(replay: Replay, found: Iterable[Loss]) -> tuple[tuple[LostName, ...], int]:
    """The first ``MOST`` names that left the view, in the order of events, and how many there are."""
    changes = zip((event for event in replay.events if event.changes), found, strict=True)
    lost = [(event, need) for event, loss in changes for need in loss.needed if not need.in_view]
    ends = [turn.request_end for turn in replay.transcript.turns]
    rows = tuple(
        LostName(
            name=need.name[:NAME_CHARS],
            kind=need.kind,
            message=need.holder,
            left_at=event.turn,
            use=need.use,
            used_at=bisect_right(ends, need.use) - 1,
            is_reachable=need.in_reach,
            address=next((e.address for e in event.edits if e.message == need.holder and e.address), ""),
        )
        for event, need in lost[:MOST]
    )
    return rows, len(lost)
