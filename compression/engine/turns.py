"""The table of a replay: one row a turn, kept as columns.

One forward pass over the turns; every figure is a sum that moves with the window. Calibrated figures
are rounded so that sources and zones each add up to the window exactly. Nothing is decided here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from compression.engine.history import SOURCES, Request, source_of, source_prefixes
from compression.engine.replay import Replay
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.zones import zones_at

ZONES = ("head", "compressible", "pinned", "recent")


@dataclass(slots=True)
class TurnTable:
    """Columns by turn. Tokens are calibrated but for ``counted`` and ``counted_after``; ``hidden`` lies in the head.

    ``sources`` / ``sources_after`` (without hidden) and ``zones`` (hidden in the head) add up to ``before``,
    ``after`` and ``after``. ``head_at`` / ``recent_at`` are ordinals of the request; ``requests`` and ``pinned``
    hold a row (turn, ...) wherever the value changes; ``overruns`` one for each turn that has one.
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
    pinned: list[tuple[int, dict[int, str]]] = field(default_factory=list)
    overruns: list[tuple[int, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, for storing."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TurnTable:
        """What ``as_dict`` gave, also after a journey through JSON."""
        runs = [(turn, {int(i): reason for i, reason in pins.items()}) for turn, pins in data["pinned"]]
        requests = [(turn, tuple(kept), start) for turn, kept, start in data["requests"]]
        overruns = [(turn, reason) for turn, reason in data["overruns"]]
        return cls(**{**data, "pinned": runs, "requests": requests, "overruns": overruns})

    def __len__(self) -> int:
        return len(self.request_end)


def _shares(counts: list[int], k: float, total: int) -> list[int]:
    """Calibrated integers for ``counts`` that add up to ``total``: cumulative rounding, the rest off the largest."""
    shares, running, done = [], 0, 0
    for count in counts:
        running += count
        here = round(k * running)
        shares.append(here - done)
        done = here
    surplus = done - total
    for at in sorted(range(len(shares)), key=lambda i: -shares[i]):
        if surplus <= 0:
            break
        taken = min(surplus, shares[at])
        shares[at] -= taken
        surplus -= taken
    return shares


def tabulate(replay: Replay) -> TurnTable:
    """Every turn of a replay. O(turns x messages of the recent zone)."""
    course, base, calibration = replay.course, replay.base, replay.calibration
    transcript = replay.transcript
    table = TurnTable(hidden=calibration.hidden)
    prefixes, base_prefixes = (
        source_prefixes(transcript, course.excluded),
        source_prefixes(transcript, base.excluded),
    )
    number = {name: i for i, name in enumerate(SOURCES)}
    sizes = list(course.sizes)
    in_force: dict[tuple[int, int], int] = {}
    events = list(replay.events)
    at = 0
    for turn in transcript.turns:
        t = turn.index
        while at < len(events) and events[at].turn <= t:
            for edit in events[at].edits:
                sizes[edit.message] += edit.tokens_after - edit.tokens_before
                in_force[edit.message, edit.part] = edit.tokens_after - edit.tokens_before
            at += 1
        request = course.windows[t]
        changes = [0] * len(SOURCES)
        held = {*request.kept}
        for (i, j), change in in_force.items():
            if i >= request.start or i in held:
                changes[number[source_of(transcript.messages[i], j)]] += change
        raw = _source_counts(replay, base_prefixes, base.windows[t], base.excluded)
        mine = _source_counts(replay, prefixes, request, course.excluded)
        mine = [count + change for count, change in zip(mine, changes, strict=True)]
        before, after = replay.windows_before[t], replay.windows_after[t]
        zones = zones_at(course, request, replay.pins, sizes, replay.budgets[t])
        head = sum(sizes[i] for i in request.indexes(0, zones.head))
        pinned = sum(sizes[i] for i in zones.pinned)
        compressible = sum(mine) - head - pinned - zones.recent_tokens_actual

        table.request_end.append(request.end)
        table.counted.append(sum(raw))
        table.counted_after.append(sum(mine))
        table.before.append(before)
        table.after.append(after)
        k, hidden = calibration.k, calibration.hidden
        for name, value in zip(SOURCES, _shares(raw, k, before - hidden), strict=True):
            table.sources[name].append(value)
        for name, value in zip(SOURCES, _shares(mine, k, after - hidden), strict=True):
            table.sources_after[name].append(value)
        parts = [head, compressible, pinned, zones.recent_tokens_actual]
        for name, value in zip(ZONES, _shares(parts, k, after - hidden), strict=True):
            table.zones[name].append(value + (hidden if name == "head" else 0))
        table.head_at.append(zones.head)
        table.recent_at.append(zones.recent)
        table.recent_budget.append(zones.recent_budget)
        table.recent_actual.append(zones.recent_tokens_actual)
        if not table.requests or table.requests[-1][1:] != (request.kept, request.start):
            table.requests.append((t, request.kept, request.start))
        if not table.pinned or table.pinned[-1][1] != zones.pinned:
            table.pinned.append((t, zones.pinned))
        if zones.overrun_reason:
            table.overruns.append((t, zones.overrun_reason))
    return table


def _source_counts(
    replay: Replay, prefixes: tuple[tuple[int, ...], ...], request: Request, excluded: frozenset[int]
) -> list[int]:
    counts = [column[request.end] - column[request.start] for column in prefixes]
    number = {name: i for i, name in enumerate(SOURCES)}
    for i in request.kept:
        if i in excluded:
            continue
        message = replay.transcript.messages[i]
        for j, tokens in enumerate(replay.transcript.counts[i]):
            counts[number[source_of(message, j)]] += tokens + (MESSAGE_OVERHEAD if j == 0 else 0)
    return counts
