"""The bar under the timeline: which share of each call was read from the cache, written to it, or paid in full.

Four shapes whatever the session's length, at the foot of the figure's one panel; what they say stands in the hover of
the figure's line, call by call, and in its table twin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import floor, log10
from typing import Any

from compression.cost_ledger import Break, StoredLedger
from compression.cost_words import first_change, why
from sessions.templatetags.figures import grouped

FOOT = 0.17
"""Where the figure's zero stands, as a share of its height: below lie the bar and the marks of its breaks."""

LOW, HIGH, MARK = 0.045, 0.115, 0.032


def with_bar(
    figure: dict[str, Any], ledger: StoredLedger, chosen: Sequence[int], places: Sequence[float]
) -> dict[str, Any]:
    """The figure, from zero to the end of its range, with the bar below; ``foot`` says where its zero stands."""
    layout = figure["layout"]
    top = layout["yaxis"]["range"][1]
    layout["yaxis"] |= {"range": [-top * FOOT / (1 - FOOT), top], "tickvals": ticks(top)}
    first, last = layout["xaxis"]["range"]
    layout["shapes"] += _bar(ledger, chosen, [places[t] for t in chosen], first, last)
    if ledger.breaks:
        layout["shapes"].append(_marks(ledger.breaks, places, first, last))
    return figure | {"foot": FOOT}


def ticks(top: float) -> list[float]:
    """Round figures from 0 to at most ``top``: four to eight of them."""
    if top <= 0:
        return [0]
    scale = 10.0 ** floor(log10(top / 4))
    step = next(scale * factor for factor in (1, 2, 5, 10) if top / (scale * factor) < 6)
    return [round(step * i, 10) for i in range(floor(top / step) + 1)]


def _bar(
    ledger: StoredLedger, chosen: Sequence[int], x: Sequence[float], first: float, last: float
) -> list[dict[str, Any]]:
    """Read fills it; what was written and paid in full hangs from its upper edge."""
    edges = [first, *((a + b) / 2 for a, b in pairwise(x)), last]
    spans = list(pairwise(edges))
    shares = [_shares(ledger, t) for t in chosen]
    written = (
        (a, b, HIGH - (write + full) * (HIGH - LOW), HIGH - full * (HIGH - LOW))
        for (a, b), (write, full) in zip(spans, shares, strict=True)
    )
    in_full = ((a, b, HIGH - full * (HIGH - LOW), HIGH) for (a, b), (_, full) in zip(spans, shares, strict=True))
    paths = (
        ("cache read", "cache-read", _boxes([(first, last, LOW, HIGH)])),
        ("cache written", "cache-write", _boxes(written)),
        ("paid in full", "cache-uncached", _boxes(in_full)),
    )
    return [_shape(name, colour, path) for name, colour, path in paths if path]


def _shares(ledger: StoredLedger, turn: int) -> tuple[float, float]:
    """Of one request: written, paid in full."""
    size = ledger.read[turn] + ledger.write[turn] + ledger.uncached[turn]
    return (ledger.write[turn] / size, ledger.uncached[turn] / size) if size else (0.0, 0.0)


def _boxes(boxes: Iterable[tuple[float, float, float, float]]) -> str:
    """One path of boxes (left, right, low, high); what nobody could see is left out."""
    return "".join(
        f"M{left:.8g},{low:.4f}H{right:.8g}V{high:.4f}H{left:.8g}Z"
        for left, right, low, high in boxes
        if high - low >= 0.0005
    )


def _marks(breaks: Sequence[Break], places: Sequence[float], first: float, last: float) -> dict[str, Any]:
    """A triangle under the bar for each break, all of them one path."""
    half = (last - first) / 260
    path = "".join(
        f"M{x - half:.8g},{LOW - MARK:.4f}H{x + half:.8g}L{x:.8g},{LOW:.4f}Z" for x in (places[b.turn] for b in breaks)
    )
    return _shape("cache broken", "cache-bust", path)


def _shape(name: str, colour: str, path: str) -> dict[str, Any]:
    return {
        "type": "path", "name": name, "xref": "x", "yref": "paper", "path": path,
        "fillcolor": f"var:{colour}", "line": {"width": 0},
    }  # fmt: skip


def cache_said(ledger: StoredLedger, turn: int) -> str:
    """What the cache did for one call, and why its prefix was broken, as two lines of a hover."""
    read, write, full = ledger.read[turn], ledger.write[turn], ledger.uncached[turn]
    said = f"cache: {grouped(read)} read, {grouped(write)} written, {grouped(full)} in full"
    one = ledger.break_at.get(turn)
    return said if one is None else f"{said}<br><b>{break_said(ledger, one)}</b>"


def break_said(ledger: StoredLedger, one: Break) -> str:
    """A break in one line: what was sent anew, why, from which message on."""
    parts = [f"▲ {grouped(one.tokens)} sent anew: {why(one.cause)}", first_change(one)]
    idle = ledger.idle[one.turn]
    if one.cause == "expiry" and idle is not None:
        parts.append(f"idle for {idle / 60:.0f} min")
    return ", ".join(part for part in parts if part)
