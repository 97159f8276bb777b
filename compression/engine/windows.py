"""How large a model's context window is, from a dated table; a session's size only ever raises it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FALLBACK_WINDOW = 100_000
"""Tokens assumed for an unknown model."""


@dataclass(frozen=True, slots=True)
class Window:
    """A context window in tokens, and where the figure comes from."""

    tokens: int
    basis: str


@cache
def _table() -> dict[str, dict[str, int]]:
    text = (Path(__file__).parent / "data" / "windows.toml").read_text(encoding="utf-8")
    models: dict[str, dict[str, int]] = tomllib.loads(text)["models"]
    return models


def window_for(model: str, recorded: int | None = None, peak: int = 0) -> Window:
    """The window of ``model``; ``recorded`` is the log's own statement, ``peak`` the largest recorded context.

    The log wins. A session that was recorded beyond the usual window had the long one.
    """
    if recorded:
        return Window(recorded, "the log")
    name = model.lower().rsplit("/", 1)[-1]
    match = max((prefix for prefix in _table() if name.startswith(prefix)), key=len, default=None)
    if match is None:
        return Window(max(FALLBACK_WINDOW, peak), "unknown model")
    row = _table()[match]
    if peak > row["window"]:
        return Window(max(row.get("larger", peak), peak), f"{match}, long context")
    return Window(row["window"], match)
