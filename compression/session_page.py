"""The contexts of the session page and its fragments, put together from a stored replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import orjson
from django.urls import reverse
from django.utils.translation import gettext as _

from compression.composition import composition
from compression.cost_page import card as cost_card
from compression.cost_page import prices_address
from compression.figures import SOURCE_NAMES, sources_present
from compression.forms import ALONG, SIDES, UNITS, PageState
from compression.losses_page import waiting_card
from compression.own_compactions import LISTED, own_compactions
from compression.policy_menu import PolicyMenu
from compression.reference_facts import reference_facts
from compression.replay_document import ReplayDocument
from compression.search_query import ROLES, ZONES
from compression.session_facts import across, banners, bounded, events_page, facts, neighbours
from compression.session_search import search
from compression.window_strip import strip
from compression.window_view import window_view
from sessions.models import Session


def window_context(session: Session, document: ReplayDocument, state: PageState, menu: PolicyMenu) -> dict[str, Any]:
    """What depends on the turn: the window, its strips and what fills it."""
    turn, reserve = state.turn, state.policy.reserve_output
    before = strip(document, turn, after=False, reserve=reserve)
    after = strip(document, turn, after=True, reserve=reserve)
    earlier, later = neighbours(document, turn)
    first_change = next((event.turn for event in document.events if event.changes), None)
    shows_after = state.side != "before"
    return {
        "session": session,
        "project": session.project,
        "state": state,
        "document": document,
        "policies": menu.groups(state.policy_name),
        "window": window_view(session, document, state),
        "strips": [
            (name, one)
            for name, one in (("before", before), ("after", after))
            if state.side in ("both", "diff") or name == state.side
        ],
        "reference": reference_facts(state.policy),
        "has_note": shows_after and document.note(turn) is not None,
        "is_session_window": True,
        "is_smaller": after.tokens < before.tokens,
        "counted": document.table.counted[turn],
        "fills": fills(session, document, state, after=shows_after),
        "label": document.labels[turn],
        "minute": document.minutes[turn] if document.minutes else None,
        "recorded": document.recorded[turn],
        "estimated": document.table.before[turn],
        "last": document.turns - 1,
        "previous_event": earlier,
        "next_event": later,
        "previous_event_url": state.url(turn=earlier) if earlier is not None else None,
        "next_event_url": state.url(turn=later) if later is not None else None,
        "first_change": first_change,
        "first_change_url": state.url(turn=first_change) if first_change is not None else "",
        "sides": [(name, label, state.url(side=name)) for name, label in SIDES],
    }


def fills(
    session: Session, document: ReplayDocument, state: PageState, *, after: bool, as_table: bool = False
) -> dict[str, Any]:
    """What fills the window of a turn: a picture or its table, of one side."""
    here = address(session, "composition", state)
    side, look = ("after" if after else "before"), ("&as=table" if as_table else "")
    return {
        "shares": composition(document, state.turn, after=after),
        "after": after,
        "as_table": as_table,
        "choices": [
            (_("Before"), f"{here}&of=before{look}", not after),
            (_("After"), f"{here}&of=after{look}", after),
            (_("Table"), f"{here}&of={side}{'' if as_table else '&as=table'}", as_table),
        ],
    }


def page_context(session: Session, document: ReplayDocument, state: PageState, menu: PolicyMenu) -> dict[str, Any]:
    """The whole page. Its size does not depend on the session's."""
    warnings, warnings_more = bounded(session.warnings)
    skipped, skipped_more = bounded(session.skipped)
    shown_facts = facts(session, document, state.policy)
    context: dict[str, Any] = {
        "session": session,
        "project": session.project,
        "state": state,
        "document": document,
        "facts": shown_facts,
        "facts_across": across(len(shown_facts)),
        "banners": banners(document, state),
        "axes": [
            (name, label, state.url(axis=state.axis_of(along=name)), no_axis(document, name)) for name, label in ALONG
        ],
        "units": [
            (name, label, state.url(axis=state.axis_of(unit=name)), no_unit(document, name)) for name, label in UNITS
        ],
        "unit": "money" if state.in_money and not no_unit(document, "money") else "tokens",
        "has_breaks": bool(document.cost.breaks),
        "prices_url": prices_address(session),
        "legend": [(SOURCE_NAMES[n], "system" if n == "hidden" else n) for n in sources_present(document)],
        "has_recorded": any(value is not None for value in document.recorded),
        "events": events_page(document, state),
        "eaters": [eater_row(session, state, eater) for eater in document.eaters],
        "sent_before": document.summary["sent_before"],
        "calibration": session.calibration,
        "counter_error": document.summary["counter_error"],
        **compactions_context(session, state),
        "warnings": warnings,
        "warnings_more": warnings_more,
        "skipped": skipped,
        "skipped_more": skipped_more,
        "metadata": sorted(session.metadata_counts.items(), key=lambda row: -row[1])[:20],
        "tune_url": tune_url(session, state, menu),
        "compare_url": compare_url(session, state, menu),
        "timeline_url": address(session, "timeline", state),
        "turns_url": address(session, "turns", state),
    }
    if document.turns:
        context |= window_context(session, document, state, menu)
        context |= search_context(session, document, state)
        context |= waiting_card(session, state) | cost_card(session, state)
    return context


