"""What an owner types for the policy webhook: an address that may be called, and a secret that is not shown again."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from compression.policy_webhook_send import LONGEST_URL, Refused, checked_url, is_public

SHORTEST_SECRET = 16


class WebhookForm(forms.Form):
    """``has_secret``: an empty secret then leaves the one that was set."""

    url = forms.CharField(
        label=_("Address"),
        max_length=LONGEST_URL,
        widget=forms.TextInput(
            attrs={"inputmode": "url", "autocomplete": "off", "placeholder": "https://agents.example.com/policy"}
        ),
    )
    secret = forms.CharField(
        label=_("Secret"),
        max_length=200,
        min_length=SHORTEST_SECRET,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, has_secret: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has_secret = has_secret
        self.fields["secret"].help_text = (
            _("One is set and is not shown again. Leave this empty to keep it.")
            if has_secret
            else _("At least 16 characters, such as what `openssl rand -hex 32` prints. It is not shown again.")
        )

    def clean_url(self) -> str:
        url = str(self.cleaned_data["url"])
        try:
            host = checked_url(url).hostname or ""
        except Refused as error:
            raise forms.ValidationError(_("An address %(why)s.") % {"why": error}) from None
        if not settings.HERMES_WEBHOOK_PRIVATE_ADDRESSES and _is_private(host):
            raise forms.ValidationError(_("%(host)s is not on the Internet; it is not called.") % {"host": host})
        return url

    def clean_secret(self) -> str:
        secret = str(self.cleaned_data["secret"])
        if not secret and not self.has_secret:
            raise forms.ValidationError(_("Give a secret: without it nobody can tell who is calling."))
        return secret


def _is_private(host: str) -> bool:
    """Whether a host says of itself that it is private; what its name leads to is looked at with each delivery."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not is_public(ip_address(host))
    except ValueError:
        return False
