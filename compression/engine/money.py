"""Dollars as text that loses nothing: a decimal string without an exponent."""

from __future__ import annotations

from decimal import Decimal


def dollars(amount: Decimal) -> str:
    """``0.0123``, ``1``, ``120``: no trailing zeros, no exponent, never a float."""
    return format(amount.normalize(), "f") if amount else "0"