def eater_row(session: Session, state: PageState, eater: Mapping[str, Any]) -> dict[str, Any]:
    """One of the biggest eaters with the addresses of its block and of what compressing it alone would do."""
    path = reverse("compression:what-if", args=[session.project.slug, session.pk, eater["message"]])
    return {
        **eater,
        "url": state.url(turn=eater["turn"], open=eater["message"]),
        "what_if_url": path + "?" + state.url().partition("?")[2],
    }


def no_axis(document: ReplayDocument, axis: str) -> str:
    """Why the timeline cannot be drawn on an axis; empty when it can."""
    if axis == "minutes" and document.minutes is None:
        return _("no minutes: the log gives no times, or only one")
    if axis == "exchanges" and document.exchange_places is None:
        return _("no exchanges: one prompt started all of it")
    return ""


def no_unit(document: ReplayDocument, unit: str) -> str:
    """Why the timeline cannot count in a unit; empty when it can."""
    if unit == "money" and document.summary["cost_usd"] is None:
        names = ", ".join(name or _("a model without a name") for name in document.cost.unpriced)
        return _("no dollars: no price is known for %(models)s") % {"models": names}
    return ""


def compactions_context(session: Session, state: PageState, first: int = 0) -> dict[str, Any]:
    """A page of the agent's own compactions."""
    own = own_compactions(session, state)
    first = min(first, max(0, len(own) - 1))
    here = address(session, "compactions", state)
    last = min(first + LISTED, len(own))
    return {
        "own": own[first:last],
        "own_first": first,
        "own_last": last,
        "own_total": len(own),
        "own_previous_url": f"{here}&first={max(0, first - LISTED)}" if first else "",
        "own_next_url": f"{here}&first={last}" if last < len(own) else "",
    }


def search_context(
    session: Session, document: ReplayDocument, state: PageState, after: int | None = None
) -> dict[str, Any]:
    """The search form and what it found."""
    found = search(session, document, state, after)
    here = address(session, "search", state)
    return {
        "found": found,
        "marks": orjson.dumps(found.marks).decode(),
        "search_path": reverse("compression:search", args=[session.project.slug, session.pk]),
        "search_next_url": f"{here}&after={found.next_after}" if found.next_after is not None else "",
        "search_first_url": here if found.first else "",
        "roles": ROLES,
        "zones": ZONES,
        "tools": list(document.tool_tokens["before"]),
    }


def tune_url(session: Session, state: PageState, menu: PolicyMenu) -> str:
    """The policy form, started from the policy at hand, with its consequences on this session."""
    query: dict[str, Any] = {"session": session.pk}
    if state.policy_name != menu.default.key:
        is_version = state.chosen is not None and state.chosen.version is not None
        query["from"] = state.policy_name if is_version else f"preset:{state.policy_name}"
    return f"{reverse('compression:policy', args=[session.project.slug])}?{urlencode(query)}"


def compare_url(session: Session, state: PageState, menu: PolicyMenu) -> str:
    """The policy at hand against the one in force; the one in force against none."""
    other = menu.default.key if state.policy_name != menu.default.key else "none"
    query = {"session": session.pk, "a": other, "b": state.policy_name}
    return f"{reverse('compression:compare', args=[session.project.slug])}?{urlencode(query)}"


def address(session: Session, name: str, state: PageState) -> str:
    """The address of a fragment of this page, in the page's state."""
    path = reverse(f"compression:{name}", args=[session.project.slug, session.pk])
    return path + "?" + state.url().partition("?")[2]
