"""The contexts of the comparison pages: one session under two to six policies, and a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from compression.alarms import alarms
from compression.compare import compared
from compression.compare_forms import LETTERS
from compression.compare_runs import BY, by_of, newest_run, page_of, project_comparison
from compression.compare_windows import window_difference
from compression.engine.edits import Event
from compression.event_words import STEPS, did
from compression.forms import PageState
from compression.models import Run
from compression.policy_keys import Choice
from compression.reference_facts import reference_facts
from compression.replay_document import ReplayDocument
from compression.window_strip import strip
from sessions.models import Project, Session

EVENTS_SHOWN = 40
SESSIONS_OFFERED = 50


@dataclass(frozen=True, slots=True)
class Side:
    """One of the policies, by its letter."""

    letter: str
    choice: Choice

    @property
    def name(self) -> str:
        return f"{self.letter}: {self.choice.label}"


@dataclass(frozen=True, slots=True)
class Lineup:
    """What is compared: two to six policies in a project, and on which session. The first is what the others are held
    against; ``beside`` is the place of the one whose window stands beside its."""

    project: Project
    choices: tuple[Choice, ...]
    session: Session | None = None
    beside: int = 1

    @property
    def sides(self) -> list[Side]:
        return [Side(letter, choice) for letter, choice in zip(LETTERS, self.choices, strict=False)]

    @property
    def query(self) -> dict[str, Any]:
        """What an address needs to name all of it but the turn."""
        parts: dict[str, Any] = {side.letter.lower(): side.choice.key for side in self.sides}
        if self.session is not None:
            parts["session"] = self.session.pk
        if self.beside != 1:
            parts["beside"] = LETTERS[self.beside].lower()
        return parts

    def url(self, *, name: str = "compare", **changes: Any) -> str:
        """An address of this comparison with some of it changed; None takes a part away."""
        path = reverse(f"compression:{name}", args=[self.project.slug])
        parts = self.query | changes
        return f"{path}?{urlencode({key: value for key, value in parts.items() if value is not None})}"

    @property
    def can_grow(self) -> bool:
        return len(self.choices) < len(LETTERS)

    @property
    def next_field(self) -> str:
        """The name of the field that one more policy would be asked for in."""
        return LETTERS[len(self.choices)].lower() if self.can_grow else ""

    @property
    def swapped_url(self) -> str:
        """The same with the first two policies in each other's place."""
        keys = [choice.key for choice in self.choices]
        return self.url(a=keys[1], b=keys[0])


def session_state(lineup: Lineup, choice: Choice, turn: int) -> PageState:
    """The session page under one of the policies."""
    assert lineup.session is not None
    path = reverse("compression:session", args=[lineup.project.slug, lineup.session.pk])
    return PageState(path=path, turn=turn, policy_name=choice.key, side="after", chosen=choice)


def window_context(lineup: Lineup, documents: Sequence[ReplayDocument], turn: int) -> dict[str, Any]:
    """What depends on the turn: the zones of every window, and what the first and one other hold differently."""
    assert lineup.session is not None
    first, other = documents[0], documents[lineup.beside]
    marks = sorted({turn for document in documents for turn in document.landmarks})
    earlier = max((t for t in marks if t < turn), default=None)
    later = min((t for t in marks if t > turn), default=None)
    lanes = []
    for at, (side, document) in enumerate(zip(lineup.sides, documents, strict=True)):
        state = session_state(lineup, side.choice, turn)
        zones = strip(document, turn, after=True, reserve=side.choice.policy.reserve_output)
        lanes.append((side, state, zones, lineup.url(turn=turn, beside=LETTERS[at].lower()) if at else ""))
    return {
        "project": lineup.project,
        "session": lineup.session,
        "lineup": lineup,
        "turn": turn,
        "last": max(first.turns - 1, 0),
        "label": first.labels[turn],
        "lanes": lanes,
        "other": lineup.sides[lineup.beside],
        "state_a": lanes[0][1],
        "state_b": lanes[lineup.beside][1],
        "window": window_difference(lineup.session, first, other, turn),
        "previous_event": earlier,
        "next_event": later,
        "previous_event_url": None if earlier is None else lineup.url(turn=earlier),
        "next_event_url": None if later is None else lineup.url(turn=later),
    }


