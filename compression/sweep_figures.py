"""A sweep as plotly figures: what every trial costs and keeps, and two fields against each other.

Plain dictionaries, colours by their names in the palette. No query, no plotly import: the browser draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from compression.models import Trial
from compression.policy_fields import label_of
from compression.sampling import sampled
from compression.sweep_front import Point
from compression.sweep_results import Findings
from compression.sweep_table import value_said
from sessions.templatetags.figures import THIN

MAX_POINTS = 2_000
MOST_MARKS = 100
MOST_BINS = 12
MEASURES = {"saved": "saved", "kept": "still in view", "lost": "names lost"}


def scatter(findings: Findings) -> dict[str, Any]:
    """Cost against what was kept: the front, and of more than 2,000 others those that draw the same cloud."""
    front = list(findings.front)
    of_front = {point.number for point in front}
    tried = sorted(
        (p for p in findings.points if p.kind == Trial.Kind.CANDIDATE and p.number not in of_front),
        key=lambda point: (point.cost, point.number),
    )
    shown = [tried[at] for at in sampled([point.kept for point in tried], MAX_POINTS)]
    x = "$%{x:,.4~g}" if findings.in_dollars else "%{x:,.3~s} tokens"
    data = [
        _cloud("a promise broken", [point for point in shown if point.broken], "muted/0.7", x),
        _cloud("tried", [point for point in shown if not point.broken], "c-user/0.55", x),
        _marks("front", _thinned(front), "good", "circle", 10, x, joined=True),
        _marks("no compression", _one(findings.of_kind(Trial.Kind.NONE)), "ink", "square", 10, x),
        _marks("in force", _one(findings.of_kind(Trial.Kind.IN_FORCE)), "c-tool_call", "diamond", 12, x),
        _marks("recommended", _one(findings.best), "accent", "circle-open", 19, x),
    ]
    layout = _layout(
        "dollars, all calls" if findings.in_dollars else "tokens sent, all calls", "names used later, still in view"
    )
    layout["xaxis"] |= {"tickprefix": "$", "tickformat": ",.3~g"} if findings.in_dollars else {"tickformat": "~s"}
    layout["yaxis"] |= {"tickformat": ",.0%"}
    return {"data": [trace for trace in data if trace["x"]], "layout": layout}


def _one(point: Point | None) -> list[Point]:
    return [] if point is None else [point]


def _thinned(front: Sequence[Point]) -> list[Point]:
    return [front[at] for at in sampled([point.kept for point in front], MOST_MARKS)]


def _said(x: str) -> str:
    kept = "%{y:.1%} in view, %{customdata[1]} lost"
    return f"trial %{{customdata[0]}}, %{{fullData.name}}<br>{x}<br>{kept}<extra></extra>"


def _cloud(name: str, points: Sequence[Point], colour: str, x: str) -> dict[str, Any]:
    """Dots as strokes of no length with round ends: thousands of them are one element of the page."""
    cost = [value for point in points for value in (point.cost, point.cost, None)]
    kept = [value for point in points for value in (point.kept, point.kept, None)]
    about = [value for point in points for value in ([point.number, point.lost],) * 3]
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": cost, "y": kept, "customdata": about,
        "line": {"color": f"var:{colour}", "width": 8, "simplify": False}, "connectgaps": False,
        "hovertemplate": _said(x),
    }  # fmt: skip


def _marks(
    name: str, points: Sequence[Point], colour: str, symbol: str, size: int, x: str, *, joined: bool = False
) -> dict[str, Any]:
    edge = {"width": 2.5 if symbol.endswith("-open") else 0}
    return {
        "type": "scatter", "mode": "lines+markers" if joined else "markers", "name": name,
        "x": [point.cost for point in points], "y": [point.kept for point in points],
        "customdata": [[point.number, point.lost] for point in points],
        "marker": {"symbol": symbol, "size": size, "color": f"var:{colour}", "line": edge},
        "line": {"color": f"var:{colour}/0.55", "width": 1.6, "shape": "hv"},
        "hovertemplate": _said(x),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Two fields against each other. ``cells[row][column]`` = (mean over the trials there, how many); None: none.

    Numbers of many values are put into at most 12 ranges of equal width.
    """

    x: str
    y: str
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[tuple[float, int] | None]]

    @property
    def table(self) -> list[tuple[str, Sequence[tuple[float, int] | None]]]:
        """Rows with their labels, the highest first, as a map has them."""
        return list(zip(self.rows, self.cells, strict=True))[::-1]


