"""The timeline as a plotly figure: plain dictionaries, colours by their names in the style sheet.

``var:NAME`` and ``var:NAME/OPACITY`` are resolved by the page's script, so that one figure serves light and
dark. No query, no plotly import: the browser draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from compression.cost_bar import cache_said, with_bar
from compression.engine.history import SOURCES
from compression.engine.policy import Policy
from compression.event_words import by_turn
from compression.forms import Along
from compression.own_compactions import OwnCompaction
from compression.replay_document import ReplayDocument
from compression.sampling import sampled
from compression.timeline_marks import event_labels, event_marks, event_strokes, limit_lines, limit_names, own_marks
from sessions.templatetags.figures import THIN, grouped, visible

MAX_POINTS = 2_000
FLAT = 0.25
"""A session below this share of the window is drawn at its own height, or it would be a flat line."""

FEW_TURNS = 12
SOURCE_NAMES = {
    "hidden": "System + tools (not in log)",
    "system": "System",
    "memory": "Memory and skills",
    "user": "User",
    "thinking": "Thinking",
    "text": "Response",
    "tool_call": "Tool calls",
    "tool_result": "Tool results",
    "media": "Media",
}


def sources_present(document: ReplayDocument) -> list[str]:
    """The sources that occur in the session, in the order of every stack; ``hidden`` first."""
    hidden = ["hidden"] if document.table.hidden else []
    return hidden + [name for name in SOURCES if any(document.table.sources[name])]


def timeline(
    document: ReplayDocument, policy: Policy, axis: Along, own: Sequence[OwnCompaction] = ()
) -> dict[str, Any]:
    """Data and layout. ``turns`` maps each point to its turn; ``at`` maps a turn of the scrubber to the axis."""
    table = document.table
    limit = document.context_window
    chosen = sampled(table.before, MAX_POINTS, kept_turns(document))
    places = places_of(document, axis)
    x = [places[t] for t in chosen]
    after = [table.after[t] for t in chosen]
    recorded = [document.recorded[t] for t in chosen]
    peak = max([*table.before, *table.after], default=0)
    top = max(limit, peak) if peak > FLAT * limit else max(1, peak)
    data = [_area(name, x, _column(document, name, chosen)) for name in sources_present(document)]
    data.append(_line("without compression", x, [table.before[t] for t in chosen], "muted", dash="2px,3px", width=1.3))
    data.append(_line("under policy", x, after, "ink", width=2))
    data[-1]["customdata"] = _said(document, chosen, axis)
    data[-1]["hovertemplate"] = "under policy %{y:,.0f}<br>%{customdata}<extra></extra>"
    if any(value is not None for value in recorded):
        data.append(_line("recorded", x, recorded, "ink", dash="2px,4px", width=3))
    data += event_marks(document, places)
    data += own_marks(own, places, top)
    layout = figure_layout(axis, x, top) | {
        "shapes": [*limit_lines(document, policy, top), *event_strokes(document, places)],
        "annotations": [*limit_names(document, policy, top), *event_labels(document, places, top)],
    }
    return with_bar({"data": data, "layout": layout, "turns": chosen, "at": x}, document.cost, chosen, places)


def kept_turns(document: ReplayDocument) -> list[int]:
    """Turns that no thinning of points may drop: of events and of breaks of the cache, where they are not most."""
    marked = {event.turn for event in document.events if event.changes} | document.cost.break_at.keys()
    return sorted(marked) if len(marked) < MAX_POINTS // 2 else []


def places_of(document: ReplayDocument, axis: Along) -> Sequence[float]:
    """Where each turn stands on an axis; by turns where the session gives nothing else."""
    if axis == "minutes" and document.minutes:
        return document.minutes
    if axis == "exchanges" and document.exchange_places:
        return document.exchange_places
    return range(document.turns)


def _said(document: ReplayDocument, chosen: Sequence[int], axis: Along) -> list[str]:
    """What the hover says of each turn: what the model did, what an event of the policy freed, what the cache did."""
    freed = by_turn(event for event in document.events if event.changes or event.reclaimed)
    found = []
    for turn in chosen:
        # Plotly reads <b>, <a href> and the like in a hover; a tool's name comes out of a log.
        label = escape(visible(document.labels[turn]), quote=False)
        said = label if axis == "turns" else f"turn {turn} · {label}"
        events = freed.get(turn)
        if events:
            kinds = ", ".join(dict.fromkeys(event.kind for event in events))
            said = f"{said}<br>{kinds}: −{grouped(sum(event.reclaimed for event in events))}"
        found.append(f"{said}<br>{cache_said(document.cost, turn)}")
    return found


def _column(document: ReplayDocument, name: str, chosen: Sequence[int]) -> list[int]:
    if name == "hidden":
        return [document.table.hidden] * len(chosen)
    column = document.table.sources[name]
    return [column[t] for t in chosen]


def _area(name: str, x: Sequence[float], y: Sequence[int]) -> dict[str, Any]:
    colour = "c-system" if name == "hidden" else f"c-{name}"
    return {
        "type": "scatter", "mode": "lines", "stackgroup": "window", "name": SOURCE_NAMES[name], "x": x, "y": y,
        "line": {"width": 0, "color": f"var:{colour}"}, "fillcolor": f"var:{colour}/0.82",
        "hovertemplate": f"{SOURCE_NAMES[name]} %{{y:,.0f}}<extra></extra>",
    }  # fmt: skip


def _line(
    name: str, x: Sequence[float], y: Sequence[float | None], colour: str, *, width: float, dash: str = "solid"
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y,
        "line": {"color": f"var:{colour}", "width": width, "dash": dash},
        "hovertemplate": f"{name} %{{y:,.0f}}<extra></extra>",
    }  # fmt: skip


def figure_layout(axis: Along, x: Sequence[float], top: float) -> dict[str, Any]:
    """Everything around the lines of a timeline; ``top`` = the highest value."""
    grid = {"gridcolor": "var:line", "zeroline": False, "fixedrange": True, "color": "var:muted"}
    shown = {"turns": ("", "d", "turn %{x}"), "minutes": (" min", ".1f", "minute %{x}")}
    suffix, hover, title = shown.get(axis, ("", ".2f", "exchange %{x}"))
    is_few = axis != "minutes" and bool(x) and x[-1] - x[0] < FEW_TURNS
    return {
        "margin": {"l": 52, "r": 14, "t": 14, "b": 34},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var:muted", "size": 11.5},
        "separators": f".{THIN}",
        "showlegend": False,
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": "var:card", "bordercolor": "var:line", "font": {"color": "var:ink", "size": 12}},
        "xaxis": grid
        | {
            "range": [x[0] if x else 0, (x[-1] if x else 1) or 1],
            "showgrid": False,
            "ticksuffix": suffix,
            "hoverformat": hover,
            "unifiedhovertitle": {"text": title},
            "dtick": 1 if is_few else None,
        },
        "yaxis": grid | {"range": [0, round(top * 1.08)], "tickformat": "~s", "rangemode": "tozero"},
    }
