"""How dollars look on a page: short, with the exact amount on hover; an amount that nobody knows is a dash."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from django import template
from django.utils.html import format_html

from sessions.templatetags.figures import ABSENT

register = template.Library()


def as_amount(value: Any) -> Decimal | None:
    try:
        return None if value is None or value == "" else Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        return None


def exact(amount: Decimal) -> str:
    """All digits that say something, and never an exponent."""
    return f"{amount.normalize():f}" if amount else "0"


def short_usd(amount: Decimal) -> str:
    """1234.5 -> "$1,234.50"; four decimals below a dollar, two significant ones below a cent."""
    size = abs(amount)
    decimals = ",.2f" if size >= 1 or not size else ".4f" if size >= Decimal("0.001") else ".1e"
    return f"{'−' if amount < 0 else ''}${size:{decimals}}"


@register.filter
def usd(value: Any) -> str:
    amount = as_amount(value)
    if amount is None:
        return ABSENT
    return format_html('<span class="fig" title="${}">{}</span>', exact(amount), short_usd(amount))


@register.filter
def signed_usd(value: Any) -> str:
    """With a plus where it is above nothing."""
    amount = as_amount(value)
    if amount is None:
        return ABSENT
    sign = "+" if amount > 0 else ""
    return format_html('<span class="fig" title="${}">{}{}</span>', exact(amount), sign, short_usd(amount))


@register.filter
def per_million(value: Any) -> str:
    """A price without zeros that say nothing: 3, 0.3, 18.75."""
    amount = as_amount(value)
    return ABSENT if amount is None else f"${exact(amount)}"