def heat_map(trials: Sequence[tuple[dict[str, Any], float | None]], x: str, y: str) -> HeatMap:
    """Of the values of each trial and its measure; one without either of the fields does not count."""
    known = [(values, measure) for values, measure in trials if x in values and y in values and measure is not None]
    across, down = _Bins(x, [values[x] for values, _ in known]), _Bins(y, [values[y] for values, _ in known])
    found: dict[tuple[int, int], list[float]] = {}
    for values, measure in known:
        found.setdefault((down.place(values[y]), across.place(values[x])), []).append(measure)
    cells = [
        [
            (sum(found[r, c]) / len(found[r, c]), len(found[r, c])) if (r, c) in found else None
            for c in range(len(across.labels))
        ]
        for r in range(len(down.labels))
    ]
    return HeatMap(x, y, across.labels, down.labels, cells)


class _Bins:
    """Where a value stands: by itself while there are few, else in a range; words beyond the twelfth are the last."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        self._is_number = len(numbers) == len(values)
        known: list[Any] = sorted(set(numbers)) if self._is_number else sorted({str(value) for value in values})
        self._low = self._width = 0.0
        if self._is_number and len(known) > MOST_BINS:
            self._low, self._width = known[0], (known[-1] - known[0]) / MOST_BINS
            edges = [self._low + self._width * at for at in range(MOST_BINS + 1)]
            self.labels = [f"{_short(a)} – {_short(b)}" for a, b in pairwise(edges)]
        else:
            known = known[:MOST_BINS]
            self.labels = [value_said(name, value) for value in known]
        self._known = {value: at for at, value in enumerate(known)}

    def place(self, value: Any) -> int:
        if self._width:
            return min(MOST_BINS - 1, int((value - self._low) / self._width))
        return self._known.get(value if self._is_number else str(value), len(self.labels) - 1)


def _short(value: float) -> str:
    return f"{value:,.0f}".replace(",", THIN) if abs(value) >= 100 else f"{value:.3g}"


def heat_figure(found: HeatMap, measure: str) -> dict[str, Any]:
    """Data and layout of a map of coloured cells."""
    z = [[None if cell is None else round(cell[0], 6) for cell in row] for row in found.cells]
    counts = [[0 if cell is None else cell[1] for cell in row] for row in found.cells]
    tick = ",.0%" if measure != "lost" else ",.1f"
    layout = _layout(label_of(found.x), label_of(found.y))
    layout["xaxis"] |= {"type": "category"}
    layout["yaxis"] |= {"type": "category"}
    layout["margin"] |= {"l": 96}
    scale = ["var:c-tool_result/0.75", "var:c-tool_call/0.35", "var:good/0.85"]
    if measure == "lost":
        scale.reverse()
    return {
        "data": [
            {
                "type": "heatmap", "x": found.columns, "y": found.rows, "z": z, "customdata": counts,
                "xgap": 2, "ygap": 2, "hoverongaps": False,
                "colorscale": [[at / 2, colour] for at, colour in enumerate(scale)],
                "colorbar": {"thickness": 10, "outlinewidth": 0, "tickformat": tick},
                "hovertemplate": f"{label_of(found.x)} %{{x}}<br>{label_of(found.y)} %{{y}}<br>"
                f"{MEASURES[measure]} %{{z:{tick}}}, %{{customdata}} trials<extra></extra>",
            }
        ],
        "layout": layout,
    }  # fmt: skip


def _layout(x: str, y: str) -> dict[str, Any]:
    axis = {"gridcolor": "var:line", "zeroline": False, "fixedrange": True, "color": "var:muted", "automargin": True}
    return {
        "margin": {"l": 64, "r": 14, "t": 14, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var:muted", "size": 11.5}, "showlegend": False, "hovermode": "closest",
        "hoverlabel": {"bgcolor": "var:card", "bordercolor": "var:line", "font": {"color": "var:ink", "size": 12}},
        "xaxis": {**axis, "title": {"text": x, "standoff": 8}},
        "yaxis": {**axis, "title": {"text": y, "standoff": 8}},
    }  # fmt: skip
