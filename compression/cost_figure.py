"""The ways to run a session as bars: dollars by what they were paid for, tokens where no price is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compression.cost_comparison import Way
from sessions.templatetags.figures import THIN

PARTS = (
    ("read", "read from cache", "cache-read"),
    ("write", "written to cache", "cache-write"),
    ("uncached", "paid in full", "cache-uncached"),
    ("output", "answers", "c-user"),
)


def ways_figure(found: Sequence[Way]) -> dict[str, Any]:
    """Data and layout; the first way on top."""
    in_dollars = all(way.cost is not None for way in found)
    names = [_name(way) for way in found]
    shown = PARTS if in_dollars else PARTS[:3]
    data = [
        _bars(name, names, [_amount(way, part) for way in found], colour, in_dollars) for part, name, colour in shown
    ]
    grid = {"gridcolor": "var:line", "zeroline": False, "fixedrange": True, "color": "var:muted", "automargin": True}
    return {
        "data": data,
        "layout": {
            "margin": {"l": 8, "r": 14, "t": 8, "b": 28}, "barmode": "stack", "bargap": 0.35,
            "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "separators": f".{THIN}",
            "font": {"color": "var:muted", "size": 11.5}, "showlegend": False, "hovermode": "closest",
            "hoverlabel": {"bgcolor": "var:card", "bordercolor": "var:line", "font": {"color": "var:ink", "size": 12}},
            "xaxis": {**grid, "tickprefix": "$" if in_dollars else "", "tickformat": "~r" if in_dollars else "~s"},
            "yaxis": {**grid, "autorange": "reversed", "showgrid": False, "color": "var:ink"},
        },
    }  # fmt: skip


def _name(way: Way) -> str:
    return f"{way.label}, {'cache' if way.with_cache else 'no cache'}"


def _amount(way: Way, part: str) -> float:
    """Dollars of one part of a way; its tokens where nothing has a price."""
    return round(float(getattr(way.cost or way, part)), 6)


def _bars(name: str, names: list[str], amounts: list[float], colour: str, in_dollars: bool) -> dict[str, Any]:
    figure = "$%{x:,.4f}" if in_dollars else "%{x:,.0f} tokens"
    return {
        "type": "bar", "orientation": "h", "name": name, "y": names, "x": amounts,
        "marker": {"color": f"var:{colour}"},
        "hovertemplate": f"%{{y}}<br>{name} {figure}<extra></extra>",
    }  # fmt: skip
