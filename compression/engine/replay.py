"""Walks a session call by call under a policy.

One pass over the turns, O(messages + changed text): token counts come with the transcript, stubs are
remembered by the ``Stubber``. The same transcript, calibration and policy give the same result in any
process. The stored session is never changed: what a policy would do stands in ``events``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from compression.engine.calibration import Calibration
from compression.engine.columns import columns_of
from compression.engine.economy import Economy, economy_of
from compression.engine.edits import Edit, Event, Note
from compression.engine.history import Course, History, Request, course_of
from compression.engine.pins import Pins
from compression.engine.planner import Known
from compression.engine.policy import Policy
from compression.engine.standing import Standing
from compression.engine.stubs import Stubber
from compression.engine.terms import OwnPrices, terms_of
from compression.engine.transcript import Transcript
from compression.engine.walk import Walk, with_calls_after
from compression.engine.windows import window_for
from compression.engine.zones import Cutter, Zones


@dataclass(frozen=True)
class Replay:
    """What a policy would have done with a session.

    ``windows_after[t]`` / ``windows_before[t]`` are calibrated window tokens of turn t as the policy left it, and
    had no policy ever acted. Everything else is worked out from these and the events when it is asked for.
    ``prices`` are those that a project set itself; ``known`` the stubs that came with the session.
    """

    transcript: Transcript
    policy: Policy
    calibration: Calibration
    course: Course
    base: Course
    context_window: int
    window_basis: str
    events: tuple[Event, ...]
    windows_before: tuple[int, ...]
    windows_after: tuple[int, ...]
    alarms: tuple[str, ...]
    budgets: tuple[int, ...] = field(repr=False)
    stubber: Stubber = field(repr=False)
    prices: OwnPrices | None = field(default=None, repr=False)
    known: Known = field(default_factory=Known, repr=False)

    @cached_property
    def first_boundary(self) -> int:
        """From this turn on recorded figures are not comparable: the agent had compacted its own window."""
        return min((b.turn for b in self.transcript.boundaries), default=len(self.transcript.turns))

    def usage(self, tokens: int) -> float:
        """Share of the window that ``tokens`` and the reserve for the answer take."""
        return (tokens + self.policy.reserve_output) / self.context_window

    def fits(self, turn: int) -> bool:
        """Whether the request of a turn fits the window as the policy left it."""
        return self.usage(self.windows_after[turn]) <= 1

    def edits_at(self, turn: int) -> dict[tuple[int, int], Edit]:
        """The edits in force at a turn, by (message, part)."""
        return {(e.message, e.part): e for event in self.events if event.turn <= turn for e in event.edits}

    def standing_at(self, turn: int) -> Standing:
        """The window of a turn after the events of that turn."""
        standing = Standing(self.course)
        for event in self.events:
            if event.turn <= turn:
                standing.tell(event)
        return standing

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The messages of every request as the policy left it, without its notes."""
        if not any(event.left for event in self.events):
            return self.course.windows
        standing, found, at = Standing(self.course), [], 0
        for turn in range(len(self.course.windows)):
            while at < len(self.events) and self.events[at].turn <= turn:
                standing.tell(self.events[at])
                at += 1
            found.append(standing.request(turn))
        return tuple(found)

    def note_at(self, turn: int) -> Note | None:
        """What stands in a turn's request for the messages that left it."""
        return self.standing_at(turn).note(turn)

    def cutter(self) -> Cutter:
        """Cuts this replay's requests; it has to be told of the events, oldest first."""
        return Cutter(self.course, Pins(self.course, self.policy), self.budgets)

    def zones_at(self, turn: int) -> Zones:
        """The zones of a turn's request after the events of that turn."""
        cutter = self.cutter()
        for event in self.events:
            if event.turn <= turn:
                cutter.tell(event)
        return cutter.at(turn)


def replay(
    transcript: Transcript,
    policy: Policy,
    calibration: Calibration,
    *,
    history: History = "uncompacted",
    stubber: Stubber | None = None,
    known: Known | None = None,
    economy: Economy | None = None,
    prices: OwnPrices | None = None,
) -> Replay:
    """Replay a session under a policy. The strategy ``recorded`` forces ``history`` as-recorded.

    ``known``: stubs in the session from an earlier compression; they stay as they are until the ladder shortens them.
    ``prices``: those that a project set itself, before any table. A policy that asks what an event costs is answered by
    them and by the session's own times, unless the caller brings an ``economy``.
    """
    stubber = stubber or Stubber()
    course = course_of(transcript, "as-recorded" if policy.strategy == "recorded" else history)
    base = course_of(transcript, "uncompacted") if policy.strategy == "recorded" else course
    window = window_for(transcript.model, transcript.context_window, calibration.peak)
    auto = policy.context_window == "auto"
    limit = window.tokens if auto else int(policy.context_window)
    if economy is None and (policy.dollar_gate or policy.prefer_idle):
        economy = economy_of(terms_of(transcript, prices))
    known = known or Known()
    walk = Walk(course, policy, calibration, limit, stubber, known, economy)
    walk.run()
    return Replay(
        transcript=transcript,
        policy=policy,
        calibration=calibration,
        course=course,
        base=base,
        context_window=limit,
        window_basis=window.basis if auto else "the policy",
        events=with_calls_after(walk.events, len(transcript.turns)),
        windows_before=columns_of(base, calibration).windows,
        windows_after=tuple(walk.windows),
        alarms=tuple(walk.alarms),
        budgets=walk.budgets,
        stubber=stubber,
        prices=prices,
        known=known,
    )
