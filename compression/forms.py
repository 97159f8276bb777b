"""What the address of a session page may ask for: turn, policy, side, axis, and an opened run of messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, cast
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from compression.engine.policy import Policy
from compression.engine.presets import PRESETS

Side = Literal["before", "both", "after", "diff"]
Axis = Literal["turns", "minutes"]
SIDES = (("before", _("Before")), ("both", _("Side by side")), ("after", _("After")), ("diff", _("Diff")))
AXES = (("turns", _("Turns")), ("minutes", _("Minutes")))
DEFAULT_POLICY, DEFAULT_SIDE, DEFAULT_AXIS = "hermes", "both", "turns"
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PageState:
    """Everything that the address of a session page says. ``open`` is the message from which a run is opened."""

    path: str
    turn: int
    policy_name: str = DEFAULT_POLICY
    side: Side = "both"
    axis: Axis = "turns"
    open: int | None = None

    @property
    def policy(self) -> Policy:
        return PRESETS[self.policy_name]

    def url(self, **changes: Any) -> str:
        """The address of this page with some of it changed. An opened run does not outlive a change of turn."""
        state = replace(self, **({"open": None} | changes))
        query: dict[str, Any] = {
            "turn": state.turn,
            "policy": state.policy_name,
            "side": state.side,
            "axis": state.axis,
        }
        if state.open is not None:
            query["open"] = state.open
        return f"{self.path}?{urlencode(query)}"


class StateForm(forms.Form):
    """Parses the query of a session page; what is missing has a default, what is wrong is named."""

    policy = forms.ChoiceField(choices=[(name, name) for name in PRESETS], required=False)
    side = forms.ChoiceField(choices=SIDES, required=False)
    axis = forms.ChoiceField(choices=AXES, required=False)
    turn = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    open = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)

    def __init__(self, data: Any, *, turns: int) -> None:
        super().__init__(data)
        self.turns = turns
        for name in ("policy", "side", "axis"):
            self.fields[name].error_messages["invalid_choice"] = _("%(value)s is none of them")

    def clean_turn(self) -> int:
        turn = self.cleaned_data["turn"]
        last = max(self.turns - 1, 0)
        if turn is None:
            return last
        if turn > last:
            raise forms.ValidationError(_("the session has turns 0 to %(last)s"), params={"last": last})
        return cast("int", turn)

    def state(self, path: str) -> PageState:
        """The state of a valid form."""
        given = self.cleaned_data
        return PageState(
            path=path,
            turn=given["turn"],
            policy_name=given["policy"] or DEFAULT_POLICY,
            side=cast("Side", given["side"] or DEFAULT_SIDE),
            axis=cast("Axis", given["axis"] or DEFAULT_AXIS),
            open=given["open"],
        )

    def faults(self) -> list[str]:
        """One line for each field that is wrong, the field's name first."""
        return [f"{name}: {'; '.join(map(str, errors))}" for name, errors in self.errors.items()]
