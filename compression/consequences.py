"""What a draft policy means for one session and its project, field by field, in words.

``consequences`` costs one replay of the draft. It knows no request and stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compression.consequence_words import NO_EFFECT, UNCHANGED
from compression.engine.policy import Policy
from compression.field_consequences import at_fields, at_pins
from compression.field_turns import turns
from compression.policy_notes import notes
from compression.project_peaks import ProjectPeaks
from compression.replay_document import ReplayDocument
from compression.trial import Line, Trial, try_out
from compression.warm_sessions import WarmSession


@dataclass(frozen=True)
class Consequences:
    """What the page says of a draft: lines at each field, lines at each pin rule, notes on the whole, and the turn to
    look at for the fields that have one."""

    trial: Trial
    fields: Mapping[str, tuple[Line, ...]]
    pins: Mapping[int, Line]
    notes: tuple[Line, ...]
    turns: Mapping[str, int]


def consequences(
    warm: WarmSession,
    draft: Policy,
    *,
    in_force: Policy,
    before: ReplayDocument,
    none: ReplayDocument,
    peaks: ProjectPeaks,
) -> Consequences:
    """One replay of the draft and what it means at each field. ``before``: the replay of the policy in force."""
    trial = try_out(warm, draft, in_force=in_force, before=before, none=none, peaks=peaks)
    fields = at_fields(trial)
    idle = {name for name, lines in fields.items() if lines and lines[-1].text.endswith((UNCHANGED, NO_EFFECT))}
    where = {name: turn for name, turn in turns(trial).items() if name not in idle}
    return Consequences(trial, fields, at_pins(trial), tuple(notes(trial)), where)
