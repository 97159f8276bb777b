"""What the policy model says of its own fields, in the shape that a form shows: kind, unit, bounds, choices.

Everything but the labels is read from the model, so that a new field appears by itself. Nothing is parsed here.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from compression.engine.policy import Policy

Kind = Literal["whole", "share", "switch", "choice"]

SECTIONS = {
    "when": "When",
    "sacred": "Sacred zone",
    "what": "What",
    "stubs": "How",
    "fallback": "Fallback",
    "cache": "Cache",
    "summaries": "Summaries",
}
_FINER = {
    "thrash_guard": "fallback",
    "ladder": "fallback",
    "dollar_gate": "cache",
    "break_even_horizon": "cache",
    "prefer_idle": "cache",
    "summaries": "summaries",
    "memory_note": "summaries",
}
"""Fields that people look for in a section of the form that the model does not have."""

NOT_SETTINGS = frozenset({"schema_version", "name", "about", "pins", "reference", "parameters"})

LABELS = {
    "strategy": "Strategy",
    "reference": "Reference",
    "parameters": "Settings of the reference",
    "context_window": "Context window",
    "trigger_ratio": "Trigger",
    "target_ratio": "Target",
    "min_reclaim_tokens": "Smallest reclaim",
    "reserve_output": "Reserve",
    "arrival_limit_tokens": "Arrival limit",
    "dollar_gate": "Dollar gate",
    "break_even_horizon": "Break-even, at latest",
    "prefer_idle": "Prefer a cold cache",
    "thrash_guard": "Thrash guard",
    "recent_tokens": "Recent",
    "recent_mode": "Recent mode",
    "recent_min": "Recent, at least",
    "recent_max": "Recent, at most",
    "pin_latest_user": "Latest request",
    "recall_hold_turns": "Hold a recall",
    "pins": "Pinned",
    "min_result_tokens": "Smallest result",
    "selection": "Order",
    "superseded": "Superseded first",
    "max_argument_tokens": "Largest arguments",
    "clear_thinking": "Clear old thinking",
    "ladder": "Fallback ladder",
    "memory_note": "Memory note",
    "summaries": "Summaries",
    "allocation": "Allocation",
    "context_aware": "Look at the work",
    "novelty_ceiling": "Novelty, at most",
    "result_ratio": "Stub size",
    "result_floor": "Stub, at least",
    "result_ceiling": "Stub, at most",
    "code_output": "Command output",
    "name": "Name",
    "about": "About",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of the form. ``word``: a value that stands beside numbers (auto); bounds are inclusive unless open."""

    name: str
    section: str
    label: str
    help: str
    unit: str
    kind: Kind
    default: Any
    choices: tuple[str, ...] = ()
    word: str = ""
    may_be_empty: bool = False
    low: float | None = None
    high: float | None = None
    low_is_open: bool = False
    high_is_open: bool = False

    @property
    def bounds(self) -> str:
        """The bounds in words; empty where there are none."""
        if self.low is None or self.high is None:
            return ""
        low = f"above {self.low:,.12g}" if self.low_is_open else f"{self.low:,.12g}"
        high = f"{'below' if self.high_is_open else 'at most'} {self.high:,.12g}"
        joined = f"{low}, {high}" if self.low_is_open else f"{low} to {self.high:,.12g}"
        return f"{self.word} or {joined}" if self.word else joined

    def shown(self, value: Any) -> str:
        """A value as the form writes it."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "on" if value else "off"
        return f"{value:,}" if isinstance(value, int) else str(value)

    def said(self, value: Any) -> str:
        """A value as a sentence writes it."""
        return "off" if value is None else self.shown(value).replace("_", " ")


def label_of(name: str) -> str:
    return LABELS.get(name, name.replace("_", " ").capitalize())


def _alternatives(annotation: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """(type, constraints) of each branch of an annotation."""
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, *extras = get_args(annotation)
        constraints = [c for extra in extras for c in (extra.metadata if isinstance(extra, FieldInfo) else [extra])]
        yield kind, tuple(constraints)
    elif origin in (Union, types.UnionType):
        for branch in get_args(annotation):
            yield from _alternatives(branch)
    else:
        yield annotation, ()


def _setting(name: str, field: FieldInfo) -> Setting:
    extra: Mapping[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    kind: Kind = "choice"
    choices: tuple[str, ...] = ()
    word, may_be_empty, constraints = "", False, list(field.metadata)
    for branch, limits in _alternatives(field.annotation):
        constraints += limits
        if branch is bool:
            kind = "switch"
        elif branch is int:
            kind = "whole"
        elif branch is float:
            kind = "share"
        elif branch is type(None):
            may_be_empty = True
        elif get_origin(branch) is Literal:
            choices = get_args(branch)
    if kind == "whole" and choices:
        [word] = choices
        choices = ()
    bounds: dict[str, Any] = {}
    for limit in constraints:
        if isinstance(limit, Ge | Gt):
            bounds |= {"low": getattr(limit, "ge", getattr(limit, "gt", None)), "low_is_open": isinstance(limit, Gt)}
        elif isinstance(limit, Le | Lt):
            bounds |= {"high": getattr(limit, "le", getattr(limit, "lt", None)), "high_is_open": isinstance(limit, Lt)}
    return Setting(
        name=name,
        section=_FINER.get(name, extra["section"]),
        label=label_of(name),
        help=field.description or "",
        unit=extra["unit"],
        kind=kind,
        default=field.default,
        choices=choices,
        word=word,
        may_be_empty=may_be_empty,
        **bounds,
    )


SETTINGS: dict[str, Setting] = {
    name: _setting(name, field) for name, field in Policy.model_fields.items() if name not in NOT_SETTINGS
}
