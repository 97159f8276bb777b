"""Walks a session call by call under a policy.

One pass over the turns, O(messages + changed text): token counts come with the transcript, stubs are
remembered by the ``Stubber``. The same transcript, calibration and policy give the same result in any
process. The stored session is never changed: what a policy would do stands in ``events``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from compression.engine.calibration import Calibration
from compression.engine.columns import columns_of, window_tokens
from compression.engine.distances import recent_budgets
from compression.engine.edits import Edit, Event
from compression.engine.history import CLEARED_TOKENS, Course, History, Request, course_of
from compression.engine.pins import Pins
from compression.engine.planner import Planner
from compression.engine.policy import Policy
from compression.engine.stubs import Stubber
from compression.engine.transcript import Transcript
from compression.engine.windows import window_for
from compression.engine.zones import Cutter, Zones

AT_RISK = 0.92
"""Above this usage an event goes ahead however little it frees."""

THRASH_EVENTS = 3
THRASH_RATIO = 0.10
CLEARED_TEXT = "[cleared by the agent]"


@dataclass(frozen=True)
class Replay:
    """What a policy would have done with a session.

    ``windows_after[t]`` / ``windows_before[t]`` are calibrated window tokens of turn t as the policy left it, and
    had no policy ever acted. Everything else is worked out from these and the events when it is asked for.
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

    def sizes_at(self, turn: int) -> list[int]:
        """Uncalibrated tokens of every message as it stands at a turn."""
        sizes = list(self.course.sizes)
        for edit in self.edits_at(turn).values():
            sizes[edit.message] += edit.tokens_after - edit.tokens_before
        return sizes

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
    known: Container[str] = (),
) -> Replay:
    """Replay a session under a policy. The strategy ``recorded`` forces ``history`` as-recorded.

    ``known``: sha256 of texts in the session that are stubs from an earlier compression; they stay as they are.
    """
    stubber = stubber or Stubber()
    course = course_of(transcript, "as-recorded" if policy.strategy == "recorded" else history)
    base = course_of(transcript, "uncompacted") if policy.strategy == "recorded" else course
    window = window_for(transcript.model, transcript.context_window, calibration.peak)
    auto = policy.context_window == "auto"
    walk = _Walk(course, policy, calibration, window.tokens if auto else int(policy.context_window))
    walk.run(stubber, known)
    return Replay(
        transcript=transcript,
        policy=policy,
        calibration=calibration,
        course=course,
        base=base,
        context_window=walk.limit,
        window_basis=window.basis if auto else "the policy",
        events=_with_calls_after(walk.events, len(transcript.turns)),
        windows_before=columns_of(base, calibration).windows,
        windows_after=tuple(walk.windows),
        alarms=tuple(walk.alarms),
        budgets=walk.budgets,
        stubber=stubber,
    )


def _with_calls_after(events: Sequence[Event], turns: int) -> tuple[Event, ...]:
    """Each event with the number of calls that followed it before the next one that changed something."""
    done: list[Event] = []
    following = turns
    for event in reversed(events):
        done.append(replace(event, calls_after=max(0, following - event.turn - 1)))
        if event.edits or event.reclaimed:
            following = event.turn
    return tuple(reversed(done))