@dataclass(frozen=True, slots=True)
class EventOf:
    """An event and whose it is."""

    side: str
    event: Event
    url: str

    @property
    def said(self) -> str:
        return did(self.event)

    @property
    def is_step(self) -> bool:
        return self.event.kind in STEPS


def events_of(lineup: Lineup, documents: Sequence[ReplayDocument]) -> list[EventOf]:
    """The events of all that changed something, in the order of their turns."""
    rows = [
        (event.turn, side.letter, event)
        for side, document in zip(lineup.sides, documents, strict=True)
        for event in document.events
        if event.changes or event.kind in STEPS
    ]
    return [
        EventOf(letter, event, lineup.url(turn=turn)) for turn, letter, event in sorted(rows, key=lambda row: row[:2])
    ]


def session_context(lineup: Lineup, documents: Sequence[ReplayDocument], turn: int) -> dict[str, Any]:
    """The page of one session. Its size does not depend on the session's."""
    events = events_of(lineup, documents)
    together = list(zip(lineup.sides, documents, strict=True))
    context: dict[str, Any] = {
        "project": lineup.project,
        "session": lineup.session,
        "lineup": lineup,
        "turns": documents[0].turns,
        "figures": compared([document.summary for document in documents]),
        "unpriced": sorted({name for document in documents for name in document.cost.unpriced}),
        "has_dollars": any(document.cost.costs is not None for document in documents),
        "alarms": [
            (side.letter, alarm, "" if alarm.turn is None else lineup.url(turn=alarm.turn))
            for side, document in together
            for alarm in alarms(document.summary, document.events, document.table.overruns, side.choice.policy)
        ],
        "references": [
            (side.letter, facts) for side in lineup.sides if (facts := reference_facts(side.choice.policy)) is not None
        ],
        "events": events[:EVENTS_SHOWN],
        "events_more": max(0, len(events) - EVENTS_SHOWN),
        "figure_url": lineup.url(name="compare-timeline"),
        "dollars_url": lineup.url(name="compare-dollars"),
        "project_url": lineup.url(session=None),
    }
    return context | (window_context(lineup, documents, turn) if documents[0].turns else {})


def project_context(lineup: Lineup, state: dict[str, str], by: str) -> dict[str, Any]:
    """The page of a project: the tables where every policy has a run, else what is missing."""
    runs: list[tuple[Side, Run | None]] = [(side, newest_run(lineup.project, side.choice)) for side in lineup.sides]
    context: dict[str, Any] = {
        "project": lineup.project,
        "lineup": lineup,
        "runs": runs,
        "missing": [side for side, run in runs if run is None],
        "going": [run for _, run in runs if run is not None and not run.is_over],
        "state": state,
    }
    found = [run for _, run in runs if run is not None]
    if len(found) < len(runs):
        newest = Session.objects.filter(project=lineup.project).order_by("-pk").only("title", "key", "turn_count")
        return context | {"offered": [(one, lineup.url(session=one.pk)) for one in newest[:SESSIONS_OFFERED]]}
    figure = by_of(by)
    page = page_of(found, figure, text=state["q"], sort=state["sort"], after=state["after"])
    return context | {
        "comparison": project_comparison(found, figure),
        "page": page,
        "by": figure,
        "by_choices": BY,
        "state": state | {"sort": page.sort, "by": figure.name},
        "rows": [(row, lineup.url(session=row.session.pk)) for row in page.rows],
        "sort_letters": [(letter.lower(), f"-{letter.lower()}", letter) for letter in LETTERS[: len(found)]],
    }
