"""Words that the consequences of many fields share."""

from __future__ import annotations

from compression.trial import Line, Trial
from sessions.templatetags.figures import grouped, percent

UNCHANGED = "nothing changes"
NO_EFFECT = "no effect"
"""How the line of a field ends that does nothing on this session, or under these settings anywhere."""


def many(count: int, noun: str) -> str:
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"


def of_window(trial: Trial, tokens: float) -> str:
    return f"{percent(tokens / trial.limit)} of the window"


def unused(trial: Trial) -> list[Line]:
    """What stands at every field that decides about events, when the strategy has none."""
    what = {
        "recorded": "what the agent did is replayed",
        "reference": f"the rules of {trial.draft.reference} are replayed",
    }.get(trial.draft.strategy, "nothing is compressed")
    return [Line(f"strategy {trial.draft.strategy}: {what}, this field has no effect")]
