"""The pictures of a comparison as figures of plotly: windows over turns, and dollars so far.

Plain dictionaries, colours by their names in the palette.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compression.cost_ledger import running
from compression.event_words import did
from compression.replay_document import ReplayDocument
from compression.sampling import sampled
from compression.timeline_marks import SYMBOLS

MAX_POINTS = 2_000
MARKS_SHOWN = 200
# One for each policy, told apart by dash and shape as well as by hue; runs.css has the same for legends.
LOOKS = (
    ("c-user", "solid", "triangle-down"),
    ("c-tool_result", "6px,3px", "triangle-up"),
    ("c-text", "2px,2px", "triangle-left"),
    ("c-thinking", "9px,3px,2px,3px", "triangle-right"),
    ("c-tool_call", "12px,4px", "pentagon"),
    ("c-media", "4px,2px,1px,2px", "cross"),
)


def comparison(documents: Sequence[ReplayDocument], names: Sequence[str]) -> dict[str, Any]:
    """Windows over turns. ``turns`` maps each point to its turn, ``at`` a point to the axis."""
    before = documents[0].table.before
    chosen = _points(documents, before)
    limits = sorted({document.context_window for document in documents})
    top = max([*limits, *before, *(tokens for document in documents for tokens in document.table.after)])
    data = [_line("without compression", chosen, [before[t] for t in chosen], ("ink/0.45", "2px,3px"), 1.3, TOKENS)]
    for (colour, dash, symbol), document, name in zip(LOOKS, documents, names, strict=False):
        data.append(_line(name, chosen, [document.table.after[t] for t in chosen], (colour, dash), 2.2, TOKENS))
        if marks := _marks(name, document, colour, symbol):
            data.append(marks)
    layout = _layout(chosen, top) | _limits(limits)
    return {"data": data, "layout": layout, "turns": chosen, "at": chosen}


def cumulative(documents: Sequence[ReplayDocument], names: Sequence[str]) -> dict[str, Any]:
    """Dollars so far, call by call, under each policy. A replay with a call that has no price draws no line."""
    chosen = _points(documents, documents[0].table.before)
    data, top = [], 0.0
    for (colour, dash, _), document, name in zip(LOOKS, documents, names, strict=False):
        costs = document.cost.costs
        if costs is None:
            continue
        so_far = [round(float(amount), 6) for amount in running(costs)]
        top = max(top, so_far[-1])
        data.append(_line(name, chosen, [so_far[t] for t in chosen], (colour, dash), 2.2, DOLLARS))
    layout = _layout(chosen, top or 1)
    layout["yaxis"] |= {"tickformat": ",.3~g", "tickprefix": "$"}
    return {"data": data, "layout": layout, "turns": chosen, "at": chosen}


TOKENS = "%{y:,.0f}<extra>%{fullData.name}</extra>"
DOLLARS = "$%{y:,.4f}<extra>%{fullData.name}</extra>"


def _points(documents: Sequence[ReplayDocument], before: Sequence[int]) -> list[int]:
    events = {event.turn for document in documents for event in document.events if event.changes}
    marked = sorted(events)[:MAX_POINTS]
    return sampled(before, MAX_POINTS, marked if len(marked) < MAX_POINTS // 2 else ())


def _line(
    name: str, x: Sequence[int], y: Sequence[float], look: tuple[str, str], width: float, template: str
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y,
        "line": {"color": f"var:{look[0]}", "width": width, "dash": look[1]},
        "hovertemplate": template,
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


def _layout(x: Sequence[int], top: float) -> dict[str, Any]:
    grid = {"gridcolor": "var:line", "zeroline": False, "fixedrange": True, "color": "var:muted"}
    return {
        "margin": {"l": 52, "r": 14, "t": 14, "b": 34},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var:muted", "size": 11.5}, "showlegend": False, "hovermode": "x unified",
        "hoverlabel": {"bgcolor": "var:card", "bordercolor": "var:line", "font": {"color": "var:ink", "size": 12}},
        "xaxis": {**grid, "title": {"text": "turn", "standoff": 6}, "range": [0, max(x[-1] if x else 1, 1)]},
        "yaxis": {**grid, "range": [0, top * 1.08], "tickformat": "~s"},
        "shapes": [],
    }  # fmt: skip


def _limits(limits: Sequence[int]) -> dict[str, Any]:
    return {
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
