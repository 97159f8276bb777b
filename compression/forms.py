"""What the address of a session page may ask for: turn, policy, side, axis, an opened run of messages, a search."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from compression.engine.patterns import BadPattern
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.lost_names import NAME_CHARS
from compression.policy_keys import Choice, UnknownKey
from compression.policy_menu import PolicyMenu
from compression.search_query import ROLES, ZONES, SearchQuery

Side = Literal["before", "both", "after", "diff"]
Along = Literal["turns", "exchanges", "minutes"]
Axis = Literal["turns", "exchanges", "minutes", "money", "exchanges-money", "minutes-money"]
SIDES = (("before", _("Before")), ("both", _("Side by side")), ("after", _("After")), ("diff", _("Diff")))
ALONG = (("turns", _("Turns")), ("exchanges", _("Exchanges")), ("minutes", _("Minutes")))
UNITS = (("tokens", _("Tokens")), ("money", _("Money")))
AXES = tuple((axis, axis) for axis in get_args(Axis))
DEFAULT_POLICY, DEFAULT_SIDE, DEFAULT_AXIS = "hermes", "both", "turns"
LARGEST = 2**31 - 1
QUERY_LENGTH, NAME_LENGTH = 500, 200


@dataclass(frozen=True, slots=True)
class PageState:
    """Everything that the address of a session page says. ``open`` is the message from which a run is opened,
    ``name`` what the lifeline follows.

    ``policy_name`` is the key of a preset or of a version; ``chosen`` is what a version's key means.
    """

    path: str
    turn: int
    policy_name: str = DEFAULT_POLICY
    side: Side = "both"
    axis: Axis = "turns"
    open: int | None = None
    chosen: Choice | None = None
    search: SearchQuery = field(default_factory=SearchQuery)
    name: str = ""

    @property
    def policy(self) -> Policy:
        return self.chosen.policy if self.chosen else PRESETS[self.policy_name]

    @property
    def policy_label(self) -> str:
        """The policy as a sentence names it."""
        return str(self.chosen.version) if self.chosen and self.chosen.version else self.policy_name

    @property
    def along(self) -> Along:
        """What the timeline runs along, whatever it counts."""
        return cast("Along", self.axis.removesuffix("money").rstrip("-") or "turns")

    @property
    def in_money(self) -> bool:
        """Whether the timeline counts dollars, and not tokens."""
        return self.axis.endswith("money")

    def axis_of(self, along: str = "", unit: str = "") -> str:
        """The axis with one of its two halves changed, as an address says it."""
        along, in_money = along or self.along, unit == "money" if unit else self.in_money
        return along if not in_money else "money" if along == "turns" else f"{along}-money"

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
        if state.name:
            query["name"] = state.name
        query |= state.search.as_query()
        return f"{self.path}?{urlencode(query)}"


class StateForm(forms.Form):
    """Parses the query of a session page; what is missing has a default, what is wrong is named."""

    policy = forms.CharField(max_length=100, required=False)
    side = forms.ChoiceField(choices=SIDES, required=False)
    axis = forms.ChoiceField(choices=AXES, required=False)
    turn = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    open = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    name = forms.CharField(max_length=NAME_CHARS, required=False)
    q = forms.CharField(max_length=QUERY_LENGTH, required=False, strip=False)
    regex = forms.BooleanField(required=False)
    tool = forms.CharField(max_length=NAME_LENGTH, required=False)
    role = forms.ChoiceField(choices=ROLES, required=False)
    zone = forms.ChoiceField(choices=ZONES, required=False)
    errors_only = forms.BooleanField(required=False)

    def __init__(self, data: Any, *, turns: int, menu: PolicyMenu) -> None:
        super().__init__(data)
        self.turns, self.menu = turns, menu
        for name in ("side", "axis", "role", "zone"):
            self.fields[name].error_messages["invalid_choice"] = _("%(value)s is none of them")

    def clean_turn(self) -> int:
        turn = self.cleaned_data["turn"]
        last = max(self.turns - 1, 0)
        if turn is None:
            return last
        if turn > last:
            raise forms.ValidationError(_("the session has turns 0 to %(last)s"), params={"last": last})
        return cast("int", turn)

    def clean_policy(self) -> Choice:
        try:
            return self.menu.choice(self.cleaned_data["policy"])
        except UnknownKey as error:
            raise forms.ValidationError(str(error)) from None

    def clean_q(self) -> str:
        return str(self.cleaned_data["q"]) if self.cleaned_data["q"].strip() else ""

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        names = ("q", "regex", "tool", "role", "zone", "errors_only")
        if all(name in given for name in names):
            try:
                given["search"] = SearchQuery(**{name: given[name] for name in names})
            except BadPattern as error:
                self.add_error("q", str(error))
        return given

    def state(self, path: str) -> PageState:
        """The state of a valid form."""
        given = self.cleaned_data
        return PageState(
            path=path,
            turn=given["turn"],
            policy_name=given["policy"].key,
            side=cast("Side", given["side"] or DEFAULT_SIDE),
            axis=cast("Axis", given["axis"] or DEFAULT_AXIS),
            open=given["open"],
            chosen=given["policy"],
            search=given["search"],
            name=given["name"],
        )

    def faults(self) -> list[str]:
        """One line for each field that is wrong: its name in the address first, but not that of the search's words."""
        return [
            ("" if name == "q" else f"{name}: ") + "; ".join(map(str, errors)) for name, errors in self.errors.items()
        ]
