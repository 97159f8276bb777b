"""The table of a replay: one row a turn, kept as columns.

One forward pass over the turns; every figure is a sum that moves with the window. Calibrated figures
are rounded so that sources and zones each add up to the window exactly. Nothing is decided here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from compression.engine.columns import columns_of, shares
from compression.engine.history import SOURCES, Request
from compression.engine.replay import Replay
from compression.engine.standing import Standing

ZONES = ("head", "compressible", "pinned", "recent")


@dataclass(slots=True)
class TurnTable:
    """Columns by turn. Tokens are calibrated but for ``counted`` and ``counted_after``; ``hidden`` lies in the head.

    ``sources`` / ``sources_after`` (without hidden) and ``zones`` (hidden in the head) add up to ``before``,
    ``after`` and ``after``; a note counts as memory and as compressible. ``head_at`` / ``recent_at`` are ordinals of
    the request; ``requests``, ``base_requests`` (had no policy acted) and ``pinned`` hold a row (turn, ...) where the
    value changes; ``overruns`` one for each turn that has one.
    """

    hidden: int = 0
    request_end: list[int] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    counted_after: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    sources: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in SOURCES})
    sources_after: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in SOURCES})
    zones: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in ZONES})
    head_at: list[int] = field(default_factory=list)
    recent_at: list[int] = field(default_factory=list)
    recent_budget: list[int] = field(default_factory=list)
    recent_actual: list[int] = field(default_factory=list)
    requests: list[tuple[int, tuple[int, ...], int]] = field(default_factory=list)
    base_requests: list[tuple[int, tuple[int, ...], int]] = field(default_factory=list)
    pinned: list[tuple[int, dict[int, str]]] = field(default_factory=list)
    overruns: list[tuple[int, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, for storing."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TurnTable:
        """What ``as_dict`` gave, also after a journey through JSON."""
        runs = [(turn, {int(i): reason for i, reason in pins.items()}) for turn, pins in data["pinned"]]
        requests, base_requests = (
            [(turn, tuple(kept), start) for turn, kept, start in data[name]] for name in ("requests", "base_requests")
        )
        overruns = [(turn, reason) for turn, reason in data["overruns"]]
        return cls(
            **{**data, "pinned": runs, "requests": requests, "base_requests": base_requests, "overruns": overruns}
        )

    def __len__(self) -> int:
        return len(self.request_end)


def tabulate(replay: Replay) -> TurnTable:
    """Every turn of a replay. O(turns + changes); what no policy touched is taken from the course."""
    course, calibration, after = replay.course, replay.calibration, replay.windows_after
    k, hidden = calibration.k, calibration.hidden
    base, own = columns_of(replay.base, calibration), columns_of(course, calibration)
    table = TurnTable(
        hidden=hidden,
        request_end=[request.end for request in course.windows],
        counted=list(base.counted),
        counted_after=list(own.counted),
        before=list(replay.windows_before),
        after=list(after),
        sources={name: list(column) for name, column in base.sources.items()},
        sources_after={name: list(column) for name, column in own.sources.items()},
        recent_budget=list(replay.budgets),
    )
    after_columns = list(table.sources_after.values())
    rows: list[list[int]] = []
    cutter = replay.cutter()
    standing = cutter.standing
    heads = _Heads(standing)
    events, at = replay.events, 0
    for t, base_request in enumerate(replay.base.windows):
        while at < len(events) and events[at].turn <= t:
            cutter.tell(events[at])
            heads.forget()
            at += 1
        if not standing.is_untouched:
            row = standing.row(t)
            table.counted_after[t] = sum(row)
            for column, value in zip(after_columns, shares(row, k, after[t] - hidden), strict=True):
                column[t] = value
        zones = cutter.at(t)
        request = zones.request
        head = heads.tokens(request, zones.head)
        pinned = sum(map(standing.sizes.__getitem__, zones.pinned))
        recent = zones.recent_tokens_actual
        between = table.counted_after[t] - head - recent
        rows.append(shares((head, between - pinned, pinned, recent), k, after[t] - hidden))
        table.recent_budget[t] = zones.recent_budget
        table.head_at.append(zones.head)
        table.recent_at.append(zones.recent)
        table.recent_actual.append(recent)
        _note_change(table.requests, t, request)
        _note_change(table.base_requests, t, base_request)
        if not table.pinned or table.pinned[-1][1] != zones.pinned:
            table.pinned.append((t, zones.pinned))
        if zones.overrun_reason:
            table.overruns.append((t, zones.overrun_reason))
    for name, zone in zip(ZONES, zip(*rows, strict=True), strict=bool(rows)):
        table.zones[name] = [tokens + (hidden if name == "head" else 0) for tokens in zone]
    return table


def _note_change(rows: list[tuple[int, tuple[int, ...], int]], turn: int, request: Request) -> None:
    if not rows or rows[-1][1:] != (request.kept, request.start):
        rows.append((turn, request.kept, request.start))


class _Heads:
    """Tokens of the head as it stands, summed once while it stays the same."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._known: tuple[object, int] = (None, 0)

    def forget(self) -> None:
        self._known = (None, 0)

    def tokens(self, request: Request, length: int) -> int:
        """Uncalibrated tokens of the first ``length`` messages of a request."""
        key = (request.kept, request.start, length)
        if self._known[0] != key:
            self._known = (key, sum(self._standing.sizes[i] for i in request.indexes(0, length)))
        return self._known[1]
