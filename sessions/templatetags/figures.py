"""How figures and foreign text look on a page: tokens, shares, times, and characters that would hide.

Filters never mark foreign text as safe: ``visible`` answers a plain ``str``, which the template
escapes. Those that add an exact value on hover build their element with ``format_html``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

register = template.Library()

ABSENT = "–"
THIN = "\u202f"  # narrow no-break space: groups digits and ties a unit to its figure
WARM_FROM, HOT_FROM = 0.6, 0.85

# Characters that change how the text around them is read, or that nobody can see. Joiners (200C, 200D)
# stay: scripts and emoji need them. Tab and line feed stay: they are layout.
_NAMED = {0x00: "‹NUL›", 0x07: "‹BEL›", 0x08: "‹BS›", 0x0D: "‹CR›", 0x1B: "‹ESC›", 0x7F: "‹DEL›"}
_INVISIBLE = [
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x80, 0xA0),
    0xAD,
    0x61C,
    0x180E,
    0x200B,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
]
_SHOWN = {code: f"‹U+{code:04X}›" for code in _INVISIBLE} | _NAMED
_SURROGATE = re.compile("[\ud800-\udfff]")


@register.filter
def visible(text: Any) -> str:
    """Shows control, bidi, zero-width, tag and ANSI escape characters instead of obeying them.

    A carriage return in front of a line feed is an ordinary line end and goes; alone it is shown.
    """
    shown = str(text).replace("\r\n", "\n").translate(_SHOWN)
    return _SURROGATE.sub(lambda found: f"‹U+{ord(found[0]):04X}›", shown)


def grouped(number: int) -> str:
    """1234567 -> "1 234 567", with narrow no-break spaces."""
    return f"{number:,}".replace(",", THIN)


def short(number: float) -> str:
    """15 000 -> "15.0K". Exact below a thousand, one decimal above, never "1000.0K"."""
    size = abs(number)
    for unit, scale in (("", 1), ("K", 1e3), ("M", 1e6), ("G", 1e9)):
        if unit == "" and size < 1000:
            return str(round(number))
        if size / scale < 999.95 or unit == "G":
            return f"{number / scale:.1f}{unit}"
    raise AssertionError("the last unit takes every size")


def as_number(value: Any) -> float | None:
    try:
        return None if value is None or value == "" else float(value)
    except (TypeError, ValueError):
        return None


@register.filter
def tokens(value: Any) -> str:
    """The short figure; the exact one is in ``title``."""
    number = as_number(value)
    if number is None:
        return ABSENT
    exact = grouped(round(number))
    unit = ngettext("token", "tokens", round(number))
    return format_html('<span class="fig" title="{} {}">{}</span>', exact, unit, short(number))


@register.filter
def count(value: Any) -> str:
    """A whole number in full, with its digits grouped."""
    number = as_number(value)
    return ABSENT if number is None else grouped(round(number))


@register.filter
def percent(ratio: Any) -> str:
    """0.5 -> "50 %"; one decimal below ten per cent, where a whole number says too little."""
    number = as_number(ratio)
    if number is None:
        return ABSENT
    share = number * 100
    decimals = 1 if 0 < abs(share) < 9.95 else 0
    return f"{share:z.{decimals}f}{THIN}%"


@register.filter
def signed_percent(ratio: Any) -> str:
    number = as_number(ratio)
    if number is None:
        return ABSENT
    shown = percent(abs(number))
    return shown if float(shown.split(THIN)[0]) == 0 else f"{'−' if number < 0 else '+'}{shown}"


@register.filter
def fill(ratio: Any) -> str:
    """A share as a CSS percentage within 0 and 100, in every language with a dot."""
    number = as_number(ratio) or 0
    return f"{min(max(number, 0), 1) * 100:.1f}%"


@register.filter
def usage_level(ratio: Any) -> str:
    """The class that colours a fill: calm, warm from 60 %, hot from 85 % of the window."""
    number = as_number(ratio) or 0
    return "hot" if number >= HOT_FROM else "warm" if number >= WARM_FROM else "calm"


@register.filter
def duration(seconds: Any) -> str:
    """450 ms, 3.2 s, 12 min, 2 h 07 min, 3 d 4 h."""
    number = as_number(seconds)
    if number is None or number < 0:
        return ABSENT
    if number < 1:
        return f"{round(number * 1000)}{THIN}ms"
    if number < 59.95:
        return f"{number:.1f}{THIN}s"
    minutes = round(number / 60)
    if minutes < 60:
        return f"{minutes}{THIN}min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours}{THIN}h {minutes:02d}{THIN}min"
    return f"{hours // 24}{THIN}d {hours % 24}{THIN}h"


@register.filter
def when(moment: Any) -> str:
    """A datetime, or seconds since 1970, to the minute; the whole of it in ``title``."""
    if isinstance(moment, int | float):
        try:
            moment = datetime.fromtimestamp(moment, UTC)
        except (OverflowError, OSError, ValueError):
            return ABSENT
    if not isinstance(moment, datetime):
        return ABSENT
    local = timezone.localtime(moment)
    return format_html(
        '<time class="fig" datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        local.strftime("%Y-%m-%d %H:%M:%S %Z"),
        date_format(local, _("j M Y, H:i")),
    )
