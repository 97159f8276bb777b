"""What people type: checked and offered as choices; saving is the business of the verbs."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from sessions.importers import FORMATS
from sessions.models import NAME_LENGTH, ApiToken, Project


class ProjectForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=NAME_LENGTH,
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "off"}),
        help_text=_("An agent, a repository or a customer: sessions that should share one compression policy."),
    )


class UploadForm(forms.Form):
    """The files themselves are read from ``request.FILES``: a form field would take only one."""

    format = forms.ChoiceField(label=_("Format"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["format"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("Detect by content")), *((name, why) for name, why in FORMATS.items())]


class SessionFilterForm(forms.Form):
    """The state of the sessions table, as it stands in the address. A value that is no choice is ignored."""

    q = forms.CharField(label=_("Search"), required=False, max_length=200, strip=True)
    format = forms.CharField(label=_("Format"), required=False, max_length=NAME_LENGTH)
    model = forms.CharField(label=_("Model"), required=False, max_length=NAME_LENGTH)
    since = forms.DateField(label=_("Started from"), required=False)
    until = forms.DateField(label=_("until"), required=False)
    failures = forms.BooleanField(label=_("with tool errors"), required=False)
    boundaries = forms.BooleanField(label=_("compacted by the agent"), required=False)
    sort = forms.CharField(required=False, max_length=20)
    after = forms.CharField(required=False, max_length=2000)

    def state(self) -> dict[str, Any]:
        """Every field; text that was refused is empty, a date that was refused None."""
        self.is_valid()
        return {name: self.cleaned_data.get(name, self.EMPTY.get(name, "")) for name in self.fields}

    EMPTY = {"since": None, "until": None, "failures": False, "boundaries": False}

    def query(self) -> str:
        """The state as a query string in one fixed spelling, without a place among the pages."""
        state = {name: value for name, value in self.state().items() if value and name != "after"}
        return urlencode({name: "1" if value is True else value for name, value in state.items()})


class SavedFilterForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60, strip=True)
    query = forms.CharField(max_length=4000, widget=forms.HiddenInput)


class MoveForm(forms.Form):
    """To which of ``projects`` the chosen sessions go."""

    target = forms.ModelChoiceField(label=_("To project"), queryset=Project.objects.none(), to_field_name="slug")

    def __init__(self, *args: Any, projects: QuerySet[Project], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["target"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = projects


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=NAME_LENGTH, help_text=_("Who will use it, so that you know what to revoke.")
    )
    scope = forms.ChoiceField(label=_("May"), choices=ApiToken.Scope.choices)


class MemberForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=150, help_text=_("An existing user of this server."))
