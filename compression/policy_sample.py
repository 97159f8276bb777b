"""A draft tried on a few sessions of its project: small, mixed and bounded in time, so that it follows the typing.

Sessions are taken at even steps from the fullest to the emptiest, very large ones left out. What was not reached in
the time that one answer may take is reached by the next one, which finds the first ones warm. The dry run replays the
draft on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.policies import InForce
from compression.project_peaks import ProjectPeaks, project_peaks
from compression.replays import stored_replay
from compression.trial import Trial, try_out
from compression.warm_sessions import warm_session
from sessions.models import Project, Session

SIZE = 5
"""With the chosen session these are as many as the warm shelf holds."""

LARGEST_TOKENS = 1_000_000
SECONDS = 2.0


@dataclass(frozen=True)
class Sample:
    """``trials`` of the sessions that were reached; ``wanted`` are in the sample, ``total`` in the project."""

    trials: tuple[Trial, ...]
    wanted: int
    total: int

    @property
    def is_whole(self) -> bool:
        return len(self.trials) == self.wanted


def sampled_keys(sessions: Sequence[int]) -> list[int]:
    """At most ``SIZE`` of them at even steps, the first and the last among them."""
    if len(sessions) <= SIZE:
        return list(sessions)
    return [sessions[round(at * (len(sessions) - 1) / (SIZE - 1))] for at in range(SIZE)]


def try_sample(
    project: Project, sessions: Sequence[int], draft: Policy, in_force: InForce, *, seconds: float = SECONDS
) -> Sample:
    """The draft on the sample of ``sessions`` (the fullest first); at least one of them, then until time is up."""
    keys = sampled_keys(sessions)
    found = Session.objects.defer("tools_json").select_related("project__prices").in_bulk(keys)
    ends, peaks = monotonic() + seconds, project_peaks(project)
    trials: list[Trial] = []
    for key in keys:
        if trials and monotonic() > ends:
            break
        trials.append(_tried(found[key], draft, in_force, peaks))
    return Sample(tuple(trials), len(keys), len(sessions))


def _tried(session: Session, draft: Policy, in_force: InForce, peaks: ProjectPeaks) -> Trial:
    return try_out(
        warm_session(session),
        draft,
        in_force=in_force.policy,
        before=stored_replay(session, in_force.policy),
        none=stored_replay(session, PRESETS["none"]),
        peaks=peaks,
    )
