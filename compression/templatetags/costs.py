"""How money, shares of a cache and idle times look on the pages of costs."""

from __future__ import annotations

from decimal import Decimal

from django import template

from compression import cost_words
from sessions.templatetags.figures import ABSENT, THIN, as_number, short

register = template.Library()


@register.filter
def exactly(ratio: object) -> str:
    """0.987 -> "98.7 %": one decimal always, because near 100 % a whole number hides what a cache costs."""
    number = as_number(ratio)
    return ABSENT if number is None else f"{number * 100:z.1f}{THIN}%"


@register.filter
def points(ratio: object) -> str:
    """0.0042 -> "+0.4 points": a difference of two shares."""
    number = as_number(ratio)
    return ABSENT if number is None else cost_words.points(number)


@register.filter
def dollars(amount: Decimal | str | None) -> str:
    """A decimal, or the text of one."""
    return ABSENT if amount is None or amount == "" else cost_words.dollars(amount)


@register.filter
def shortly(tokens: object) -> str:
    """15000 -> "15.0K", as plain text; the exact figure belongs into the ``title`` of what holds it."""
    number = as_number(tokens)
    return ABSENT if number is None else short(number)
