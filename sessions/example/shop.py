"""The invented order service that all example sessions are about: its feeds, orders and figures.

Plain constants and one random source per subject, so that a name in a log is the same
name in a test report and in the agent's own words. Holds no text of tool outputs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

HOME = "/home/dev/orderdesk"
BATCH = 2291
LOG_LINES = 2000
TESTS = 847
PACKAGES = 400


@dataclass(frozen=True, slots=True)
class Feed:
    """One partner that delivers orders. ``first_order`` numbers its rows in the batch."""

    name: str
    code: str
    first_order: int
    rows: int
    separator: str
    currency: str
    number_column: str
    total_column: str
    correction_column: str


FEEDS = (
    Feed("atlas", "AT", 31200, 402, ",", "USD", "order_no", "total", "replaces"),
    Feed("harbour", "HB", 24010, 371, ";", "EUR", "bestellung", "total_cents", ""),
    Feed("meadow", "MD", 58800, 344, "\t", "GBP", "number", "amount_due", "previous_no"),
    Feed("north", "NO", 90310, 338, ";", "SEK", "ordernr", "belopp", ""),
    Feed("summit", "SU", 11870, 211, ",", "CHF", "order_id", "order_total", ""),
    Feed("quarry", "QR", 77040, 246, ";", "EUR", "auftrag", "summe", "corrects"),
)

BAD_AMOUNTS = tuple(
    (f"QR-{number}", raw)
    for number, raw in (
        (77046, "1.299,00"), (77052, "2.048,50"), (77058, "1.015,90"), (77063, "12.480,00"), (77069, "3.333,33"),
        (77075, "1.100,00"), (77081, "4.999,95"), (77088, "1.750,25"), (77094, "7.205,00"), (77101, "1.001,01"),
        (77109, "2.640,80"), (77116, "9.870,00"), (77122, "1.480,15"), (77129, "5.512,60"), (77133, "1.925,40"),
        (77140, "1.299,00"), (77148, "6.060,06"), (77155, "2.222,20"), (77163, "8.145,75"), (77170, "1.377,00"),
        (77178, "3.090,10"),
    )
)  # fmt: skip
FALSE_DUPLICATES = (
    ("HB-24077", "AT-31552", "7c1f09a4be21"),
    ("HB-24119", "AT-31560", "e03b5d7714fa"),
    ("MD-58931", "AT-31288", "51aa90cc3e67"),
    ("NO-90402", "MD-58877", "b8d2240f9a15"),
    ("NO-90455", "HB-24302", "0f66e1d83b9c"),
    ("SU-11902", "NO-90388", "c94e7a2056d1"),
    ("SU-11947", "AT-31411", "2ad8b35f60e7"),
)


def source(subject: str) -> random.Random:
    """A random source of its own for one subject: adding to one output never changes another."""
    return random.Random(f"orderdesk/{subject}")  # noqa: S311 - repeatable on purpose, guards nothing


def pick[T](rng: random.Random, items: tuple[T, ...]) -> T:
    """One item, by the one method whose results Python promises to keep: ``random()``."""
    return items[int(rng.random() * len(items))]


def between(rng: random.Random, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return low + int(rng.random() * (high - low + 1))


def hex_digits(rng: random.Random, count: int) -> str:
    """Lower-case hex digits, for ids and digests that look the part."""
    return "".join("0123456789abcdef"[int(rng.random() * 16)] for _ in range(count))
