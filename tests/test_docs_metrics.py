"""docs/metrics.md explains every figure of a replay's summary."""

from __future__ import annotations

import re
from pathlib import Path

from compression.engine.presets import PRESETS
from compression.engine.summary import summarize
from compression.engine.turns import tabulate
from tests.compression.engine.builders import SessionBuilder, run

DOCUMENT = Path(__file__).parents[1] / "docs" / "metrics.md"
HORIZON = re.compile(r"_(?:10|50)$")
NO_FIGURES = {"alarms", "warnings", "price_warnings"}


def test_every_figure_of_a_summary_is_explained() -> None:
    session = SessionBuilder()
    session.user("go")
    session.turn(("Bash", "done"))
    done = run(session, PRESETS["hermes"])
    explained = set(re.findall(r"`([a-z_0-9]+)`", DOCUMENT.read_text(encoding="utf-8")))

    figures = {HORIZON.sub("", name) for name in summarize(done, tabulate(done))} - NO_FIGURES

    assert figures - explained == set()
