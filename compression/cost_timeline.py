"""The timeline counted in dollars: what a session has cost so far, call by call, for each way to run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compression.cost_bar import cache_said, with_bar
from compression.cost_comparison import Way
from compression.engine.edits import Event
from compression.event_words import did
from compression.figures import MAX_POINTS, figure_layout, kept_turns, places_of
from compression.forms import Along
from compression.replay_document import ReplayDocument
from compression.sampling import sampled
from compression.timeline_marks import MARKERS_SHOWN, SYMBOLS

LOOKS = {
    "none": ("ink", "7px,4px", 1.8),
    "recorded": ("muted", "2px,3px", 1.8),
    "sliding": ("bad", "solid", 1.8),
    "own": ("c-user", "solid", 2.6),
}
"""Key of a way -> colour, dash, width; the last is drawn above all others."""


def money_timeline(document: ReplayDocument, found: Sequence[Way], along: Along) -> dict[str, Any] | None:
    """Data and layout; None where no way has a price. ``turns`` and ``at`` as in the timeline of tokens.

    Only ways with a cache: without one the others would be one flat line.
    """
    priced = [way for way in found if way.with_cache and way.running is not None]
    if not priced:
        return None
    order = list(LOOKS)
    drawn = sorted(priced, key=lambda way: order.index(way.key))
    main = next((way for way in drawn if way.document is document), drawn[-1])
    dollars = [float(amount) for amount in main.running or ()]
    places = places_of(document, along)
    chosen = sampled(dollars, MAX_POINTS, kept_turns(document))
    x = [places[t] for t in chosen]
    top = max(float(way.running[-1]) for way in priced if way.running)
    data = [_line(way, chosen, x) for way in drawn]
    data[drawn.index(main)] |= {
        "customdata": [cache_said(document.cost, t) for t in chosen],
        "hovertemplate": f"{main.label} $%{{y:,.4f}}<br>%{{customdata}}<extra></extra>",
    }
    data += _marks(document, dollars, places)
    layout = figure_layout(along, x, top) | {"shapes": [], "annotations": []}
    layout["yaxis"] |= {"range": [0, top * 1.08 or 1]}
    figure = with_bar({"data": data, "layout": layout, "turns": chosen, "at": x}, document.cost, chosen, places)
    layout["yaxis"] |= {"ticktext": [f"${value:g}" for value in layout["yaxis"]["tickvals"]]}
    return figure


def _line(way: Way, chosen: Sequence[int], x: Sequence[float]) -> dict[str, Any]:
    colour, dash, width = LOOKS[way.key]
    amounts = way.running or []
    return {
        "type": "scatter", "mode": "lines", "name": way.label, "x": x,
        "y": [round(float(amounts[t]), 6) for t in chosen],
        "line": {"color": f"var:{colour}", "width": width, "dash": dash},
        "hovertemplate": f"{way.label} $%{{y:,.4f}}<extra></extra>",
    }  # fmt: skip


def _marks(document: ReplayDocument, dollars: Sequence[float], places: Sequence[float]) -> list[dict[str, Any]]:
    """Events on the line of the policy, where there are few: what each sent anew, and for how much."""
    events = [event for event in document.events if event.changes]
    if not events or len(events) > MARKERS_SHOWN:
        return []
    return [
        {
            "type": "scatter", "mode": "markers", "name": "event", "x": [places[e.turn] for e in events],
            "y": [dollars[e.turn] for e in events],
            "marker": {
                "symbol": [SYMBOLS.get(e.kind, "triangle-down") for e in events], "size": 9, "color": "var:warn",
            },
            "customdata": [_event_said(document, e) for e in events],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    ]  # fmt: skip


def _event_said(document: ReplayDocument, event: Event) -> str:
    said = f"{event.kind}: {did(event)}"
    ledger = document.cost
    if ledger.is_cold(event.turn):
        return f"{said}, on a cold cache"
    one = ledger.break_at.get(event.turn)
    amount = None if one is None else ledger.resent_usd(one)
    return said if amount is None else f"{said}, rewrite ${amount:,.4f}"
