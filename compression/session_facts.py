"""Facts of a session under a policy, for the page: the row of figures, alarms, why nothing was saved, tables.

Every share comes with what it is a share of. Reads a stored replay and the session's own row.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _

from compression.alarms import alarms
from compression.cost_comparison import Way
from compression.cost_events import EventCost, event_cost
from compression.cost_turns import CallCost, call_cost
from compression.cost_words import dollars
from compression.engine.edits import Event
from compression.engine.policy import Policy
from compression.event_words import STEPS, by_turn, did
from compression.forms import PageState
from compression.replay_document import ReplayDocument
from compression.saved_names import SAVED_NAMES
from compression.templatetags.costs import exactly
from sessions.models import Session
from sessions.templatetags.figures import grouped, percent, short

EVENTS_PAGE = 4
TURNS_PAGE = 40
LISTED = 20
ONE_ROW = 7
"""Figures that fit beside each other with the words under them."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure with the word under it; ``mood`` is good, warn, bad or empty; ``exact`` shows on hover."""

    figure: str
    word: str
    mood: str = ""
    exact: str = ""


@dataclass(frozen=True, slots=True)
class Banner:
    """``mood`` is info, warn or error; ``url`` leads to ``turn``."""

    mood: str
    title: str
    lines: tuple[str, ...] = ()
    remedy: str = ""
    turn: int | None = None
    url: str = ""


def facts(session: Session, document: ReplayDocument, policy: Policy) -> list[Fact]:
    """The row of figures over the page."""
    summary = document.summary
    rows = [Fact(str(document.turns), _("turns")), Fact(str(session.tool_call_count), _("tool calls"))]
    if not document.turns:
        return rows
    rows += [
        _peak(session, document),
        *_passes(document, policy),
        Fact(
            session.model or _("unknown model"),
            f"{rounded(document.context_window)} {_('window')}",
            exact=f"{session.model}, {_basis(document)}" if session.model else _basis(document),
        ),
    ]
    rows += _cost(document, policy)
    if summary["events"]:
        rows += [*_saved(summary, policy), *_retained(summary)]
    return rows


def _cost(document: ReplayDocument, policy: Policy) -> list[Fact]:
    """Dollars where every call has a price, and the share of the input that the cache gave, beside the observed one."""
    summary, found = document.summary, []
    if summary["cost_usd"] is not None:
        word = _("all %(calls)s calls with cache, under %(policy)s")
        word %= {"calls": grouped(document.turns), "policy": policy.name}
        found.append(Fact(dollars(summary["cost_usd"]), word, exact=f"${summary['cost_usd']}"))
    if summary["hit_rate"] is not None:
        whole = summary["cache_read"] + summary["cache_write"] + summary["cache_uncached"]
        word = _("of %(whole)s input from cache, simulated") % {"whole": short(whole)}
        if summary["observed_hit_rate"] is not None:
            word += ", " + _("observed %(share)s") % {"share": exactly(summary["observed_hit_rate"])}
        found.append(Fact(exactly(summary["hit_rate"]), word))
    return found


def _retained(summary: Any) -> list[Fact]:
    """What was needed later and could still be seen; where nothing was needed there is no evidence, and no figure."""
    if not (needed := summary["rlr_n"]):
        return []
    word = _("used later, still in view, n = %(n)s") % {"n": grouped(needed)}
    return [
        Fact(percent(summary["rlr_view"]), word),
        Fact(percent(summary["rlr_reach"]), _("reachable by recall, or in view")),
    ]


