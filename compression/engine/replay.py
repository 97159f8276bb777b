"""Walks a session call by call under a policy.

One pass over the turns, O(messages + changed text): token counts come with the transcript, stubs are
remembered by the ``Stubber``. The same transcript, calibration and policy give the same result in any
process. The stored session is never changed: what a policy would do stands in ``events``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from compression.engine.calibration import Calibration
from compression.engine.distances import recent_budgets
from compression.engine.edits import Edit, Event
from compression.engine.history import CLEARED_TOKENS, Course, History, Request, course_of
from compression.engine.planner import Planner, arrivals
from compression.engine.policy import Policy
from compression.engine.stubs import Stubber
from compression.engine.transcript import Transcript
from compression.engine.windows import window_for
from compression.engine.zones import Pins, Zones, zones_at

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
    stubber: Stubber = field(repr=False)

    @cached_property
    def pins(self) -> Pins:
        """The policy's pin rules on this session."""
        return Pins(self.transcript.messages, self.policy, self.course.excluded)

    @cached_property
    def budgets(self) -> list[int]:
        """The recent zone's budget at each turn, uncalibrated tokens."""
        return recent_budgets(self.course, self.policy)

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

    def zones_at(self, turn: int) -> Zones:
        """The zones of a turn's request after the events of that turn."""
        request = self.course.windows[turn]
        return zones_at(self.course, request, self.pins, self.sizes_at(turn), self.budgets[turn])


def replay(
    transcript: Transcript,
    policy: Policy,
    calibration: Calibration,
    *,
    history: History = "uncompacted",
    stubber: Stubber | None = None,
) -> Replay:
    """Replay a session under a policy. The strategy ``recorded`` forces ``history`` as-recorded."""
    stubber = stubber or Stubber()
    course = course_of(transcript, "as-recorded" if policy.strategy == "recorded" else history)
    base = course_of(transcript, "uncompacted") if policy.strategy == "recorded" else course
    peak = max((t.recorded.context_tokens for t in transcript.turns if t.recorded), default=0)
    window = window_for(transcript.model, transcript.context_window, peak)
    auto = policy.context_window == "auto"
    walk = _Walk(course, policy, calibration, stubber, window.tokens if auto else int(policy.context_window))
    walk.run()
    return Replay(
        transcript=transcript,
        policy=policy,
        calibration=calibration,
        course=course,
        base=base,
        context_window=walk.limit,
        window_basis=window.basis if auto else "the policy",
        events=_with_calls_after(walk.events, len(transcript.turns)),
        windows_before=tuple(_window(base, request, calibration, t) for t, request in enumerate(base.windows)),
        windows_after=tuple(walk.windows),
        alarms=tuple(walk.alarms),
        stubber=stubber,
    )


def _window(course: Course, request: Request, calibration: Calibration, turn: int) -> int:
    tokens = calibration.tokens(course.counted(request))
    return max(calibration.hidden, tokens - course.unknown_left[turn]) if course.unknown_left[turn] else tokens


def _with_calls_after(events: Sequence[Event], turns: int) -> tuple[Event, ...]:
    """Each event with the number of calls that ran on its result before the next one that changed something."""
    done: list[Event] = []
    following = turns
    for event in reversed(events):
        done.append(replace(event, calls_after=max(0, following - event.turn)))
        if event.edits:
            following = event.turn
    return tuple(reversed(done))


