"""The invented project's files: hand-written modules, generated adapters and tests, and how Read shows them.

A file has versions (``v1`` before the fix, ``v2`` after it). Nothing here is ever imported or run.
"""

from __future__ import annotations

from pathlib import Path

from sessions.example.shop import FEEDS, Feed, between, hex_digits, source

FILES = Path(__file__).parent / "files"
COLUMNS = ("customer", "placed", "article", "quantity", "unit_price", "tax", "note", "channel", "voucher", "country",
           "weight", "carrier", "warehouse", "reason")  # fmt: skip


def file_text(name: str, version: int = 1) -> str:
    """A hand-written file of the project."""
    return (FILES / f"{name}.v{version}.txt").read_text(encoding="utf-8")


def numbered(text: str, first: int = 1, count: int | None = None) -> str:
    """A slice of a file as the Read tool shows it: six columns of line number, an arrow, the line."""
    lines = text.rstrip("\n").split("\n")[first - 1 :]
    return "\n".join(f"{number:6d}→{line}" for number, line in enumerate(lines[:count], start=first))


def feed_named(name: str) -> Feed:
    """The feed of that name; a name that is not one of ours is a mistake of the caller."""
    return next(feed for feed in FEEDS if feed.name == name)


def adapter_text(name: str) -> str:
    """The adapter module of one feed: a column map, its constants and one conversion per column."""
    feed = feed_named(name)
    rng = source(f"adapter/{name}")
    columns = {column: f"{feed.code.lower()}_{column[:5]}_{between(rng, 10, 99)}" for column in COLUMNS}
    lines = [
        f'"""Rows of the feed {name}, turned into orders."""',
        "",
        "from __future__ import annotations",
        "",
        "from datetime import date",
        "",
        "from orderdesk.adapters.base import Adapter, cell, register",
        "from orderdesk.importer.amounts import AmountStyle, parse_amount",
        "from orderdesk.importer.errors import RowError",
        "from orderdesk.models import Order, OrderLine",
        "",
        f'FEED = "{name}"',
        f'SEPARATOR = "{feed.separator!r}"',
        f'NUMBER_COLUMN = "{feed.number_column}"',
        f'TOTAL_COLUMN = "{feed.total_column}"',
        f'CORRECTION_COLUMN = "{feed.correction_column}"',
        f'DEFAULT_CURRENCY = "{feed.currency}"',
        f"STYLE = {style_of(feed)}",
        "COLUMNS = {",
        *(f'    "{ours}": "{theirs}",' for ours, theirs in columns.items()),
        "}",
        "",
    ]
    for ours, theirs in columns.items():
        limit = between(rng, 12, 240)
        lines += [
            "",
            f"def read_{ours}(values: dict[str, str]) -> str:",
            f'    """Column {theirs}; at most {limit} characters, empty is {"refused" if limit % 2 else "allowed"}."""',
            f'    text = cell(values, COLUMNS["{ours}"])',
            f"    if len(text) > {limit}:",
            f'        raise RowError(values.get(NUMBER_COLUMN, "?"), "{ours} is longer than {limit} characters")',
            "    return text",
            "",
        ]
    lines += [
        "",
        "@register(FEED)",
        f"class {name.capitalize()}Adapter(Adapter):",
        "    number_column = NUMBER_COLUMN",
        "    separator = SEPARATOR",
        "    required_columns = (NUMBER_COLUMN, TOTAL_COLUMN, *COLUMNS.values())",
        "",
        "    def to_order(self, row) -> Order:",
        '        """One order with a single line; the feed sends one article per row."""',
        "        values = row.values",
        '        currency = values.get("currency", DEFAULT_CURRENCY)',
        "        total = parse_amount(cell(values, TOTAL_COLUMN), currency, STYLE)",
        "        price = parse_amount(read_unit_price(values), currency, STYLE)",
        "        line = OrderLine(read_article(values), int(read_quantity(values) or 1), price)",
        "        return Order(",
        "            feed=FEED,",
        "            number=row.number,",
        "            customer_ref=read_customer(values),",
        "            placed_on=date.fromisoformat(read_placed(values)),",
        "            currency=currency,",
        "            total_minor=total.minor,",
        "            lines=(line,),",
        "            corrects=values.get(CORRECTION_COLUMN) or None,",
        "        )",
    ]
    return "\n".join(lines) + "\n"


def style_of(feed: Feed) -> str:
    """How the adapter declares the feed's way of writing amounts."""
    if feed.name == "harbour":
        return "AmountStyle(in_minor_units=True)"
    if feed.name in ("north", "quarry"):
        return 'AmountStyle(decimal_mark=",")'
    return "AmountStyle()"


def test_module_text(subject: str, cases: int) -> str:
    """A test module with a long parameter table, as such modules are."""
    rng = source(f"tests/{subject}")
    lines = [
        f'"""Tests of orderdesk.importer.{subject}: one behaviour a test, cases in a table."""',
        "",
        "import pytest",
        "",
        f"from orderdesk.importer import {subject}",
        "from tests.factories import make_case, run",
        "",
        "CASES = [",
    ]
    for number in range(1, cases + 1):
        feed = FEEDS[int(rng.random() * len(FEEDS))]
        order = f"{feed.code}-{feed.first_order + between(rng, 0, feed.rows - 1)}"
        cents = between(rng, 95, 899_999)
        lines.append(
            f'    ("{subject[0]}{number:02d}", "{feed.name}", "{order}", "{cents / 100:.2f}", {cents}, '
            f'"{hex_digits(rng, 12)}"),'
        )
    lines += [
        "]",
        "",
        "",
        '@pytest.fixture(params=CASES, ids=[case[0] for case in CASES], name="case")',
        "def fixture_case(request):",
        "    return make_case(*request.param)",
        "",
        "",
        f"def test_{subject}_reads_the_case(case):",
        "    result = run(case)",
        "",
        "    assert result.number == case.number",
        "    assert result.minor == case.minor",
        "",
        "",
        f"def test_{subject}_key_is_the_recorded_one(case):",
        "    result = run(case)",
        "",
        "    assert result.key == case.key",
    ]
    return "\n".join(lines) + "\n"
