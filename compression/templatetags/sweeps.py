"""How pay-back and the names of settings look on the pages of sweeps."""

from __future__ import annotations

from typing import Any

from django import template

from compression import policy_fields, sweep_recommendation
from sessions.templatetags.figures import ABSENT

register = template.Library()


@register.filter
def calls(number: Any) -> str:
    """A number of calls, None where there is none."""
    return ABSENT if number is None or number == "" else sweep_recommendation.calls_said(number)


@register.filter
def field_label(name: str) -> str:
    """What people call a setting."""
    return policy_fields.label_of(name)