class _Walk:
    """The state of one replay while it runs."""

    def __init__(self, course: Course, policy: Policy, calibration: Calibration, stubber: Stubber, limit: int) -> None:
        self.course = course
        self.policy = policy
        self.calibration = calibration
        self.limit = limit
        self.events: list[Event] = []
        self.windows: list[int] = []
        self.alarms: list[str] = []
        self.sizes = list(course.sizes)
        self.edited: dict[tuple[int, int], Edit] = {}
        self.stubbed: set[int] = set()
        self.freed = 0
        self.stopped = False
        self.floor_reached = False
        self.head = 0
        self.admitted = 0
        self.planner = Planner(course.transcript, policy, stubber)
        self.cleared = list(course.cleared)

    def run(self) -> None:
        policy = self.policy
        acts = policy.strategy in ("threshold", "sliding")
        threshold = policy.trigger_ratio * self.limit - policy.reserve_output
        if acts:
            self.pins = Pins(self.course.transcript.messages, policy, self.course.excluded)
            self.budgets = recent_budgets(self.course, policy)
        arrived = 0
        for t, request in enumerate(self.course.windows):
            if policy.strategy == "recorded":
                self._recorded(t)
            elif acts and policy.arrival_limit_tokens is not None:
                self._arrive(t, arrived, request)
                arrived = request.end
            tokens = self._tokens(t, request)
            if acts and tokens > threshold and not self.stopped:
                self._event(t, request, tokens)
                tokens = self._tokens(t, request)
            self.windows.append(tokens)

    def _counted(self, request: Request) -> int:
        return self.course.counted(request) - self._freed_in(request)

    def _freed_in(self, request: Request) -> int:
        if not self.edited or (not request.kept and request.start == 0):
            return self.freed
        held = {*request.kept}
        return sum(
            e.tokens_before - e.tokens_after
            for e in self.edited.values()
            if e.message >= request.start or e.message in held
        )

    def _tokens(self, turn: int, request: Request) -> int:
        calibration, left = self.calibration, self.course.unknown_left[turn]
        tokens = calibration.tokens(self._counted(request))
        return max(calibration.hidden, tokens - left) if left else tokens

    def _apply(self, edits: Sequence[Edit]) -> None:
        for edit in edits:
            self.edited[edit.message, edit.part] = edit
            self.stubbed.add(edit.message)
            change = edit.tokens_before - edit.tokens_after
            self.sizes[edit.message] -= change
            self.freed += change

    def _recorded(self, t: int) -> None:
        """What the agent did at this turn, as an event."""
        boundaries = [b for b in self.course.transcript.boundaries if b.turn == t]
        if not boundaries:
            return
        request = self.course.windows[t]
        previous = self.course.windows[t - 1] if t else Request((), 0, 0)
        unreset = Request(previous.kept, previous.start, request.end)
        before = self._tokens(t - 1, unreset) if t else self._tokens(t, request)
        edits = []
        while self.cleared and self.cleared[0][0] <= t:
            _, i = self.cleared.pop(0)
            for j, part in enumerate(self.course.transcript.messages[i].parts):
                tokens = self.course.transcript.counts[i][j]
                if part.kind == "tool_result" and tokens > CLEARED_TOKENS and (i, j) not in self.edited:
                    edits.append(
                        Edit(i, j, "cleared", CLEARED_TEXT, tokens, CLEARED_TOKENS, reason="cleared by the agent")
                    )
        self._apply(edits)
        held = {*request.kept}
        first = request.start
        left = tuple(i for i in (*previous.kept, *range(previous.start, first)) if i not in held and i < first)
        self.events.append(
            Event(
                turn=t,
                kind="recorded",
                before=before,
                after=self._tokens(t, request),
                edits=tuple(edits),
                first_changed_message=min((*left, *(e.message for e in edits)), default=None),
                usage_ratio=(before + self.policy.reserve_output) / self.limit,
                reason=", ".join(dict.fromkeys(b.kind for b in boundaries)),
                left=left,
            )
        )

    def _arrive(self, t: int, first: int, request: Request) -> None:
        """Stub what is larger than the arrival limit before it was ever sent."""
        limit = self.policy.arrival_limit_tokens
        if limit is None:
            return
        transcript = self.course.transcript
        before = self._tokens(t, request)
        found = arrivals(transcript.messages, transcript.counts, first, request.end, limit)
        edits = [e for i, j in found if (e := self.planner.edit(i, j, "larger than the arrival limit")) is not None]
        if edits:
            self._apply(edits)
            self._record(t, "arrival", before, request, edits)

    def _event(self, t: int, request: Request, tokens: int) -> None:
        policy = self.policy
        usage = (tokens + policy.reserve_output) / self.limit
        zones = self._zones(t, request)
        goal = (policy.trigger_ratio if policy.strategy == "sliding" else policy.target_ratio) * self.limit
        wanted = (tokens + policy.reserve_output - goal) / self.calibration.k
        proposal = self.planner.propose(zones.pinned, wanted, self.stubbed)
        reclaim = self.calibration.k * proposal.freed
        forced = usage > 1 or (usage > AT_RISK and not self.floor_reached)
        if not proposal.edits or (reclaim < policy.min_reclaim_tokens and not forced):
            self.planner.give_back(proposal)
            self._skip(t, tokens, usage, reclaim, zones)
            return
        self._apply(proposal.edits)
        self._record(t, "compress", tokens, request, proposal.edits, usage, goal if proposal.exhausted else None)
        self._guard(t)

    def _zones(self, t: int, request: Request) -> Zones:
        zones = zones_at(self.course, request, self.pins, self.sizes, self.budgets[t])
        released = range(request[zones.recent] if zones.recent < len(request) else request.end)
        first = request[zones.head] if zones.head < len(request) else request.end
        start = max(self.admitted, first)
        self.planner.admit(i for i in released[start:] if i not in self.course.excluded)
        self.admitted = max(self.admitted, len(released))
        return zones

    def _record(
        self, t: int, kind: str, before: int, request: Request, edits: Sequence[Edit],
        usage: float | None = None, goal: float | None = None,
    ) -> None:  # fmt: skip
        after = self._tokens(t, request)
        first = min(edit.message for edit in edits)
        survived = self.calibration.tokens(self._before(request, first))
        floor = after if goal is not None and after + self.policy.reserve_output > goal else None
        self.floor_reached = floor is not None
        self.events.append(
            Event(
                turn=t,
                kind="arrival" if kind == "arrival" else "compress",
                before=before,
                after=after,
                edits=tuple(edits),
                first_changed_message=first,
                target_unreachable=floor,
                cache_prefix_survival=round(survived / before, 6),
                usage_ratio=round((before + self.policy.reserve_output) / self.limit if usage is None else usage, 6),
                reason="over the trigger" if kind == "compress" else "arrival limit",
            )
        )

    def _before(self, request: Request, first: int) -> int:
        """Uncalibrated tokens of the request before message ``first``, none of which changed."""
        tokens = 0
        for i in request.indexes():
            if i == first:
                break
            tokens += self.sizes[i]
        return tokens

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
