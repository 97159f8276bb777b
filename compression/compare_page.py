"""The contexts of the comparison pages: one session under two policies, and a project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from compression.alarms import alarms
from compression.compare import compared, points
from compression.compare_runs import newest_run, page_of, project_comparison
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
class Pair:
    """What is compared: two policies in a project, and on which session."""

    project: Project
    a: Choice
    b: Choice
    session: Session | None = None

    def url(self, *, name: str = "compare", **query: Any) -> str:
        """An address of this comparison with some of it changed; None takes a part away."""
        parts: dict[str, Any] = {"a": self.a.key, "b": self.b.key}
        if self.session is not None:
            parts["session"] = self.session.pk
        parts |= query
        path = reverse(f"compression:{name}", args=[self.project.slug])
        return f"{path}?{urlencode({key: value for key, value in parts.items() if value is not None})}"


def session_state(pair: Pair, choice: Choice, turn: int) -> PageState:
    """The session page under one of the policies."""
    assert pair.session is not None
    path = reverse("compression:session", args=[pair.project.slug, pair.session.pk])
    return PageState(path=path, turn=turn, policy_name=choice.key, side="after", chosen=choice)


def window_context(pair: Pair, a: ReplayDocument, b: ReplayDocument, turn: int) -> dict[str, Any]:
    """What depends on the turn."""
    assert pair.session is not None
    marks = sorted({*a.landmarks, *b.landmarks})
    earlier = max((t for t in marks if t < turn), default=None)
    later = min((t for t in marks if t > turn), default=None)
    sides = []
    for name, choice, document in (("A", pair.a, a), ("B", pair.b, b)):
        state = session_state(pair, choice, turn)
        reserve = choice.policy.reserve_output
        sides.append((name, choice, state, strip(document, turn, after=True, reserve=reserve)))
    return {
        "project": pair.project,
        "session": pair.session,
        "pair": pair,
        "turn": turn,
        "last": max(a.turns - 1, 0),
        "label": a.labels[turn],
        "sides": sides,
        "state_a": sides[0][2],
        "state_b": sides[1][2],
        "window": window_difference(pair.session, a, b, turn),
        "previous_event": earlier,
        "next_event": later,
        "previous_event_url": None if earlier is None else pair.url(turn=earlier),
        "next_event_url": None if later is None else pair.url(turn=later),
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


def events_of(pair: Pair, a: ReplayDocument, b: ReplayDocument) -> list[EventOf]:
    """The events of both that changed something, in the order of their turns."""
    return [
        EventOf(side, event, pair.url(turn=event.turn))
        for _, side, event in sorted(
            (
                (event.turn, side, event)
                for side, document in (("A", a), ("B", b))
                for event in document.events
                if event.changes or event.kind in STEPS
            ),
            key=lambda row: row[:2],
        )
    ]


def session_context(pair: Pair, a: ReplayDocument, b: ReplayDocument, turn: int) -> dict[str, Any]:
    """The page of one session. Its size does not depend on the session's."""
    events = events_of(pair, a, b)
    context: dict[str, Any] = {
        "project": pair.project,
        "session": pair.session,
        "pair": pair,
        "turns": a.turns,
        "figures": compared(a.summary, b.summary),
        "alarms": [
            (name, alarm, "" if alarm.turn is None else pair.url(turn=alarm.turn))
            for name, choice, document in (("A", pair.a, a), ("B", pair.b, b))
            for alarm in alarms(document.summary, document.events, document.table.overruns, choice.policy)
        ],
        "references": [
            (name, facts)
            for name, choice in (("A", pair.a), ("B", pair.b))
            if (facts := reference_facts(choice.policy)) is not None
        ],
        "events": events[:EVENTS_SHOWN],
        "events_more": max(0, len(events) - EVENTS_SHOWN),
        "figure_url": pair.url(name="compare-timeline"),
        "project_url": pair.url(session=None),
        "sides_names": (("A", pair.a), ("B", pair.b)),
    }
    return context | (window_context(pair, a, b, turn) if a.turns else {})


def project_context(pair: Pair, state: dict[str, str]) -> dict[str, Any]:
    """The page of a project: the table where both policies have a run, else what is missing."""
    runs: list[tuple[str, Choice, Run | None]] = [
        (name, choice, newest_run(pair.project, choice)) for name, choice in (("A", pair.a), ("B", pair.b))
    ]
    context: dict[str, Any] = {
        "project": pair.project,
        "pair": pair,
        "runs": runs,
        "missing": [(name, choice) for name, choice, run in runs if run is None],
        "going": [run for _, _, run in runs if run is not None and not run.is_over],
        "state": state,
    }
    run_a, run_b = runs[0][2], runs[1][2]
    if run_a is None or run_b is None:
        newest = Session.objects.filter(project=pair.project).order_by("-pk").only("title", "key", "turn_count")
        return context | {"offered": [(one, pair.url(session=one.pk)) for one in newest[:SESSIONS_OFFERED]]}
    page = page_of(run_a, run_b, text=state["q"], sort=state["sort"], after=state["after"])
    return context | {
        "comparison": project_comparison(run_a, run_b),
        "page": page,
        "state": state | {"sort": page.sort},
        "rows": [(one, pair.url(session=one.pk), points(one.difference)) for one in page.rows],
    }
