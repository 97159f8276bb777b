"""What an owner types for a project's prices: dollars for a million tokens. What makes no sense is said in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from compression.models import ProjectPrices
from compression.project_prices import FIELDS

DEAREST = Decimal(10_000)


class PricesForm(forms.ModelForm[ProjectPrices]):
    """Five prices, what they are for, and where they come from. Nothing is filled in for anybody."""

    class Meta:
        model = ProjectPrices
        fields = ("scope", *FIELDS, "note")
        widgets = {"scope": forms.RadioSelect}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in FIELDS:
            self.fields[name] = price_field(self.fields[name].label, HELP.get(name, ""))
        scope = self.fields["scope"]
        assert isinstance(scope, forms.ChoiceField)
        scope.choices = ProjectPrices.Scope.choices
        self.fields["note"].help_text = _("Shown beside every figure that rests on them, such as a contract's name.")

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        plain, read = given.get("input"), given.get("cache_read")
        if plain is not None and read is not None and read > plain:
            self.add_error("cache_read", _("A read from the cache costs no more than plain input."))
        return given


HELP = {
    "cache_read": _("Where the provider has no cache, the price of plain input."),
    "cache_write": _("Where writing costs nothing extra, the price of plain input."),
    "cache_write_long": _("Where there is no such lifetime, the same as for 5 minutes."),
}


def price_field(label: Any, help_text: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        help_text=help_text,
        min_value=Decimal(0),
        max_value=DEAREST,
        max_digits=12,
        decimal_places=6,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        error_messages={
            "required": _("Give a price; 0 if it costs nothing."),
            "invalid": _("Give a number of dollars, such as 3 or 0.30."),
            "min_value": _("A price is never below 0."),
            "max_value": _("This is dollars for a million tokens: more than %(limit_value)s is not taken."),
            "max_decimal_places": _("Six digits after the point are kept, no more."),
        },
    )
