"""What people type: checked and offered as choices; saving is the business of the verbs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from sessions.importers import FORMATS
from sessions.models import NAME_LENGTH, ApiToken


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
    sort = forms.CharField(required=False, max_length=20)
    after = forms.CharField(required=False, max_length=2000)

    def state(self) -> dict[str, str]:
        """Every field with a string; too long or otherwise refused ones are empty."""
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=NAME_LENGTH, help_text=_("Who will use it, so that you know what to revoke.")
    )
    scope = forms.ChoiceField(label=_("May"), choices=ApiToken.Scope.choices)


class MemberForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=150, help_text=_("An existing user of this server."))
