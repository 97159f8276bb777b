"""A draft policy tried out on one session: one replay, beside the policy in force and none.

What a keystroke costs is ``try_out``; everything else is read off its table and from counts. Nothing is stored
and nothing of the session is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import time
from typing import Any

from compression.engine.calibration import Calibration
from compression.engine.costs import ledger_of
from compression.engine.distances import reference_distances
from compression.engine.edits import Edit, Event
from compression.engine.history import Course
from compression.engine.invariants import prove
from compression.engine.policy import Policy
from compression.engine.pricing import Prices, prices_for
from compression.engine.replay import Replay, replay
from compression.engine.summary import summarize
from compression.engine.terms import Terms, models_of, terms_of
from compression.engine.turns import TurnTable, tabulate
from compression.project_peaks import ProjectPeaks
from compression.replay_document import ReplayDocument
from compression.warm_sessions import WarmSession

SHARE = 0.90
RULE = "rule "
"""Stands before a rule's number in the place of its reason, while a draft is replayed: tells whose pin it is."""


@dataclass(frozen=True, slots=True)
class Line:
    """One consequence in words; ``mood`` is good, warn, bad or empty."""

    text: str
    mood: str = ""


@dataclass(frozen=True)
class Trial:
    """A draft's replay beside what it is held against. ``in_force`` and ``none`` are stored replays; ``today`` is the
    Unix time that "today's prices" are asked for."""

    draft: Policy
    replay: Replay
    table: TurnTable
    summary: Mapping[str, Any]
    in_force: Policy
    before: ReplayDocument
    none: ReplayDocument
    peaks: ProjectPeaks
    today: float = field(default_factory=time)

    @property
    def acts(self) -> bool:
        """Whether the draft ever starts an event of its own."""
        return self.draft.strategy in ("threshold", "sliding")

    @property
    def limit(self) -> int:
        return self.replay.context_window

    @property
    def calibration(self) -> Calibration:
        return self.replay.calibration

    @property
    def course(self) -> Course:
        return self.replay.course

    @cached_property
    def results(self) -> list[int]:
        """Uncalibrated tokens of every tool result, the smallest first."""
        return sorted(tokens for _, _, tokens in self.course.results)

    def part_tokens(self, kind: str) -> list[int]:
        """Uncalibrated tokens of every part of a kind that may be changed: those with a signature never may."""
        transcript = self.course.transcript
        return [
            tokens
            for message, counts in zip(transcript.messages, transcript.counts, strict=True)
            if message.index not in self.course.excluded
            for part, tokens in zip(message.parts, counts, strict=True)
            if part.kind == kind and not part.signature
        ]

    def events(self, *kinds: str) -> list[Event]:
        """The draft's events of some kinds; ``compress`` when none is named."""
        wanted = kinds or ("compress",)
        return [event for event in self.replay.events if event.kind in wanted]

    @cached_property
    def stubs(self) -> list[Edit]:
        """What the draft stubs, whenever it does so."""
        return [edit for event in self.replay.events for edit in event.edits if edit.kind == "stub"]

    @cached_property
    def fullest(self) -> int:
        """The turn whose window is largest before the draft does anything."""
        before = self.table.before
        return max(range(len(before)), key=before.__getitem__) if before else 0

    @cached_property
    def first_over(self) -> int | None:
        """The first turn above the draft's trigger, had no policy acted."""
        threshold = self.draft.trigger_ratio * self.limit - self.draft.reserve_output
        return next((turn for turn, tokens in enumerate(self.table.before) if tokens > threshold), None)

    def zone(self, name: str, turn: int) -> int:
        """Calibrated tokens of a zone as the draft leaves it."""
        return self.table.zones[name][turn]

    def pinned_by(self, rank: int) -> list[int]:
        """The messages that the rule at a place of the list ever keeps from being compressed."""
        return self._pinned.get(f"{RULE}{rank}", [])

    def pinned_for(self, reason: str) -> list[int]:
        return self._pinned.get(reason, [])

    @cached_property
    def _pinned(self) -> dict[str, list[int]]:
        found: dict[str, dict[int, None]] = {}
        for _, pins in self.table.pinned:
            for message, reason in pins.items():
                found.setdefault(reason, {})[message] = None
        return {reason: list(messages) for reason, messages in found.items()}

    def tokens_of(self, messages: Sequence[int]) -> int:
        """Calibrated tokens of some messages as they were logged."""
        return round(self.calibration.k * sum(self.course.sizes[i] for i in messages))

    @cached_property
    def distances(self) -> list[int]:
        """How far back the agent refers, in uncalibrated tokens, the nearest first; worked out once a session."""
        key = f"tuning distances {self.course.history}"
        if key not in self.course.transcript.memo:
            self.course.transcript.memo[key] = sorted(distance for _, distance in reference_distances(self.course))
        known: list[int] = self.course.transcript.memo[key]
        return known

    @property
    def usual_distance(self) -> int | None:
        """90 % of what the agent refers back to lies within so many uncalibrated tokens."""
        known = self.distances
        return known[min(len(known) - 1, int(SHARE * len(known)))] if known else None

    @cached_property
    def terms(self) -> Terms:
        """What the session's calls were charged for, at its own date."""
        return terms_of(self.course.transcript, self.replay.prices)

    @cached_property
    def prices_today(self) -> Mapping[str, Prices]:
        """The present prices of the session's models, a project's own before any table; without those unknown."""
        own = self.replay.prices
        found = {}
        for model in dict.fromkeys(models_of(self.course.transcript)):
            set_here = own if isinstance(own, Prices) else (own or {}).get(model)
            prices = set_here or prices_for(model, self.today)
            if prices is not None:
                found[model] = prices
        return found

    @cached_property
    def break_evens_today(self) -> list[float]:
        """For each event of the draft that has one, the further calls after which it pays at today's prices."""
        if not self.prices_today:
            return []
        ledger = ledger_of(replace(self.replay, prices=self.prices_today))
        return [calls for calls in ledger.break_evens if calls is not None]

    @cached_property
    def changed_most(self) -> int | None:
        """The turn whose window differs most from the one that the policy in force leaves; None where none does."""
        pairs = list(zip(self.table.after, self.before.table.after, strict=True))
        differences = [abs(here - there) for here, there in pairs]
        largest = max(differences, default=0)
        return differences.index(largest) if largest else None

    @cached_property
    def is_same(self) -> bool:
        """Whether the draft leaves every window of the session as the policy in force does."""
        return self.table.after == self.before.table.after and _texts(self.replay.events) == _texts(self.before.events)


def _texts(events: Sequence[Event]) -> list[tuple[int, int, int, str]]:
    return [(event.turn, edit.message, edit.part, edit.text) for event in events for edit in event.edits]


def try_out(
    warm: WarmSession,
    draft: Policy,
    *,
    in_force: Policy,
    before: ReplayDocument,
    none: ReplayDocument,
    peaks: ProjectPeaks,
) -> Trial:
    """The replay, its table and its summary: what any rerun of the session works out."""
    pins = tuple(rule.model_copy(update={"reason": f"{RULE}{rank}"}) for rank, rule in enumerate(draft.pins))
    marked = draft.model_copy(update={"pins": pins})
    with warm.lock:
        subject = warm.subject
        done = replay(subject.transcript, marked, subject.calibration, stubber=warm.stubber, prices=subject.prices)
        table = tabulate(done)
        # What was needed later, and whether stubs tell the truth, is no part of what is shown while one types.
        summary = summarize(done, table, lost=(), proof=prove(done, claims_too=False))
    return Trial(draft, done, table, summary, in_force, before, none, peaks)
