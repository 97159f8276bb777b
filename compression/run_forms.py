"""What a run is started with, and the state of its table as it stands in the address."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from compression.policy_keys import Choice, UnknownKey, chosen
from sessions.models import NAME_LENGTH, Project, Session

SCOPES = (("all", _("all sessions")), ("filter", _("those that fit")), ("chosen", _("the ones chosen")))
MOST_CHOSEN = 2_000


class RunForm(forms.Form):
    """A policy and the sessions to replay it on. What is wrong is named; nothing is started here.

    Without ``scope``, the presence of chosen sessions or of a filter says what is meant.
    """

    policy = forms.CharField(label=_("Policy"), max_length=100)
    scope = forms.ChoiceField(label=_("Sessions"), choices=SCOPES, required=False)
    q = forms.CharField(label=_("Words"), required=False, max_length=200)
    format = forms.CharField(label=_("Format"), required=False, max_length=NAME_LENGTH)
    model = forms.CharField(label=_("Model"), required=False, max_length=NAME_LENGTH)

    def __init__(self, data: Any, *, project: Project) -> None:
        super().__init__(data)
        self.project = project
        self.picked = data.getlist("session") if data is not None else []

    def clean_policy(self) -> Choice:
        try:
            return chosen(self.project, self.cleaned_data["policy"])
        except UnknownKey as error:
            raise forms.ValidationError(str(error)) from None

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if not given.get("scope"):
            filtered = any(given.get(name) for name in ("q", "format", "model"))
            given["scope"] = "chosen" if self.picked else "filter" if filtered else "all"
        if given["scope"] == "chosen":
            if not self.picked:
                self.add_error("scope", _("no session is chosen"))
            if len(self.picked) > MOST_CHOSEN:
                self.add_error("scope", _("more than %(most)s are chosen: use a filter") % {"most": MOST_CHOSEN})
            if not all(key.isascii() and key.isdigit() and len(key) < 19 for key in self.picked):
                self.add_error("scope", _("a session is named by its number"))
        return given

    def sessions(self) -> QuerySet[Session] | None:
        """The sessions that a valid form means, None for all of the project."""
        given = self.cleaned_data
        mine = Session.objects.filter(project=self.project)
        if given["scope"] == "chosen":
            return mine.filter(pk__in={int(key) for key in self.picked})
        if given["scope"] == "all":
            return None
        for word in given["q"].split():
            mine = mine.filter(
                Q(title__icontains=word)
                | Q(agent__icontains=word)
                | Q(file_name__icontains=word)
                | Q(key__icontains=word)
            )
        if given["format"]:
            mine = mine.filter(format=given["format"])
        return mine.filter(model=given["model"]) if given["model"] else mine

    def faults(self) -> list[str]:
        """One line for each thing that is wrong."""
        return [str(error) for errors in self.errors.values() for error in errors]


class TableForm(forms.Form):
    """The state of a table; a value that is refused counts as absent."""

    q = forms.CharField(label=_("Search"), required=False, max_length=200, strip=True)
    only = forms.CharField(required=False, max_length=20)
    sort = forms.CharField(required=False, max_length=20)
    after = forms.CharField(required=False, max_length=2000)

    def state(self) -> dict[str, str]:
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}
