"""What the address of a comparison may ask for: two to six policies, a session, a turn, whose window is beside A's."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from compression.policy_keys import Choice, UnknownKey, chosen, key_in_force
from sessions.models import Project

LETTERS = "ABCDEF"
LARGEST = 2**31 - 1
LARGEST_KEY = 2**63 - 1


class CompareForm(forms.Form):
    """Missing policies are the one in force and a yardstick beside it; what is wrong is named.

    The fields ``a`` to ``f`` are keys of policies. From ``c`` on an empty one is left out, and the rest move up.
    """

    session = forms.IntegerField(min_value=1, max_value=LARGEST_KEY, required=False)
    turn = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    beside = forms.CharField(max_length=1, required=False)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data)
        self.project = project
        policies = {letter.lower(): forms.CharField(max_length=100, required=False) for letter in LETTERS}
        self.fields = {**policies, **self.fields}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        choices: list[Choice] = []
        for letter in LETTERS.lower():
            key = given.get(letter, "")
            if not key and letter == "a":
                key = key_in_force(self.project)
            elif not key and letter == "b":
                key = "chapter" if choices and choices[0].key == "hermes" else "hermes"
            if not key:
                continue
            try:
                choices.append(chosen(self.project, key))
            except UnknownKey as error:
                self.add_error(letter, str(error))
        given["choices"] = tuple(choices)
        return given

    def beside_of(self, policies: int) -> int:
        """The place of the policy whose window stands beside A's; the second where no other is asked for."""
        at = LETTERS.find(str(self.cleaned_data["beside"]).upper() or "B")
        return at if 0 < at < policies else 1

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