class _Walk:
    """The state of one replay while it runs."""

    def __init__(self, course: Course, policy: Policy, calibration: Calibration, limit: int) -> None:
        self.course = course
        self.policy = policy
        self.calibration = calibration
        self.limit = limit
        self.budgets = tuple(recent_budgets(course, policy))
        self.columns = columns_of(course, calibration)
        self.events: list[Event] = []
        self.windows: list[int] = []
        self.alarms: list[str] = []
        self.edited: dict[tuple[int, int], Edit] = {}
        self.freed = 0  # by our own stubs, in the request at hand
        self.stopped = False
        self.floor_reached = False

    def run(self, stubber: Stubber, known: Container[str]) -> None:
        policy = self.policy
        boundaries = {b.turn for b in self.course.transcript.boundaries if self.course.history == "as-recorded"}
        acts = policy.strategy in ("threshold", "sliding")
        if not acts and not boundaries:
            self.windows = list(self.columns.windows)
            return
        if acts:
            self.pins = Pins(self.course, policy)
            self.cutter = Cutter(self.course, self.pins, self.budgets)
            self.planner = Planner(self.course, policy, stubber, known)
        threshold = policy.trigger_ratio * self.limit - policy.reserve_output
        for t in range(len(self.course.windows)):
            if t in boundaries:
                self._recorded(t)
            if acts and policy.arrival_limit_tokens is not None:
                self._arrive(t, policy.arrival_limit_tokens)
            tokens = self._tokens(t)
            if acts and tokens > threshold and not self.stopped:
                self._event(t, tokens)
                tokens = self._tokens(t)
            self.windows.append(tokens)

    def _tokens(self, turn: int) -> int:
        if not self.freed:
            return self.columns.windows[turn]
        counted = self.columns.counted[turn] - self.freed
        return window_tokens(self.calibration, counted, self.course.unknown_left[turn])

    def _apply(self, edits: Sequence[Edit]) -> None:
        for edit in edits:
            self.edited[edit.message, edit.part] = edit
            self.freed += edit.tokens_before - edit.tokens_after

    def _freed_in(self, request: Request) -> int:
        return sum(
            e.tokens_before - e.tokens_after
            for e in self.edited.values()
            if e.kind == "stub" and request.ordinal(e.message) is not None
        )

    def _recorded(self, t: int) -> None:
        """What the agent did at this turn, as an event: its history is what every policy here starts from."""
        course, transcript = self.course, self.course.transcript
        request = course.windows[t]
        previous = course.windows[t - 1] if t else Request((), 0, 0)
        arrived = Request(previous.kept, previous.start, request.end)
        gained = course.counted(arrived) - course.counted(previous)
        counted = (self.columns.counted[t - 1] if t else 0) - self.freed + gained
        before = window_tokens(self.calibration, counted, course.unknown_left[t - 1] if t else 0)
        edits = [
            Edit(i, j, "cleared", CLEARED_TEXT, transcript.counts[i][j], CLEARED_TOKENS, reason="cleared by the agent")
            for turn, i, j in course.cleared
            if turn == t
        ]
        self.edited.update({(edit.message, edit.part): edit for edit in edits})
        self.freed = self._freed_in(request)
        left = tuple(i for i in arrived.indexes() if request.ordinal(i) is None)
        event = Event(
            turn=t,
            kind="recorded",
            before=before,
            after=self._tokens(t),
            edits=tuple(edits),
            first_changed_message=_first(arrived, (*left, *(edit.message for edit in edits))),
            usage_ratio=round((before + self.policy.reserve_output) / self.limit, 6),
            reason=", ".join(dict.fromkeys(b.kind for b in transcript.boundaries if b.turn == t)),
            left=left,
        )
        survival = self._survival(arrived, event.first_changed_message, before)
        self._note(replace(event, cache_prefix_survival=survival))

    def _arrive(self, t: int, limit: int) -> None:
        """Stub what is larger than the arrival limit before it was ever sent."""
        first = self.course.windows[t - 1].end if t else 0
        if not any(tokens > limit for _, _, tokens in self.course.results_between(first, self.course.windows[t].end)):
            return
        before = self._tokens(t)
        edits = self.planner.arrivals(first, self.cutter.at(t), self.pins.at(t), limit)
        if edits:
            self._apply(edits)
            self._record(t, "arrival", before, edits)

    def _event(self, t: int, tokens: int) -> None:
        policy = self.policy
        usage = (tokens + policy.reserve_output) / self.limit
        zones = self.cutter.at(t)
        self.planner.admit(zones.request[zones.recent] if zones.recent < len(zones.request) else zones.request.end)
        goal = (policy.trigger_ratio if policy.strategy == "sliding" else policy.target_ratio) * self.limit
        wanted = (tokens + policy.reserve_output - goal) / self.calibration.k
        proposal = self.planner.propose(zones, wanted, self.edited)
        reclaim = self.calibration.k * proposal.freed
        saves = usage > 1 and usage - reclaim / self.limit <= 1
        forced = saves or (usage > AT_RISK and not self.floor_reached)
        if not proposal.edits or (reclaim < policy.min_reclaim_tokens and not forced):
            self.planner.give_back(proposal)
            self._skip(t, tokens, usage, reclaim, zones)
            return
        self._apply(proposal.edits)
        self._record(t, "compress", tokens, proposal.edits, goal if proposal.exhausted else None)
        self._guard(t)

    def _record(
        self, t: int, kind: Literal["arrival", "compress"], before: int, edits: Sequence[Edit],
        goal: float | None = None,
    ) -> None:  # fmt: skip
        after = self._tokens(t)
        request = self.course.windows[t]
        first = _first(request, (edit.message for edit in edits))
        floor = after if goal is not None and after + self.policy.reserve_output > goal else None
        if kind == "compress":
            self.floor_reached = floor is not None
        self._note(
            Event(
                turn=t,
                kind=kind,
                before=before,
                after=after,
                edits=tuple(edits),
                first_changed_message=first,
                target_unreachable=floor,
                cache_prefix_survival=self._survival(request, first, before),
                usage_ratio=round((before + self.policy.reserve_output) / self.limit, 6),
                reason="over the trigger" if kind == "compress" else "arrival limit",
            )
        )

    def _note(self, event: Event) -> None:
        self.events.append(event)
        if self.policy.strategy in ("threshold", "sliding"):
            self.cutter.tell(event)

    def _survival(self, request: Request, first: int | None, before: int) -> float:
        """Share of ``before`` (calibrated tokens of the request) that lies before message ``first``, unchanged."""
        ordinal = None if first is None else request.ordinal(first)
        unchanged = request.indexes(0, ordinal)
        counted = sum(self.course.sizes[i] for i in unchanged)
        if self.edited:
            held = {*unchanged}
            counted -= sum(e.tokens_before - e.tokens_after for e in self.edited.values() if e.message in held)
        # Silently cleared tokens have no place in the window, so the part can come out larger than the whole.
        return round(min(1.0, self.calibration.tokens(counted) / before), 6) if before else 1.0

    def _skip(self, t: int, tokens: int, usage: float, reclaim: float, zones: Zones) -> None:
        last = self.events[-1] if self.events else None
        if last is not None and last.kind == "skip" and last.turn + last.repeats == t - 1:
            self.events[-1] = replace(last, repeats=last.repeats + 1)
            return
        if not zones.compressible():
            reason = "everything is sacred"
        elif reclaim < 1:
            reason = "nothing left to compress"
        else:
            reason = f"would free {round(reclaim):,} tokens, fewer than {self.policy.min_reclaim_tokens:,}"
        self.events.append(Event(t, "skip", tokens, tokens, usage_ratio=round(usage, 6), reason=reason))

    def _guard(self, t: int) -> None:
        done = [e for e in self.events if e.kind == "compress"][-THRASH_EVENTS:]
        if not self.policy.thrash_guard or len(done) < THRASH_EVENTS:
            return
        if all(e.reclaimed < THRASH_RATIO * e.before for e in done):
            self.stopped = True
            alarm = f"{THRASH_EVENTS} events in a row freed less than {THRASH_RATIO:.0%} each: compression stopped"
            self.alarms.append(f"turn {t}: {alarm}")
            tokens = done[-1].after
            self.events.append(Event(t, "stopped", tokens, tokens, usage_ratio=done[-1].usage_ratio, reason=alarm))


def _first(request: Request, messages: Iterable[int]) -> int | None:
    """Which of ``messages`` stands first in a request."""
    found = [(ordinal, i) for i in messages if (ordinal := request.ordinal(i)) is not None]
    return min(found)[1] if found else None
