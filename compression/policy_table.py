"""The table "On this session": none, in force and draft side by side, each figure with what better means for it.

Reads summaries. A figure that does not exist is a dash, and is neither better nor worse than another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from django_stubs_ext import StrOrPromise

from compression.engine.edits import Event
from compression.saved_names import SAVED_NAMES
from compression.trial import Trial
from sessions.templatetags.figures import ABSENT, grouped, percent, short

Better = Literal["less", "more", ""]


@dataclass(frozen=True, slots=True)
class Cell:
    """``mark`` is better, worse or empty: the draft beside the policy in force."""

    text: str
    small: str = ""
    exact: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    about: str
    cells: tuple[Cell, Cell, Cell]


Side = tuple[Mapping[str, Any], Sequence[Event]]


def rows(trial: Trial) -> list[Row]:
    """Every figure once, for none, in force and draft."""
    sides: list[Side] = [
        (trial.none.summary, trial.none.events),
        (trial.before.summary, trial.before.events),
        (trial.summary, trial.replay.events),
    ]
    return [_row(str(name), about, better, value, cell, sides) for name, about, better, value, cell in _FIGURES]


def _row(
    name: str,
    about: str,
    better: Better,
    value: Callable[[Side], float | None],
    cell: Callable[[Side], Cell],
    sides: Sequence[Side],
) -> Row:
    none, before, draft = map(cell, sides)
    mark = _mark(better, value(sides[1]), value(sides[2]))
    return Row(name, about, (none, before, Cell(draft.text, draft.small, draft.exact, mark)))


def _mark(better: Better, old: float | None, new: float | None) -> str:
    if not better or old is None or new is None or old == new:
        return ""
    return "better" if (new < old) == (better == "less") else "worse"


def _figure(key: str) -> Callable[[Side], float | None]:
    def value(side: Side) -> float | None:
        found: float | None = side[0][key]
        return found

    return value


def _tokens(key: str) -> Callable[[Side], Cell]:
    return lambda side: Cell(short(side[0][key]), exact=f"{grouped(side[0][key])} tokens")


def _count(key: str) -> Callable[[Side], Cell]:
    return lambda side: Cell(grouped(side[0][key]))


def _share(key: str, whole: str) -> Callable[[Side], Cell]:
    def cell(side: Side) -> Cell:
        if side[0][key] is None:
            return Cell(ABSENT)
        return Cell(percent(side[0][key]), small=f"of {short(side[0][whole])}")

    return cell


def _events(side: Side) -> Cell:
    count = side[0]["events"]
    turns = [event.turn for event in side[1] if event.kind != "skip" and event.reclaimed]
    return Cell(
        grouped(count), small=f"{'turn' if count == 1 else 'first at turn'} {turns[0]}" if count and turns else ""
    )


def _overflow(side: Side) -> Cell:
    turn = side[0]["overflow_turn"]
    return Cell("never") if turn is None else Cell(f"turn {turn}", small=f"{grouped(side[0]['turns_lost'])} lost")


def _dollars(side: Side) -> float | None:
    usd = side[0]["cost_usd"]
    return None if usd is None else float(usd)


def _cost(side: Side) -> Cell:
    usd = side[0]["cost_usd"]
    return Cell(ABSENT) if usd is None else Cell(f"${Decimal(usd):,.2f}", exact=f"${usd}")


def _hit_rate(side: Side) -> Cell:
    if side[0]["hit_rate"] is None:
        return Cell(ABSENT)
    read = side[0]["cache_read"]
    whole = read + side[0]["cache_write"] + side[0]["cache_uncached"]
    return Cell(percent(side[0]["hit_rate"]), small=f"of {short(whole)}")


def _pay_back(side: Side) -> Cell:
    calls = side[0]["break_even"]
    return Cell(ABSENT) if calls is None else Cell(f"{calls:,.1f} calls")


_FIGURES: list[tuple[StrOrPromise, str, Better, Callable[[Side], float | None], Callable[[Side], Cell]]] = [
    ("tokens sent", "over all calls, the hidden prefix included", "less", _figure("sent_after"), _tokens("sent_after")),
    (
        SAVED_NAMES["session_saved"], "of the tokens sent without a policy", "more",
        _figure("session_saved"), _share("session_saved", "sent_before"),
    ),
    (
        SAVED_NAMES["request_saved"], "at events, of the window without its hidden prefix", "",
        _figure("request_saved"), _share("request_saved", "request_tokens"),
    ),
    (
        SAVED_NAMES["tool_saved"], "at events, of the tool results in the window", "",
        _figure("tool_saved"), _share("tool_saved", "tool_before"),
    ),
    ("cost", "at the prices of the session's date, the prompt cache simulated", "less", _dollars, _cost),
    ("cache hits", "of all input, read from the prompt cache", "more", _figure("hit_rate"), _hit_rate),
    (
        "break-even", "calls after which an event has paid for the cache it broke; median of the events", "",
        _figure("break_even"), _pay_back,
    ),
    ("events", "each breaks the provider's prefix cache once", "less", _figure("events"), _events),
    ("overflow", "the first call that no longer fits", "less", _figure("turns_lost"), _overflow),
    ("peak", "largest window sent", "less", _figure("peak_after"), _tokens("peak_after")),
    ("stubs", "results that are no longer word for word", "", _figure("stubs"), _count("stubs")),
    (
        "target missed", "events that could not compress down to it", "less",
        _figure("target_unreachable"), _count("target_unreachable"),
    ),
    ("violations", "broken promises of the engine; must be 0", "less", _figure("violations"), _count("violations")),
]  # fmt: skip
