"""What a sweep is started with on its page, and the state of its tables as it stands in the address.

A field is varied by a line of text: ``0.6, 0.7`` lists values, ``0.5 .. 0.9`` is a range, ``0.5 .. 0.9 step 0.05`` one
with steps. What is wrong is named; nothing is started here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from compression.engine.policy import Policy
from compression.policy_fields import LABELS, SECTIONS, SETTINGS
from compression.policy_keys import Choice, UnknownKey
from compression.sweep_space import InvalidSpace, Space, space_of
from compression.sweep_starting import plan_of
from compression.sweeps import LARGEST_PART_HELD_OUT, LARGEST_SEED, MOST_TRIALS
from sessions.models import Project

ROWS = 5
LONGEST_LINE = 400
_RANGE = re.compile(r"(-?[\d._]+)\s*\.\.\s*(-?[\d._]+)(?:\s*step\s+([\d._]+))?(\s+log)?", re.IGNORECASE)
_WORDS = {"true": True, "on": True, "false": False, "none": None, "empty": None}


def axis_of(text: str) -> Any:
    """What a line says, as a space file would; what is no number and no switch is a word."""
    found = _RANGE.fullmatch(text.strip())
    if found:
        low, high, step, log = found.groups()
        said: dict[str, Any] = {"low": _value(low), "high": _value(high)}
        return said | ({"step": _value(step)} if step else {}) | ({"log": True} if log else {})
    return [_value(word) for word in text.split(",") if word.strip()]


def _value(word: str) -> Any:
    word = word.strip()
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    for kind in (int, float):
        try:
            return kind(word.replace("_", ""))
        except ValueError:
            continue
    return word


def line_of(axis: Any) -> str:
    """The line that ``axis_of`` reads as this."""
    if isinstance(axis, dict):
        step = f" step {axis['step']:g}" if axis.get("step") else ""
        return f"{axis['low']:g} .. {axis['high']:g}{step}{' log' if axis.get('log') else ''}"
    return ", ".join(
        "none" if value is None else str(value).lower() if value is True or value is False else str(value)
        for value in axis
    )


def offered_fields() -> list[tuple[str, list[tuple[str, str]]]]:
    """(section, [(field, label)]) of everything that may be varied."""
    names = {section: [] for section in SECTIONS.values()}  # type: dict[str, list[tuple[str, str]]]
    for name, setting in SETTINGS.items():
        names[SECTIONS[setting.section]].append((name, LABELS.get(name, name)))
    return [(section, fields) for section, fields in names.items() if fields]


class SweepForm(forms.Form):
    """A policy, how it is varied, and which sessions are held out."""

    policy = forms.CharField(label=_("Policy"), max_length=100)
    kind = forms.ChoiceField(label=_("Kind"), choices=(("search", _("search")), ("grid", _("grid"))))
    trials = forms.IntegerField(label=_("Policies to try"), min_value=1, max_value=MOST_TRIALS, required=False)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=LARGEST_SEED, required=False)
    held_out = forms.FloatField(label=_("Held out"), min_value=0, max_value=100 * LARGEST_PART_HELD_OUT, required=False)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data)
        self.project = project
        given = data or {}
        self.lines: Sequence[tuple[str, str]] = [
            (str(given.get(f"field-{at}", ""))[:100], str(given.get(f"values-{at}", ""))[:LONGEST_LINE])
            for at in range(ROWS)
        ]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        is_grid = given.get("kind") == "grid"
        if given.get("kind") == "search" and given.get("trials") is None and "trials" not in self.errors:
            self.add_error("trials", _("say how many policies to try"))
        try:
            given["space"] = self._space(is_grid=is_grid)
            given["plan"] = plan_of(self.project, given.get("policy", ""), given["space"])
        except InvalidSpace as error:
            for fault in error.faults:
                self.add_error(None, fault)
        except UnknownKey as error:
            self.add_error("policy", str(error))
        return given

    def _space(self, *, is_grid: bool) -> Space | None:
        said = [(name, text) for name, text in self.lines if name and text.strip()]
        twice = {name for name, _ in said if [other for other, _ in said].count(name) > 1}
        if twice:
            raise InvalidSpace([f"{name} is varied twice" for name in sorted(twice)])
        if not said and not is_grid:
            return None
        return space_of({name: axis_of(text) for name, text in said}, is_grid=is_grid)

    @property
    def base(self) -> Choice:
        """The policy of a valid form."""
        choice: Choice = self.cleaned_data["plan"].base
        return choice

    def faults(self) -> list[str]:
        """One line for each thing that is wrong."""
        labels = {name: field.label for name, field in self.fields.items()}
        return [
            f"{labels[name]}: {error}" if name in labels else str(error)
            for name, errors in self.errors.items()
            for error in errors
        ]


class StateForm(forms.Form):
    """Which trials, in which order, and what the map shows; a value that is refused counts as absent."""

    only = forms.CharField(required=False, max_length=20)
    sort = forms.CharField(required=False, max_length=20)
    after = forms.CharField(required=False, max_length=2000)
    x = forms.CharField(required=False, max_length=60)
    y = forms.CharField(required=False, max_length=60)
    show = forms.CharField(required=False, max_length=20)

    def state(self) -> dict[str, str]:
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}


def usual_lines(policy: Policy) -> list[tuple[str, str]]:
    """The lines that the form begins with: what a search varies when nobody says."""
    from compression.sweep_space import usual_space

    space = usual_space(policy).as_json()
    return [(name, line_of(axis)) for name, axis in space.items()]
