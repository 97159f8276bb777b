"""What the lab asks for: an output, pasted or picked from a session, and how it should be compressed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compression.engine.content_types import KINDS
from compression.engine.lab import OWN_STRATEGIES
from compression.engine.presets import PRESETS
from compression.policy_keys import Choice, UnknownKey, preset
from compression.policy_menu import Option, PolicyMenu
from sessions.templatetags.figures import grouped

MOST_BYTES = 1_000_000
LARGEST = 2**63 - 1
FEWEST_TOKENS, MOST_TOKENS = 40, 20_000
INSTEAD = "hermes"
"""The preset that makes the stub where the policy in force makes none."""


class LabForm(forms.Form):
    """Everything but the output may be left out: what it is is found out, the rest is the policy's."""

    text = forms.CharField(
        label=gettext_lazy("Tool output"), required=False, strip=False, widget=forms.Textarea
    )  # fmt: skip
    tool = forms.CharField(label=gettext_lazy("Tool"), max_length=200, required=False)
    arguments = forms.CharField(label=gettext_lazy("Arguments"), max_length=20_000, required=False)
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        required=False,
        choices=[("", gettext_lazy("found out")), *((kind, kind.replace("_", " ")) for kind in KINDS)],
    )
    budget = forms.IntegerField(
        label=gettext_lazy("Budget"), min_value=FEWEST_TOKENS, max_value=MOST_TOKENS, required=False
    )
    allocation = forms.ChoiceField(
        label=gettext_lazy("Allocation"),
        required=False,
        choices=[
            ("", gettext_lazy("the policy’s")),
            ("per_result", gettext_lazy("per result")),
            ("novelty", gettext_lazy("novelty")),
        ],
    )
    policy = forms.CharField(label=gettext_lazy("Policy"), max_length=100, required=False)
    session = forms.IntegerField(label=gettext_lazy("Session"), min_value=1, max_value=LARGEST, required=False)
    message = forms.IntegerField(label=gettext_lazy("Message"), min_value=0, max_value=LARGEST, required=False)
    others = forms.BooleanField(required=False)

    def __init__(self, data: Any, *, menu: PolicyMenu) -> None:
        super().__init__(data)
        self.menu = menu

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            raise forms.ValidationError(
                _("It has %(size)s bytes, the lab takes %(most)s. Paste a part, or import its session and pick it.")
                % {"size": grouped(size), "most": grouped(MOST_BYTES)}
            )
        return text

    def clean_policy(self) -> Choice:
        key = self.cleaned_data["policy"]
        try:
            found = self.menu.choice(key)
        except UnknownKey as error:
            raise forms.ValidationError(str(error)) from None
        if makes_stubs(found):
            return found
        if not key:
            return preset(INSTEAD)
        raise forms.ValidationError(
            _("%(policy)s makes no stubs of its own: its line in the table says what it leaves.")
            % {"policy": found.policy.name}
        )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("allocation") == "novelty" and given.get("kind"):
            self.add_error(
                "allocation",
                _("Novelty works with the kind that is found out: leave the kind open, or allocate per result."),
            )
        return given

    @property
    def choice(self) -> Choice:
        """The policy that the page stands on; where the one asked for makes no sense, the one that is meant without."""
        found = self.cleaned_data.get("policy") or self.menu.default
        return found if makes_stubs(found) else preset(INSTEAD)

    def policy_groups(self) -> list[tuple[str, list[Option]]]:
        """The presets that make stubs and the versions of the project; what a version says is not looked into."""
        groups = [
            (heading, [option for option in options if option.key not in PRESETS or makes_stubs(preset(option.key))])
            for heading, options in self.menu.groups(self.choice.key)
        ]
        return [(heading, options) for heading, options in groups if options]

    def faults(self) -> list[tuple[str, str]]:
        """(field, what is wrong with it)."""
        return [
            (str(self.fields[name].label or name) if name in self.fields else "", str(fault))
            for name, faults in self.errors.items()
            for fault in faults
        ]


def makes_stubs(choice: Choice) -> bool:
    return choice.policy.strategy in OWN_STRATEGIES
