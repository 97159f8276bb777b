"""What the lab asks for: an output, pasted or picked from a session, and how it should be compressed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from compression.engine.content_types import KINDS
from compression.policy_keys import Choice, UnknownKey
from compression.policy_menu import PolicyMenu

MOST_CHARACTERS = 1_000_000
LARGEST = 2**63 - 1
FEWEST_TOKENS, MOST_TOKENS = 20, 100_000


class LabForm(forms.Form):
    """Everything but the output may be left out: what it is is found out, the budget is the policy's."""

    text = forms.CharField(
        label=_("Tool output"), max_length=MOST_CHARACTERS, required=False, strip=False, widget=forms.Textarea
    )
    tool = forms.CharField(label=_("Tool"), max_length=200, required=False)
    arguments = forms.CharField(label=_("Arguments"), max_length=20_000, required=False)
    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("found out")), *((k, k.replace("_", " ")) for k in KINDS)]
    )
    budget = forms.IntegerField(label=_("Budget"), min_value=FEWEST_TOKENS, max_value=MOST_TOKENS, required=False)
    policy = forms.CharField(max_length=100, required=False)
    session = forms.IntegerField(min_value=1, max_value=LARGEST, required=False)
    message = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)

    def __init__(self, data: Any, *, menu: PolicyMenu) -> None:
        super().__init__(data)
        self.menu = menu

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")

    def clean_policy(self) -> Choice:
        try:
            return self.menu.choice(self.cleaned_data["policy"])
        except UnknownKey as error:
            raise forms.ValidationError(str(error)) from None
