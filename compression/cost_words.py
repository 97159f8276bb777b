"""Why a cached prefix was not read, in words; the kinds of what moved without an event; dollars and lengths of time."""

from __future__ import annotations

from decimal import Decimal

from django.utils.translation import gettext as _

from compression.cost_ledger import Break
from sessions.templatetags.figures import THIN


def why(cause: str) -> str:
    """One clause for a cause of the cache's replay."""
    known = {
        "event": _("an event changed it"),
        "expiry": _("it had expired"),
        "system": _("system prompt or tools changed"),
        "model": _("another model, another cache"),
        "foreign": _("something else changed it"),
        "lookback": _("no mark near enough behind its end"),
    }
    return known.get(cause, cause)


def first_change(one: Break) -> str:
    """Where it was changed; empty where no message is to blame."""
    return "" if one.message is None else _("first change: message #%(message)s") % {"message": one.message}


def moved(kind: str) -> str:
    """What moved, for a finding of the stability lint."""
    known = {
        "tools": _("tools"),
        "system": _("system prompt"),
        "clock": _("clock in the system prompt"),
        "fragments": _("reminders, retrieved texts"),
        "thinking": _("thinking"),
        "batch": _("a large batch of calls"),
        "model": _("model"),
        "left": _("messages left unrecorded"),
        "unknown": _("not known"),
    }
    return known.get(kind, kind)


def dollars(amount: str | Decimal) -> str:
    """Two decimals, four below a dollar."""
    money = Decimal(amount)
    return f"${THIN}{money:,.2f}" if abs(money) >= 1 or not money else f"${THIN}{money:,.4f}"


def lived(seconds: int) -> str:
    """300 -> "5 min", 3600 -> "1 h"."""
    if seconds % 3600 == 0:
        return _("%(hours)s h") % {"hours": seconds // 3600}
    return _("%(minutes)s min") % {"minutes": round(seconds / 60)}


def points(difference: float) -> str:
    """The difference of two shares: 0.0042 -> "+0.4 points"."""
    shown = f"{abs(difference) * 100:.1f}"
    sign = "" if float(shown) == 0 else "−" if difference < 0 else "+"
    return _("%(sign)s%(points)s points") % {"sign": sign, "points": shown}
