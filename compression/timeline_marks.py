"""Marks on the timeline: limits, events of the policy, and the compactions that the agent made itself."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from typing import Any

from compression.engine.edits import Event
from compression.engine.policy import Policy
from compression.event_words import by_turn, did
from compression.own_compactions import OwnCompaction
from compression.replay_document import ReplayDocument

MARKERS_SHOWN, OWN_SHOWN = 40, 30
"""Each is an element of the page; what is more becomes one path, or is left to the list below."""

LINES_SHOWN = 12
LABELS_SHOWN = 5

SYMBOLS = {"aggressive": "diamond", "truncate": "square", "archive": "star", "rezone": "hexagon", "incompressible": "x"}
"""The shapes of the ladder's steps; every other event is a triangle."""


def _limits(document: ReplayDocument, policy: Policy) -> list[tuple[int, str, str, str]]:
    """(tokens, what it is, colour, dash) of window, trigger and target."""
    limit = document.context_window
    rows = [(limit, f"window {limit / 1000:,.0f}K", "bad", "solid")]
    if policy.strategy in ("threshold", "sliding"):
        rows.append((round(policy.trigger_ratio * limit), f"trigger {policy.trigger_ratio:.0%}", "warn", "dash"))
    if policy.strategy == "threshold":
        rows.append((round(policy.target_ratio * limit), f"target {policy.target_ratio:.0%}", "good", "dot"))
    return rows


def limit_lines(document: ReplayDocument, policy: Policy, top: int) -> list[dict[str, Any]]:
    """Window, trigger and target as lines across the figure, where they lie inside it."""
    return [
        {
            "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y,
            "line": {"color": f"var:{colour}", "width": 1.2, "dash": dash},
        }
        for y, _, colour, dash in _limits(document, policy)
        if y <= top
    ]  # fmt: skip


def limit_names(document: ReplayDocument, policy: Policy, top: int) -> list[dict[str, Any]]:
    """Their names at the left edge; those above the figure are said to be there."""
    inside = [row for row in _limits(document, policy) if row[0] <= top]
    above = [name for y, name, _, _ in _limits(document, policy) if y > top]
    names = [(y, name, colour) for y, name, colour, _ in inside]
    if above:
        names.append((top, "far above: " + ", ".join(above), "muted"))
    return [
        {
            "xref": "paper", "x": 0.004, "y": y, "yanchor": "bottom", "xanchor": "left", "text": name,
            "showarrow": False, "font": {"color": f"var:{colour}", "size": 11},
        }
        for y, name, colour in names
    ]  # fmt: skip


def _marked(document: ReplayDocument) -> list[Event]:
    return [e for e in document.events if e.changes or e.reclaimed or e.kind == "incompressible"]


def event_marks(document: ReplayDocument, places: Sequence[float]) -> list[dict[str, Any]]:
    """One mark for each event that changed something, steps of the ladder in shapes of their own, and a drop line
    where there are few.

    Nothing where there are many: ``event_strokes`` draws those.
    """
    events = _marked(document)
    if not events or len(events) > MARKERS_SHOWN:
        return []
    marks = {
        "type": "scatter", "mode": "markers", "name": "event", "x": [places[e.turn] for e in events],
        "y": [e.before for e in events],
        "marker": {
            "symbol": [SYMBOLS.get(e.kind, "triangle-down") for e in events], "size": 9,
            "color": ["var:bad" if e.kind in SYMBOLS else "var:warn" for e in events],
        },
        "customdata": [[e.kind, did(e), e.reclaimed] for e in events],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]}, −%{customdata[2]:,}<extra></extra>",
    }  # fmt: skip
    if len(events) > LINES_SHOWN:
        return [marks]
    drops: dict[str, Any] = {
        "type": "scatter", "mode": "lines", "name": "event", "hoverinfo": "skip",
        "x": [v for e in events for v in (places[e.turn], places[e.turn], None)],
        "y": [v for e in events for v in (0, e.before, None)], "line": {"color": "var:warn", "width": 1.4},
    }  # fmt: skip
    return [drops, marks]


def event_strokes(document: ReplayDocument, places: Sequence[float]) -> list[dict[str, Any]]:
    """Many events as two paths, a stroke from before to after for each: those of the ladder, and all others. None
    where each has a mark."""
    events = _marked(document)
    if len(events) <= MARKERS_SHOWN:
        return []
    strokes = []
    for colour, chosen in (
        ("warn", [e for e in events if e.kind not in SYMBOLS]),
        ("bad", [e for e in events if e.kind in SYMBOLS]),
    ):
        path = "".join(f"M{places[e.turn]},{e.before}L{places[e.turn]},{e.after}" for e in chosen)
        if path:
            line = {"color": f"var:{colour}", "width": 2}
            strokes.append({"type": "path", "xref": "x", "yref": "y", "path": path, "line": line})
    return strokes


def event_labels(document: ReplayDocument, places: Sequence[float], top: int) -> list[dict[str, Any]]:
    """What was done at each turn with events, in words, where there are few of them."""
    turns = by_turn(_marked(document))
    if len(turns) > LABELS_SHOWN:
        return []
    end = places[-1] if len(places) else 1
    return [
        {
            "x": places[turn], "y": events[0].before, "yanchor": "bottom", "yshift": 6, "showarrow": False,
            "xanchor": "right" if places[turn] > 0.6 * end else "left", "text": _label(events),
            "bgcolor": "var:card/0.82", "borderpad": 2, "font": {"color": "var:warn", "size": 11},
        }
        for turn, events in turns.items()
        if events[0].before <= top
    ]  # fmt: skip


def _label(events: Sequence[Event]) -> str:
    blocks = len({(edit.message, edit.part) for event in events for edit in event.edits})
    left = len({i for event in events for i in event.left})
    steps = list(dict.fromkeys(event.kind for event in events if event.kind in SYMBOLS))
    what = [_blocks(blocks)] if blocks else []
    what += [f"{left} left"] if left else []
    said = ", ".join([*what, f"−{sum(event.reclaimed for event in events) / 1000:.1f}K"])
    return f"{said} ({', '.join(steps)})" if steps else said


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else f"{count} blocks"


def own_marks(own: Sequence[OwnCompaction], places: Sequence[float], top: int) -> list[dict[str, Any]]:
    """The agent's own compactions and silent clearings, along the top; a click asks for the list of what left.

    The largest of them where there are many.
    """
    largest = nlargest(OWN_SHOWN, (row for row in own if row.turn is not None), key=lambda row: row.before - row.after)
    found = sorted(largest, key=lambda row: row.number)
    if not found:
        return []
    return [
        {
            "type": "scatter", "mode": "text", "name": "agent's own", "x": [places[row.turn or 0] for row in found],
            "y": [round(top * 1.03)] * len(found),
            "text": ["◌" if row.kinds == ("silent",) else "✂" for row in found],
            "textfont": {"size": 15, "color": "var:ink"}, "customdata": [[row.said, row.list_url] for row in found],
            "hovertemplate": "%{customdata[0]}<extra></extra>",
        }
    ]  # fmt: skip
