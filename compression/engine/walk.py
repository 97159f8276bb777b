"""Walks the turns of a session under a policy and decides when something happens.

What is done is proposed by others - the planner, the ladder, a reference policy -; here it is carried out, counted
and recorded. One pass, O(messages + changed text).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from compression.engine.calibration import Calibration
from compression.engine.columns import columns_of, window_tokens
from compression.engine.common_prefix import unchanged_beginning
from compression.engine.distances import recent_budgets
from compression.engine.economy import Economy, Prospect
from compression.engine.edits import Edit, Event, EventKind, Step
from compression.engine.history import CLEARED_TOKENS, Course, Request
from compression.engine.ladder import Ladder
from compression.engine.pins import Pins
from compression.engine.planner import Known, Planner, Proposal
from compression.engine.policy import Policy
from compression.engine.references import REFERENCES
from compression.engine.references.protocol import Now
from compression.engine.stubs import Stubber
from compression.engine.zones import Cutter, Zones

AT_RISK = 0.92
"""Above this usage an event goes ahead however little it frees."""

TRUNCATE_ABOVE = 0.90
ARCHIVE_ABOVE = 0.95

THRASH_EVENTS = 3
THRASH_RATIO = 0.10
CLEARED_TEXT = "[cleared by the agent]"


class _Refusal(NamedTuple):
    """Why nothing was compressed; ``is_final``: the ladder is not climbed for it either."""

    reason: str = ""
    is_final: bool = False


@dataclass
class Walk:
    """The state of one replay while it runs. ``limit`` = context window in tokens.

    ``forced``: an event starts below the trigger as well, and then aims at its share of what is there.
    """

    course: Course
    policy: Policy
    calibration: Calibration
    limit: int
    stubber: Stubber
    known: Known = field(default_factory=Known)
    economy: Economy | None = None
    forced: bool = False
    events: list[Event] = field(default_factory=list)
    windows: list[int] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    budgets: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.budgets = tuple(recent_budgets(self.course, self.policy))
        self._columns = columns_of(self.course, self.calibration)
        self._pins = Pins(self.course, self.policy)
        self._cutter = Cutter(self.course, self._pins, self.budgets)
        self._standing = self._cutter.standing
        self._planner = Planner(self.course, self.policy, self.stubber, self.known)
        self._ladder = Ladder(self.course, self._planner, self.stubber, self.limit, self.known.stubs)
        self._boundaries = {b.turn for b in self.course.transcript.boundaries if self.course.history == "as-recorded"}
        self._stopped = self._floor_reached = self._floor_before = False
        self._guarded_from = 0  # events before this one count for the thrash guard no more
        self._aggressive_from = 0
        self._refused = (0, 0.0)  # end of what was compressible, tokens that it would have freed

    def run(self, first: int = 0) -> None:
        """Every turn from ``first`` on; the windows of earlier ones stay as they are."""
        policy = self.policy
        own = policy.strategy in ("threshold", "sliding")
        if not own and policy.strategy != "reference" and not self._boundaries:
            self.windows = list(self._columns.windows)
            return
        begun = None
        if policy.strategy == "reference" and policy.reference is not None:
            reference = REFERENCES[policy.reference]
            begun = reference.begin(reference.parameters.model_validate(policy.parameters))
        self.windows = list(self._columns.windows[:first])
        for t in range(first, len(self.course.windows)):
            if t in self._boundaries:
                self._record_boundary(t)
            if own and policy.arrival_limit_tokens is not None:
                self._arrive(t, policy.arrival_limit_tokens)
            if own:
                self._consider(t)
            elif begun is not None:
                self._refer(t, begun.act)
            self.windows.append(self.tokens(t))

    # -- figures

    def tokens(self, turn: int) -> int:
        """Calibrated tokens of a turn's request as things stand."""
        standing = self._standing
        if standing.is_untouched:
            return self._columns.windows[turn]
        return window_tokens(self.calibration, standing.counted(turn), self.course.unknown_left[turn])

    def _usage(self, tokens: int) -> float:
        return (tokens + self.policy.reserve_output) / self.limit

    def _unchanged(self, turn: int, step: Step) -> tuple[int | None, int]:
        """(first message that a step changes, uncalibrated tokens of the window before its first change)."""
        standing = self._standing
        request, note = standing.request(turn), standing.note(turn)
        first = _first(request, (*(edit.message for edit in step.edits), *step.left))
        ordinal = len(request) if first is None else request.ordinal(first)
        if note is not None and step.left:
            ordinal = min(len(request) if ordinal is None else ordinal, note.ordinal)
        tokens = sum(standing.sizes[i] for i in request.indexes(0, ordinal))
        if note is not None and not step.left and ordinal is not None and note.ordinal <= ordinal:
            tokens += note.tokens
        if first is not None and first not in step.left and ordinal == request.ordinal(first):
            transcript, count = self.course.transcript, self.stubber.counter.count
            message, counts = transcript.messages[first], transcript.counts[first]
            tokens += unchanged_beginning(message, counts, standing.edits, step.edits, count)
        return first, tokens

    def _carry_out(self, t: int, kind: EventKind, step: Step, *, goal: float | None = None, **more: int) -> Event:
        """Do what a step says and record it. ``goal`` = tokens it should have reached with all there is."""
        before = self.tokens(t)
        first, unchanged = self._unchanged(t, step)
        event = Event(
            turn=t,
            kind=kind,
            before=before,
            after=before,
            edits=step.edits,
            first_changed_message=first,
            usage_ratio=round(self._usage(before), 6),
            cache_prefix_survival=self._survival(unchanged, before),
            reason=step.reason,
            left=step.left,
            note=step.note,
            recent_budget=more.get("recent_budget"),
        )
        self._cutter.tell(event)
        after = self.tokens(t)
        missed = goal is not None and after + self.policy.reserve_output > goal
        event = replace(event, after=after, target_unreachable=after if missed else None)
        self.events.append(event)
        return event

    def _survival(self, unchanged: int, before: int) -> float:
        # Silently cleared tokens have no place in the window, so the part can come out larger than the whole.
        return round(min(1.0, self.calibration.tokens(unchanged) / before), 6) if before else 1.0

    # -- what others did

    def _record_boundary(self, t: int) -> None:
        """What the agent did at this turn, as an event: its history is what every policy here starts from."""
        course, transcript, standing = self.course, self.course.transcript, self._standing
        previous = standing.request(t - 1) if t else Request((), 0, 0)
        note = standing.note(t - 1) if t else None
        arrived = Request(previous.kept, previous.start, course.windows[t].end)
        gained = course.prefix[arrived.end] - course.prefix[previous.end]
        counted = (standing.counted(t - 1) if t else 0) + gained
        before = window_tokens(self.calibration, counted, course.unknown_left[t - 1] if t else 0)
        edits = tuple(
            Edit(i, j, "cleared", CLEARED_TEXT, transcript.counts[i][j], CLEARED_TOKENS, reason="cleared by the agent")
            for turn, i, j in course.cleared
            if turn == t
        )
        request = standing.request(t)
        left = tuple(i for i in arrived.indexes() if request.ordinal(i) is None)
        first = _first(arrived, (*left, *(edit.message for edit in edits)))
        ordinal = None if first is None else arrived.ordinal(first)
        unchanged = sum(standing.sizes[i] for i in arrived.indexes(0, ordinal))
        if note is not None and (ordinal is None or note.ordinal <= ordinal):
            unchanged += note.tokens
        event = Event(
            turn=t,
            kind="recorded",
            before=before,
            after=before,
            edits=edits,
            first_changed_message=first,
            cache_prefix_survival=self._survival(unchanged, before),
            usage_ratio=round(self._usage(before), 6),
            reason=", ".join(dict.fromkeys(b.kind for b in transcript.boundaries if b.turn == t)),
            left=left,
        )
        self._cutter.tell(event)
        self.events.append(replace(event, after=self.tokens(t)))

    def _refer(self, t: int, act: Callable[[Now], Step | None]) -> None:
        standing = self._standing
        step = act(
            Now(
                turn=t,
                request=standing.request(t),
                tokens=self.tokens(t),
                limit=self.limit,
                calibration=self.calibration,
                course=self.course,
                sizes=standing.sizes,
                edits=standing.edits,
                note=standing.note(t),
                counter=self.stubber.counter,
            )
        )
        if step is not None and (step.edits or step.left):
            self._carry_out(t, "compress", step)

    # -- our own

    def _arrive(self, t: int, limit: int) -> None:
        """Stub what is larger than the arrival limit before it was ever sent."""
        first, end = self.course.windows[t - 1].end if t else 0, self.course.windows[t].end
        if not any(tokens > limit for _, _, tokens in self.course.results_between(first, end)):
            return
        edits = self._planner.arrivals(first, self._cutter.at(t), self._pins.at(t), limit)
        if edits:
            self._carry_out(t, "arrival", Step(tuple(edits), reason="arrival limit"))

    def _consider(self, t: int) -> None:
        """An event, when the window is over the trigger - or free, because the cache is cold."""
        policy = self.policy
        tokens = self.tokens(t)
        over = tokens + policy.reserve_output > policy.trigger_ratio * self.limit
        is_free = not over and policy.prefer_idle and self.economy is not None and self.economy.is_cold(t)
        is_free = is_free and tokens + policy.reserve_output > policy.target_ratio * self.limit
        if not (over or is_free or self.forced):
            return
        known, self._floor_before = len(self.events), self._floor_reached
        refusal = _Refusal() if self._stopped else self._compress(t, tokens, is_free=is_free)
        if policy.ladder and not is_free and not refusal.is_final:
            self._climb(t)
        if len(self.events) == known and refusal.reason and over:
            self._skip(t, "skip", refusal.reason)
        self._guard(t)

    def _compress(self, t: int, tokens: int, *, is_free: bool) -> _Refusal:
        """Compress down to the target. Why not, when that was not done."""
        policy = self.policy
        usage = self._usage(tokens)
        zones = self._cutter.at(t)
        end = _end_of_compressible(zones)
        if self._refused[0] and usage <= AT_RISK and not (is_free or self.forced):
            # What was too little then is enough now only if as much has come.
            fresh = self.calibration.k * (self.course.prefix[end] - self.course.prefix[min(self._refused[0], end)])
            if self._refused[1] + fresh < policy.min_reclaim_tokens:
                return _Refusal(self._too_little(self._refused[1] + fresh, zones))
        self._planner.admit(end)
        goal = (policy.trigger_ratio if policy.strategy == "sliding" else policy.target_ratio) * self.limit
        if self.forced:
            goal = policy.target_ratio * min(self.limit, tokens)
        wanted = (tokens + policy.reserve_output - goal) / self.calibration.k
        proposal = self._planner.propose(zones, wanted, self._standing.edits)
        reclaim = self.calibration.k * proposal.freed
        saves = usage > 1 and usage - reclaim / self.limit <= 1
        is_urgent = saves or self.forced or (usage > AT_RISK and not self._floor_reached)
        refusal = _Refusal()
        if not proposal.edits or (reclaim < policy.min_reclaim_tokens and not is_urgent):
            refusal = _Refusal(self._too_little(reclaim, zones))
            self._refused = (end, reclaim)
        elif policy.dollar_gate and self.economy is not None and not is_free and usage <= AT_RISK and not self.forced:
            refusal = _Refusal(self._too_dear(t, tokens, reclaim, proposal), is_final=True)
        if refusal.reason:
            self._planner.give_back(proposal)
            return refusal
        step = Step(tuple(proposal.edits), reason="the cache is cold" if is_free else self._why())
        event = self._carry_out(t, "compress", step, goal=goal if proposal.exhausted else None)
        self._floor_reached = event.target_unreachable is not None
        self._refused = (0, 0.0)
        return _Refusal()

    def _why(self) -> str:
        return "asked for" if self.forced else "over the trigger"

    def _too_little(self, reclaim: float, zones: Zones) -> str:
        if not zones.compressible():
            return "everything is sacred"
        if reclaim < 1:
            return "nothing left to compress"
        return f"would free {round(reclaim):,} tokens, fewer than {self.policy.min_reclaim_tokens:,}"

    def _too_dear(self, t: int, tokens: int, reclaim: float, proposal: Proposal) -> str:
        """Whether an event pays back too late, in words; empty when it does not, or when nobody knows."""
        assert self.economy is not None
        if self.economy.is_cold(t):
            return ""
        _, unchanged = self._unchanged(t, Step(tuple(proposal.edits)))
        prospect = Prospect(t, tokens, round(tokens - reclaim), self.calibration.tokens(unchanged))
        calls, horizon = self.economy.break_even(prospect), self.policy.break_even_horizon
        if calls is None or calls <= horizon:
            return ""
        return f"would pay back after {calls:,.1f} calls, later than {horizon:,}"

    def _climb(self, t: int) -> None:
        """The fallback ladder, by severity; each rung only where the one before was not enough."""
        policy, start = self.policy, len(self.events)
        if not self._stopped and self._over(t, policy.trigger_ratio):
            self._aggressive(t)
        if self._over(t, TRUNCATE_ABOVE):
            self._make_room(t)
        if self._over(t, 1):
            self._rezone(t)
        done = {event.kind for event in self.events[start:]}
        if done & {"truncate", "archive"}:
            self._stopped = False
            self._guarded_from = len(self.events)
        if done:
            self._floor_reached = self._over(t, policy.target_ratio)
        if self._over(t, 1):
            self._incompressible(t)

    def _make_room(self, t: int) -> None:
        """The oldest messages leave; where all that may leave is not enough, a new window tells the state of the work.

        Only a new window that would not fit gives way to one without that state.
        """
        tokens, goal = self.tokens(t) + self.policy.reserve_output, self.policy.target_ratio * self.limit
        zones, standing = self._cutter.at(t), self._standing
        note = standing.note(t)
        kind: EventKind = "truncate"
        step = self._ladder.truncate(zones, standing, note, (tokens - goal) / self.calibration.k)
        if self._usage_after(t, step) > ARCHIVE_ABOVE:
            archive = self._ladder.archive(zones, standing, note)
            if archive.left and (self._usage_after(t, archive) <= 1 or self._usage_after(t, step) > 1):
                kind, step = "archive", archive
        if self._is_worth(t, step):
            self._step(t, kind, step)

    def _usage_after(self, t: int, step: Step) -> float:
        return self._usage(round(self.tokens(t) - self.calibration.k * self._freed(t, step)))

    def _is_worth(self, t: int, step: Step) -> bool:
        """Whether a rung frees enough to break the prompt cache for it: all is enough when the window overflows,
        and once when it is about to."""
        return self._frees_enough(t, self._freed(t, step))

    def _frees_enough(self, t: int, freed: int) -> bool:
        if freed <= 0:
            return False
        usage = self._usage(self.tokens(t))
        at_risk = usage > 1 or (usage > AT_RISK and not self._floor_before)
        return at_risk or self.calibration.k * freed >= self.policy.min_reclaim_tokens

    def _freed(self, t: int, step: Step) -> int:
        """Uncalibrated tokens that a step takes out of the window of a turn."""
        standing = self._standing
        freed = sum(_stands(standing.edits, edit) - edit.tokens_after for edit in step.edits)
        freed += sum(standing.sizes[i] for i in step.left)
        if step.note is not None:
            earlier = standing.note(t)
            freed -= step.note.tokens - (earlier.tokens if earlier else 0)
        return freed

    def _over(self, t: int, ratio: float) -> bool:
        return self._usage(self.tokens(t)) > ratio

    def _step(self, t: int, kind: EventKind, step: Step, **more: int) -> None:
        if step.edits or step.left:
            self._carry_out(t, kind, step, **more)

    def _aggressive(self, t: int) -> None:
        """Everything to its floor. Not again before enough has come for it to be worth an event."""
        zones = self._cutter.at(t)
        compressible = _end_of_compressible(zones)
        fresh = self.course.prefix[compressible] - self.course.prefix[min(self._aggressive_from, compressible)]
        if not self._frees_enough(t, fresh):
            return
        self._aggressive_from = compressible
        step = self._ladder.aggressive(zones, self._standing.edits)
        if self._is_worth(t, step):
            self._carry_out(t, "aggressive", step)

    def _rezone(self, t: int) -> None:
        """Halve the recent zone down to one message, until the window fits; what it let go goes to its floor."""
        zones = self._cutter.at(t)
        budget = zones.recent_tokens_actual
        while budget > 0:
            budget //= 2
            wider = self._cutter.at(t, budget)
            if wider.recent == zones.recent and budget:
                continue
            step = self._ladder.aggressive(wider, self._standing.edits)
            if step.edits:
                reason = f"sacred content alone is too large: the recent zone down to {budget:,} tokens"
                self._carry_out(t, "rezone", replace(step, reason=reason), recent_budget=budget)
            if not self._over(t, 1):
                return
        zones = self._cutter.at(t, 0)
        self._step(
            t,
            "archive",
            self._ladder.archive(zones, self._standing, self._standing.note(t)),
            recent_budget=0,
        )

    def _incompressible(self, t: int) -> None:
        self._skip(t, "incompressible", "what nobody may touch is larger than the window")
        if not any("larger than the window" in alarm for alarm in self.alarms):
            self.alarms.append(f"turn {t}: what nobody may touch is larger than the window")

    def _skip(self, t: int, kind: EventKind, reason: str) -> None:
        """Record that something was not done, once for all calls in a row for which that stays so."""
        at = next((n for n in reversed(range(len(self.events))) if self.events[n].kind == kind), None)
        if at is not None and self.events[at].turn + self.events[at].repeats == t - 1:
            self.events[at] = replace(self.events[at], repeats=self.events[at].repeats + 1)
            return
        tokens = self.tokens(t)
        self.events.append(Event(t, kind, tokens, tokens, usage_ratio=round(self._usage(tokens), 6), reason=reason))

    def _guard(self, t: int) -> None:
        """Stop after three turns in a row in which making things shorter freed little, until messages leave."""
        if not self.policy.thrash_guard or self._stopped or not self.events or self.events[-1].turn < t:
            return
        by_turn: dict[int, list[Event]] = {}
        for event in self.events[self._guarded_from :]:
            if event.kind in ("compress", "aggressive"):
                by_turn.setdefault(event.turn, []).append(event)
        if t not in by_turn or len(by_turn) < THRASH_EVENTS:
            return
        done = [*by_turn.values()][-THRASH_EVENTS:]
        if all(events[0].before - events[-1].after < THRASH_RATIO * events[0].before for events in done):
            self._stopped = True
            alarm = f"{THRASH_EVENTS} events in a row freed less than {THRASH_RATIO:.0%} each: compression stopped"
            self.alarms.append(f"turn {t}: {alarm}")
            last = done[-1][-1]
            self.events.append(Event(t, "stopped", last.after, last.after, usage_ratio=last.usage_ratio, reason=alarm))


def _end_of_compressible(zones: Zones) -> int:
    """The first message of the recent zone."""
    return zones.request[zones.recent] if zones.recent < len(zones.request) else zones.request.end


def _stands(standing: dict[tuple[int, int], Edit], edit: Edit) -> int:
    earlier = standing.get((edit.message, edit.part))
    return edit.tokens_before if earlier is None else earlier.tokens_after


def _first(request: Request, messages: Iterable[int]) -> int | None:
    """Which of ``messages`` stands first in a request."""
    found = [(ordinal, i) for i in messages if (ordinal := request.ordinal(i)) is not None]
    return min(found)[1] if found else None


def with_calls_after(events: Sequence[Event], turns: int) -> tuple[Event, ...]:
    """Each event with the number of calls that followed it before the next one that changed something."""
    done: list[Event] = []
    following = turns
    for event in reversed(events):
        done.append(replace(event, calls_after=max(0, following - event.turn - 1)))
        if event.changes or event.reclaimed:
            following = event.turn
    return tuple(reversed(done))
