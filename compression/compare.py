"""Two replays held against each other: which figure is better, and which is only different.

Every figure knows its direction. Where no direction is better, or where one of the two does not exist,
there is no mark: a policy that never acted has no worse share of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from compression.event_words import ladder_steps
from compression.saved_names import SAVED_NAMES
from sessions.templatetags.figures import THIN

Direction = Literal["more", "less", "later", "none"]
Kind = Literal["share", "signed", "tokens", "count", "turn", "rate"]
Mark = Literal["better", "worse", "same", ""]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a summary: what it is called, how it is shown, which way it is better, what it is of."""

    name: str
    label: StrOrPromise
    kind: Kind
    direction: Direction
    about: StrOrPromise


FIGURES = (
    Figure("session_saved", SAVED_NAMES["session_saved"], "share", "more", _("1 - sent under it / sent without")),
    Figure("request_saved", SAVED_NAMES["request_saved"], "share", "more", _("hidden tokens excluded")),
    Figure("tool_saved", SAVED_NAMES["tool_saved"], "share", "more", _("tool results there only")),
    Figure("sent_after", _("Tokens sent"), "tokens", "less", _("over all requests, calibrated")),
    Figure("peak_after", _("Largest request"), "tokens", "less", _("calibrated, hidden tokens included")),
    Figure("overflow_turn", _("First turn that does not fit"), "turn", "later", _("never is best")),
    Figure("turns_lost", _("Turns after the overflow"), "count", "less", _("of all turns of the session")),
    Figure("events", _("Events"), "count", "less", _("each one breaks the provider's cached prefix")),
    Figure("thrash", _("Thrash"), "rate", "less", _("close or idle events per 100 turns")),
    Figure("ladder", _("Fallback steps"), "count", "less", _("of the ladder, from every block to its floor on")),
    Figure("stubs", _("Results replaced"), "count", "none", _("tool results that a stub stands for")),
    Figure("skipped_events", _("Events not worth it"), "count", "none", _("over the trigger, too little to free")),
    Figure("target_unreachable", _("Target out of reach"), "count", "less", _("events that stayed above the target")),
    Figure("violations", _("Violations"), "count", "less", _("broken invariants; must be 0")),
    Figure("recall_integrity", _("Addresses that resolve"), "share", "more", _("to the identical original")),
    Figure("fidelity", _("True claims of stubs"), "share", "more", _("of all names and numbers in the stubs")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of both; ``mark`` says what B is against A, ``change`` = B - A where both exist."""

    figure: Figure
    a: Any
    b: Any
    change: float | None
    mark: Mark

    @property
    def points(self) -> str:
        """The change of a share in percentage points; empty for other figures and where there is none."""
        is_share = self.figure.kind in ("share", "signed")
        return points(self.change) if is_share and self.change else ""


def points(difference: float) -> str:
    """0.025 -> "+2.5 pp": shares differ by percentage points, never by per cent; "0" for what rounds to nothing."""
    shown = f"{abs(difference) * 100:.1f}"
    return "0" if float(shown) == 0 else f"{'−' if difference < 0 else '+'}{shown}{THIN}pp"


def compared(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Compared]:
    """All figures of two summaries of one session."""
    return [held_against(figure, _value(a, figure.name), _value(b, figure.name)) for figure in FIGURES]


def _value(summary: Mapping[str, Any], name: str) -> Any:
    return ladder_steps(summary) if name == "ladder" else summary.get(name)


def held_against(figure: Figure, a: Any, b: Any) -> Compared:
    change = None if a is None or b is None else b - a
    return Compared(figure, a, b, change, mark_of(figure.direction, a, b))


def mark_of(direction: Direction, a: float | None, b: float | None) -> Mark:
    """What ``b`` is against ``a``. A turn that never comes is later than any other."""
    if direction == "later":
        a, b = (float("inf") if value is None else value for value in (a, b))
    if direction == "none" or a is None or b is None:
        return ""
    if a == b:
        return "same"
    return "better" if (b < a) == (direction == "less") else "worse"
