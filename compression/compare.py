"""Replays held against the first of them: which figure is better, and which is only different.

Every figure knows its direction. Where no direction is better, or where one of the two does not exist,
there is no mark: a policy that never acted has no worse share of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from compression.event_words import ladder_steps
from compression.saved_names import SAVED_NAMES
from sessions.templatetags.figures import THIN

Direction = Literal["more", "less", "later", "none"]
Kind = Literal["share", "tokens", "count", "turn", "rate", "calls", "usd"]
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
    Figure("cost_usd", _("Cost"), "usd", "less", _("dollars of all calls: input read, written and plain, and output")),
    Figure("hit_rate", _("Read from the cache"), "share", "more", _("of all input: read, written and plain")),
    Figure("rewrites", _("Rewrites"), "count", "less", _("calls that sent a living cached prefix anew")),
    Figure("expiries", _("Expiries"), "count", "none", _("calls that found their cached prefix expired")),
    Figure("unforced_breaks", _("Unforced breaks"), "count", "less", _("what moved in the prefix without an event")),
    Figure("break_even", _("Break-even"), "calls", "less", _("further calls until an event has paid, median")),
    Figure("rlr_view", _("Used later, still in view"), "share", "more", _("of names of changed results used later")),
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
class Cell:
    """A figure of one policy. ``mark`` and ``change`` say what it is against the first one; the first has neither."""

    value: Any
    mark: Mark = ""
    change: Any = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure of all policies, in their order."""

    figure: Figure
    cells: tuple[Cell, ...]

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(cell.value for cell in self.cells)

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(cell.mark for cell in self.cells)


def points(difference: float) -> str:
    """0.025 -> "+2.5 pp": shares differ by percentage points, never by per cent; "0" for what rounds to nothing."""
    shown = f"{abs(difference) * 100:.1f}"
    return "0" if float(shown) == 0 else f"{'−' if difference < 0 else '+'}{shown}{THIN}pp"


def compared(summaries: Sequence[Mapping[str, Any]]) -> list[Compared]:
    """All figures of some summaries of one session."""
    return [held_against(figure, [_value(one, figure) for one in summaries]) for figure in FIGURES]


def _value(summary: Mapping[str, Any], figure: Figure) -> Any:
    if figure.name == "ladder":
        return ladder_steps(summary)
    value = summary.get(figure.name)
    return Decimal(value) if figure.kind == "usd" and value is not None else value


def held_against(figure: Figure, values: Sequence[Any]) -> Compared:
    """A figure of each policy; the first is what the others are held against."""
    first = values[0]
    return Compared(
        figure,
        (
            Cell(first),
            *(
                Cell(value, mark_of(figure.direction, first, value), change_of(figure.kind, first, value))
                for value in values[1:]
            ),
        ),
    )


def change_of(kind: Kind, a: Any, b: Any) -> Any:
    """How far a share or an amount is from the first: percentage points as text, dollars as Decimal; else None."""
    if a is None or b is None or a == b:
        return None
    if kind == "share":
        return points(b - a)
    return b - a if kind == "usd" else None


def mark_of(direction: Direction, a: Any, b: Any) -> Mark:
    """What ``b`` is against ``a``. A turn that never comes is later than any other."""
    if direction == "later":
        a, b = (float("inf") if value is None else value for value in (a, b))
    if direction == "none" or a is None or b is None:
        return ""
    if a == b:
        return "same"
    return "better" if (b < a) == (direction == "less") else "worse"
