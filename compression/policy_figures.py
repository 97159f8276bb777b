"""The chart of the policy page: the window turn by turn under no policy, the one in force and the draft.

Plain dictionaries for plotly, colours by their names in the style sheet. Names of policies are people's words
and stay out of it, because plotly reads markup in labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compression.sampling import sampled
from compression.trial import Trial

MAX_POINTS = 400


def comparison(trial: Trial, in_force: str) -> dict[str, Any]:
    """Data and layout; ``in_force`` is the legend's word for the policy in force."""
    limit, draft = trial.limit, trial.draft
    sides = [
        _line("none", trial.none.table.after, "muted", dash="2px,3px", width=1.6),
        _line(in_force, trial.before.table.after, "c-tool_call", width=1.8),
        _line("draft", trial.table.after, "accent", width=2.4),
    ]
    marks = [(float(limit), "bad", "solid")]
    if trial.acts:
        marks.append((draft.trigger_ratio * limit, "warn", "dash"))
    if draft.strategy == "threshold":
        marks.append((draft.target_ratio * limit, "good", "dot"))
    top = max([limit, *trial.table.before], default=limit)
    grid = {"gridcolor": "var:line", "zeroline": False, "fixedrange": True, "color": "var:muted"}
    return {
        "data": sides,
        "layout": {
            "margin": {"l": 48, "r": 8, "t": 6, "b": 24},
            "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": "var:muted", "size": 12}, "hovermode": "x unified",
            "hoverlabel": {"bgcolor": "var:card", "bordercolor": "var:line", "font": {"color": "var:ink", "size": 12}},
            "legend": {"orientation": "h", "x": 0, "y": 1.16},
            "xaxis": grid | {
                "showgrid": False, "range": [0, max(1, len(trial.table) - 1)],
                "unifiedhovertitle": {"text": "turn %{x}"},
            },
            "yaxis": grid | {"range": [0, round(top * 1.06)], "tickformat": "~s"},
            "shapes": [_mark(y, colour, dash) for y, colour, dash in marks],
        },
    }  # fmt: skip


def _line(name: str, column: Sequence[int], colour: str, *, width: float, dash: str = "solid") -> dict[str, Any]:
    drops = [turn for turn in range(1, len(column)) if column[turn] < column[turn - 1]][:100]
    chosen = sampled(column, MAX_POINTS, {t for turn in drops for t in (turn - 1, turn)})
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": chosen, "y": [column[t] for t in chosen],
        "line": {"color": f"var:{colour}", "width": width, "dash": dash},
        "hovertemplate": f"{name} %{{y:,.0f}}<extra></extra>",
    }  # fmt: skip


def _mark(y: float, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y,
        "line": {"color": f"var:{colour}", "width": 1.1, "dash": dash},
    }  # fmt: skip
