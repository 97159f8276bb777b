"""What is wrong with a replay, where it shows first and what to change: for banners on every page that shows one.

None when all is well. Reads a stored replay or a draft's; works nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from compression.engine.edits import Event
from compression.engine.policy import Policy
from sessions.templatetags.figures import grouped, short

LISTED = 5
_TURN = re.compile(r"turn (\d+): ")


@dataclass(frozen=True, slots=True)
class Alarm:
    """``mood`` is error or warn; ``turn`` is where to look; ``remedy`` what to change, empty where nothing helps."""

    mood: str
    title: str
    turn: int | None
    lines: tuple[str, ...] = ()
    remedy: str = ""


def alarms(
    summary: Mapping[str, Any], events: Sequence[Event], overruns: Sequence[tuple[int, str]], policy: Policy
) -> list[Alarm]:
    """The alarms of a replay, the worst first."""
    found = [*_broken(summary)]
    if policy.strategy in ("threshold", "sliding", "reference"):
        found += _too_large(summary, events, policy)
        found += _stopped(events)
    if policy.strategy == "threshold":
        found += _unreachable(events)
    if policy.strategy in ("threshold", "sliding"):
        found += _overruns(overruns)
    return found


def _broken(summary: Mapping[str, Any]) -> Iterator[Alarm]:
    count = summary["violations"]
    if count:
        lines = tuple(summary["violation_list"][:LISTED])
        first = _TURN.match(lines[0]) if lines else None
        title = ngettext("%(n)s invariant is broken", "%(n)s invariants are broken", count) % {"n": grouped(count)}
        yield Alarm(
            "error",
            title,
            int(first[1]) if first else None,
            lines,
            _("This is a defect of the policy's code, not of its settings: do not adopt it."),
        )


def _too_large(summary: Mapping[str, Any], events: Sequence[Event], policy: Policy) -> Iterator[Alarm]:
    stuck = [event for event in events if event.kind == "incompressible"]
    overflow = summary["overflow_turn"]
    if stuck:
        calls = sum(1 + event.repeats for event in stuck)
        reason = ngettext("at %(n)s call", "at %(n)s calls", calls) % {"n": grouped(calls)}
        yield Alarm(
            "error",
            _("Incompressible at turn %(turn)s") % {"turn": stuck[0].turn},
            stuck[0].turn,
            (f"{stuck[0].reason}, {reason}",),
            _("Pin less, set an arrival limit for huge results, or take a model with a larger window."),
        )
    elif overflow is not None:
        lost = summary["turns_lost"]
        left = ngettext("%(n)s turn is lost", "%(n)s turns are lost", lost) % {"n": grouped(lost)}
        yield Alarm(
            "error",
            _("The window overflows at turn %(turn)s all the same") % {"turn": overflow},
            overflow,
            (left,),
            _overflow_remedy(policy),
        )


def _overflow_remedy(policy: Policy) -> str:
    if policy.strategy == "reference":
        return _("These are another agent's rules: start from hermes, which climbs a fallback ladder.")
    if not policy.ladder:
        return _("Turn the fallback ladder on.")
    return _("Lower the trigger or the recent zone, or pin less.")


def _stopped(events: Sequence[Event]) -> Iterator[Alarm]:
    stops = [event for event in events if event.kind == "stopped"]
    if stops:
        yield Alarm(
            "warn",
            _("Compression stopped at turn %(turn)s") % {"turn": stops[0].turn},
            stops[0].turn,
            (stops[0].reason.removesuffix(": compression stopped"),),
            _("Lower the target or the recent zone, so that each event frees more; or set an arrival limit."),
        )


def _unreachable(events: Sequence[Event]) -> Iterator[Alarm]:
    missed = [event for event in events if event.target_unreachable is not None]
    if missed:
        worst = max(missed, key=lambda event: event.target_unreachable or 0)
        floor = short(worst.target_unreachable or 0)
        said = ngettext("%(n)s event stayed above it", "%(n)s events stayed above it", len(missed))
        yield Alarm(
            "warn",
            _("The target is out of reach: the floor is %(floor)s at turn %(turn)s")
            % {"floor": floor, "turn": worst.turn},
            worst.turn,
            (said % {"n": grouped(len(missed))},),
            _("Raise the target above the floor, or lower the recent zone, the smallest result and the stubs."),
        )


def _overruns(overruns: Sequence[tuple[int, str]]) -> Iterator[Alarm]:
    if overruns:
        turn, reason = overruns[0]
        said = ngettext("at %(n)s turn", "at %(n)s turns", len(overruns)) % {"n": grouped(len(overruns))}
        yield Alarm(
            "info",
            _("The recent zone is larger than its budget"),
            turn,
            (f"{reason}, {said}",),
            _("Raise the recent zone, or set an arrival limit so that huge results never enter whole."),
        )
