"""What the address of a comparison may ask for: two policies, a session and a turn."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from compression.policy_keys import Choice, UnknownKey, chosen, key_in_force
from sessions.models import Project

LARGEST = 2**31 - 1
LARGEST_KEY = 2**63 - 1


class CompareForm(forms.Form):
    """Missing policies are the one in force and a yardstick beside it; what is wrong is named."""

    a = forms.CharField(max_length=100, required=False)
    b = forms.CharField(max_length=100, required=False)
    session = forms.IntegerField(min_value=1, max_value=LARGEST_KEY, required=False)
    turn = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data)
        self.project = project

    def clean_a(self) -> Choice:
        return self._chosen(self.cleaned_data["a"] or key_in_force(self.project))

    def clean_b(self) -> Choice:
        given = self.cleaned_data["b"]
        if not given:
            first = self.cleaned_data.get("a")
            given = "chapter" if isinstance(first, Choice) and first.key == "hermes" else "hermes"
        return self._chosen(given)

    def _chosen(self, key: str) -> Choice:
        try:
            return chosen(self.project, key)
        except UnknownKey as error:
            raise forms.ValidationError(str(error)) from None

    def turn_of(self, turns: int) -> int:
        """The turn that is asked for, the last one where none is."""
        turn, last = self.cleaned_data["turn"], max(turns - 1, 0)
        if turn is None:
            return last
        if turn > last:
            self.add_error("turn", _("the session has turns 0 to %(last)s") % {"last": last})
        return min(int(turn), last)

    def faults(self) -> list[str]:
        """One line for each field that is wrong, the field's name first."""
        return [f"{name}: {'; '.join(map(str, errors))}" for name, errors in self.errors.items()]
