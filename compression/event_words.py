"""What an event did, in words, and how its kind is called. Reads an event, decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from compression.engine.edits import LADDER, Event
from sessions.templatetags.figures import grouped, short

STEPS = (*sorted(LADDER), "incompressible")
"""The steps of the ladder, and that it was of no use."""


def did(event: Event) -> str:
    """One clause, without the figures that stand beside it in a table."""
    match event.kind:
        case "skip":
            return _("nothing was done")
        case "stopped":
            return _("no more events until the ladder has made room")
        case "incompressible":
            return _("nothing more can be done")
        case "aggressive":
            return _to_floor(event)
        case "truncate":
            return _("%(messages)s out, oldest groups first") % {"messages": _messages(len(event.left))}
        case "archive":
            return _archive(event)
        case "rezone":
            budget = grouped(event.recent_budget or 0)
            return _("recent down to %(tokens)s tokens, %(blocks)s") % {"tokens": budget, "blocks": _to_floor(event)}
    return changed(event)


def changed(event: Event) -> str:
    """How many parts were changed in which way, and how many messages left."""
    counts = Counter(edit.kind for edit in event.edits)
    named = [f"{grouped(count)} {_kind(kind, count)}" for kind, count in counts.items()]
    if event.left:
        named.append(_("%(messages)s out") % {"messages": _messages(len(event.left))})
    if event.note is not None and event.note.simulated:
        named.append(_("a simulated summary of %(tokens)s in") % {"tokens": short(event.note.tokens)})
    return ", ".join(named)


def _archive(event: Event) -> str:
    said = _("a new window of %(tokens)s, %(messages)s out") % {
        "tokens": short(event.after),
        "messages": _messages(len(event.left)),
    }
    if event.edits:
        said += f", {_to_floor(event)}"
    return said


def _kind(kind: str, count: int) -> str:
    names = {
        "stub": ngettext("result stubbed", "results stubbed", count),
        "superseded": ngettext("result superseded", "results superseded", count),
        "arguments": ngettext("call shortened", "calls shortened", count),
        "thinking": ngettext("thinking cleared", "thinkings cleared", count),
        "text": ngettext("text shortened", "texts shortened", count),
        "cleared": ngettext("result cleared", "results cleared", count),
        "placeholder": ngettext("part replaced", "parts replaced", count),
    }
    return names[kind]


def _to_floor(event: Event) -> str:
    count = len(event.edits)
    return ngettext("%(n)s block to its floor", "%(n)s blocks to their floor", count) % {"n": grouped(count)}


def _messages(count: int) -> str:
    return f"{grouped(count)} {ngettext('message', 'messages', count)}"


def ladder_steps(summary: Mapping[str, Any]) -> int:
    """Steps of the ladder in a replay's summary, those included that were of no use."""
    return sum((summary.get("ladder") or {}).values())


def by_turn(events: Iterable[Event]) -> dict[int, list[Event]]:
    """Events by their turn, in order."""
    found: dict[int, list[Event]] = {}
    for event in events:
        found.setdefault(event.turn, []).append(event)
    return found
