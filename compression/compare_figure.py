"""Both timelines of a comparison in one figure of plotly: plain dictionaries, colours by their names in the palette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compression.event_words import did
from compression.replay_document import ReplayDocument
from compression.sampling import sampled
from compression.timeline_marks import SYMBOLS

MAX_POINTS = 2_000
MARKS_SHOWN = 200
COLOURS = {"A": ("c-user", "solid", "triangle-down"), "B": ("c-tool_result", "6px,3px", "triangle-up")}


def comparison(a: ReplayDocument, b: ReplayDocument, labels: tuple[str, str]) -> dict[str, Any]:
    """Data and layout; ``turns`` maps each point to its turn, ``at`` a point to the axis."""
    before = a.table.before
    events = [event.turn for document in (a, b) for event in document.events if event.changes]
    marked = sorted(set(events))[:MAX_POINTS]
    chosen = sampled(before, MAX_POINTS, marked if len(marked) < MAX_POINTS // 2 else ())
    top = max([a.context_window, b.context_window, *before, *a.table.after, *b.table.after])
    data = [_line("without compression", chosen, [before[t] for t in chosen], "ink/0.45", "2px,3px", 1.3)]
    for (side, (colour, dash, symbol)), document, label in zip(COLOURS.items(), (a, b), labels, strict=True):
        name = f"{side}: {label}"
        data.append(_line(name, chosen, [document.table.after[t] for t in chosen], colour, dash, 2.2))
        if marks := _marks(name, document, colour, symbol):
            data.append(marks)
    return {"data": data, "layout": _layout(a, b, chosen, top), "turns": chosen, "at": chosen}


def _line(name: str, x: Sequence[int], y: Sequence[int], colour: str, dash: str, width: float) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y,
        "line": {"color": f"var:{colour}", "width": width, "dash": dash},
        "hovertemplate": "%{y:,.0f}<extra>%{fullData.name}</extra>",
    }  # fmt: skip


def _marks(name: str, document: ReplayDocument, colour: str, symbol: str) -> dict[str, Any] | None:
    events = [event for event in document.events if event.changes][:MARKS_SHOWN]
    if not events:
        return None
    return {
        "type": "scatter", "mode": "markers", "name": name, "x": [event.turn for event in events],
        "y": [event.before for event in events], "marker": {
            "symbol": [SYMBOLS.get(event.kind, symbol) for event in events], "size": 9, "color": f"var:{colour}",
        },
        "customdata": [[event.kind, did(event), event.reclaimed] for event in events],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]}, −%{customdata[2]:,}<extra>%{fullData.name}</extra>",
    }  # fmt: skip


def _layout(a: ReplayDocument, b: ReplayDocument, x: Sequence[int], top: int) -> dict[str, Any]:
    limits = sorted({a.context_window, b.context_window})
    grid = {"gridcolor": "var:line", "zeroline": False, "fixedrange": True, "color": "var:muted"}
    return {
        "margin": {"l": 52, "r": 14, "t": 14, "b": 34},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var:muted", "size": 11.5}, "showlegend": False, "hovermode": "x unified",
        "hoverlabel": {"bgcolor": "var:card", "bordercolor": "var:line", "font": {"color": "var:ink", "size": 12}},
        "xaxis": {**grid, "title": {"text": "turn", "standoff": 6}, "range": [0, max(x[-1] if x else 1, 1)]},
        "yaxis": {**grid, "range": [0, top * 1.08], "tickformat": "~s"},
        "shapes": [
            {
                "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": limit, "y1": limit,
                "line": {"color": "var:bad", "width": 1.2},
            }
            for limit in limits
        ],
        "annotations": [
            {
                "xref": "paper", "x": 0.004, "y": limit, "yanchor": "bottom", "xanchor": "left",
                "text": f"window {limit // 1000:,}K", "showarrow": False, "font": {"color": "var:bad", "size": 11},
            }
            for limit in limits
        ],
    }  # fmt: skip
