"""What the three savings are called, on every page by the same name: each says what it is a share of."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

SAVED_NAMES = {
    "session_saved": _("saved of all tokens sent"),
    "request_saved": _("saved of the windows at events"),
    "tool_saved": _("saved of tool results at events"),
}