def across(count: int) -> int:
    """How many figures stand in a row of a wide page: all, or half of them over the other half."""
    return count if count <= ONE_ROW else -(-count // 2)


def rounded(tokens: int) -> str:
    """200000 -> "200K"; what is no whole thousand as everywhere else."""
    return f"{tokens // 1000}K" if tokens % 1000 == 0 and tokens < 1_000_000 else short(tokens)


def _basis(document: ReplayDocument) -> str:
    return f"{grouped(document.context_window)} tokens, from {document.window_basis}"


def _peak(session: Session, document: ReplayDocument) -> Fact:
    summary, recorded = document.summary, session.peak_context_tokens
    word = _("peak uncompacted") if document.boundaries else _("peak")
    word += ", " + (_("recorded %(figure)s") % {"figure": short(recorded)} if recorded else _("estimated"))
    share = summary["peak_before"] / summary["context_window"]
    mood = "bad" if share > 1 else "warn" if share > 0.75 else ""
    return Fact(f"~{short(summary['peak_before'])}", word, mood, exact=f"{grouped(summary['peak_before'])} tokens")


def _passes(document: ReplayDocument, policy: Policy) -> list[Fact]:
    summary = document.summary
    rows = []
    if policy.strategy in ("threshold", "sliding"):
        turn = trigger_turn(document, policy)
        figure = _("turn %(turn)s") % {"turn": turn} if turn is not None else _("never")
        word = _("passes the trigger, %(share)s") % {"share": percent(policy.trigger_ratio)}
        rows.append(Fact(figure, word, "warn" if turn is not None else ""))
    turn = summary["overflow_turn_none"]
    if turn is not None:
        rows.append(Fact(_("turn %(turn)s") % {"turn": turn}, _("overflows without a policy"), "bad"))
        ours = summary["overflow_turn"]
        if ours is None:
            rows.append(Fact(_("never"), _("overflows under %(policy)s") % {"policy": policy.name}, "good"))
        else:
            rows.append(
                Fact(
                    _("turn %(turn)s") % {"turn": ours},
                    _("overflows under %(policy)s") % {"policy": policy.name},
                    "bad",
                )
            )
    return rows


def _saved(summary: Any, policy: Policy) -> list[Fact]:
    rows = [
        ("session_saved", summary["sent_before"]),
        ("request_saved", summary["request_tokens"]),
        ("tool_saved", summary["tool_before"]),
    ]
    under = _("under %(policy)s") % {"policy": policy.name}
    found = [
        Fact(percent(share), f"{SAVED_NAMES[name]}, {short(whole)}, {under}", "good")
        for name, whole in rows
        if (share := summary[name]) is not None and share >= 0
    ]
    broken = _("%(n)s violations") % {"n": summary["violations"]}
    if summary["addresses"]:
        resolved = round(summary["recall_integrity"] * summary["addresses"])
        mood = "bad" if resolved != summary["addresses"] or summary["violations"] else ""
        word = _("addresses resolve, %(broken)s") % {"broken": broken}
        return [*found, Fact(f"{resolved} / {summary['addresses']}", word, mood)]
    return [*found, Fact(str(summary["violations"]), _("violations"), "bad" if summary["violations"] else "")]


def trigger_turn(document: ReplayDocument, policy: Policy) -> int | None:
    """The first turn whose request would pass the trigger had no policy acted."""
    line = policy.trigger_ratio * document.context_window - policy.reserve_output
    return next((turn for turn, tokens in enumerate(document.table.before) if tokens > line), None)


def banners(document: ReplayDocument, state: PageState) -> list[Banner]:
    """Alarms first, then why nothing was saved."""
    summary, policy = document.summary, state.policy
    found = [
        Banner(alarm.mood, alarm.title, alarm.lines, alarm.remedy, alarm.turn, _turn_url(state, alarm.turn))
        for alarm in alarms(summary, document.events, document.table.overruns, policy)
    ]
    if summary["warnings"]:
        found.append(Banner("info", _("How this history is read"), tuple(summary["warnings"][:5])))
    if not summary["events"] and document.turns:
        found.append(Banner("info", _("0 saved: %(why)s") % {"why": why_nothing(document, policy)}))
    return found


def _turn_url(state: PageState, turn: int | None) -> str:
    return "" if turn is None else state.url(turn=turn)


def why_nothing(document: ReplayDocument, policy: Policy) -> str:
    """One sentence on why a policy changed nothing in this session."""
    if policy.strategy == "none":
        return _("this policy never compresses.")
    if policy.strategy == "reference":
        return _("the rules of %(reference)s found nothing to do in this session.") % {"reference": policy.reference}
    if policy.strategy == "recorded":
        return _("the agent compacted nothing in this session, as far as its log says.")
    peak, line = document.summary["peak_before"], policy.trigger_ratio * document.context_window
    share = percent(peak / document.context_window)
    if peak + policy.reserve_output <= line:
        sentence = _("the window peaked at %(share)s of %(window)s and never passed the trigger, %(trigger)s.")
        window, trigger = rounded(document.context_window), percent(policy.trigger_ratio)
        return sentence % {"share": share, "window": window, "trigger": trigger}
    reasons = list(dict.fromkeys(event.reason for event in document.events if event.kind == "skip"))
    return _("the window passed the trigger (%(share)s), but %(reasons)s.") % {
        "share": share,
        "reasons": "; ".join(reasons[:3]) or _("no event took place"),
    }


@dataclass(frozen=True, slots=True)
class EventRow:
    """``said``: what it did. ``is_first`` of its turn, of which the page shows ``steps`` events. ``cost`` is None
    where nothing changed."""

    event: Event
    url: str
    said: str
    is_first: bool
    steps: int
    cost: EventCost | None

    @property
    def is_step(self) -> bool:
        return self.event.kind in STEPS


@dataclass(frozen=True, slots=True)
class EventsPage:
    """A page of the events; ``first`` counts from 0."""

    rows: tuple[EventRow, ...]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows)

    @property
    def next_first(self) -> int | None:
        return self.last if self.last < self.total else None

    @property
    def previous_first(self) -> int | None:
        return max(0, self.first - EVENTS_PAGE) if self.first else None


def events_page(document: ReplayDocument, state: PageState, first: int = 0) -> EventsPage:
    """Events from number ``first``, each with the address of its turn."""
    first = min(first, max(0, len(document.events) - 1))
    events = document.events[first : first + EVENTS_PAGE]
    turns = by_turn(events)
    rows = (
        EventRow(e, state.url(turn=e.turn), did(e), e is turns[e.turn][0], len(turns[e.turn]), event_cost(document, at))
        for at, e in enumerate(events, first)
    )
    return EventsPage(tuple(rows), first, len(document.events))


@dataclass(frozen=True, slots=True)
class TurnRow:
    turn: int
    url: str
    label: str
    minute: float | None
    recorded: int | None
    before: int
    after: int
    usage: float
    is_over: bool
    events: Sequence[Event]
    cost: CallCost


@dataclass(frozen=True, slots=True)
class TurnsPage:
    rows: tuple[TurnRow, ...]
    first: int
    total: int
    ways: Sequence[Way] = ()

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    @property
    def next_first(self) -> int | None:
        return self.last + 1 if self.last + 1 < self.total else None

    @property
    def previous_first(self) -> int | None:
        return max(0, self.first - TURNS_PAGE) if self.first else None


def turns_page(document: ReplayDocument, state: PageState, first: int, ways: Sequence[Way] = ()) -> TurnsPage:
    """The table twin of the timeline, from turn ``first``; of the one in dollars where ``ways`` are given."""
    first = min(first, max(0, document.turns - 1))
    events = by_turn(event for event in document.events if event.changes)
    table, minutes, reserve = document.table, document.minutes, state.policy.reserve_output
    rows = [
        TurnRow(
            turn=t,
            url=state.url(turn=t),
            label=document.labels[t],
            minute=minutes[t] if minutes else None,
            recorded=document.recorded[t],
            before=table.before[t],
            after=table.after[t],
            usage=(table.after[t] + reserve) / document.context_window,
            is_over=table.after[t] + reserve > document.context_window,
            events=events.get(t, ()),
            cost=call_cost(document.cost, t, ways),
        )
        for t in range(first, min(first + TURNS_PAGE, document.turns))
    ]
    return TurnsPage(tuple(rows), first, document.turns, ways)


def neighbours(document: ReplayDocument, turn: int) -> tuple[int | None, int | None]:
    """The turns of the event before and the event after a turn."""
    turns = document.landmarks
    earlier, later = bisect_left(turns, turn), bisect_right(turns, turn)
    return (turns[earlier - 1] if earlier else None), (turns[later] if later < len(turns) else None)


def bounded(values: Sequence[Any], limit: int = LISTED) -> tuple[list[Any], int]:
    """The first of some values, and how many more there are."""
    return list(islice(values, limit)), max(0, len(values) - limit)
