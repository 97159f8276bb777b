"""How figures and foreign text look."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from sessions.templatetags import figures


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0K"),
        (15_000, "15.0K"),
        (152_113, "152.1K"),
        (999_949, "999.9K"),
        (999_950, "1.0M"),
        (18_900_000, "18.9M"),
        (-2500, "-2.5K"),
    ],
)
def test_tokens_are_short(number: int, shown: str) -> None:
    assert figures.short(number) == shown


def test_tokens_carry_the_exact_figure() -> None:
    html = figures.tokens(15_023)

    assert html == '<span class="fig" title="15\u202f023 tokens">15.0K</span>'


@pytest.mark.parametrize("absent", [None, "", "many"])
def test_what_is_no_figure_is_a_dash(absent: object) -> None:
    assert [figures.tokens(absent), figures.percent(absent), figures.count(absent)] == ["–", "–", "–"]


@pytest.mark.parametrize(
    ("ratio", "shown"), [(0.5, "50\u202f%"), (0.021, "2.1\u202f%"), (0, "0\u202f%"), (0.0996, "10\u202f%")]
)
def test_shares_below_a_tenth_have_a_decimal(ratio: float, shown: str) -> None:
    assert figures.percent(ratio) == shown


@pytest.mark.parametrize(("ratio", "width"), [(0.5, "50.0%"), (1.7, "100.0%"), (-1, "0.0%"), (None, "0.0%")])
def test_a_fill_stays_within_its_bar(ratio: float | None, width: str) -> None:
    assert figures.fill(ratio) == width


@pytest.mark.parametrize(("ratio", "level"), [(0.59, "calm"), (0.6, "warm"), (0.85, "hot"), (None, "calm")])
def test_a_fuller_window_looks_hotter(ratio: float | None, level: str) -> None:
    assert figures.usage_level(ratio) == level


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.45, "450\u202fms"),
        (3.2, "3.2\u202fs"),
        (59.97, "1\u202fmin"),
        (7620, "2\u202fh 07\u202fmin"),
        (180_000, "2\u202fd 2\u202fh"),
    ],
)
def test_durations_have_fitting_units(seconds: float, shown: str) -> None:
    assert figures.duration(seconds) == shown


def test_a_moment_is_shown_to_the_minute_and_kept_whole() -> None:
    html = figures.when(datetime(2026, 3, 5, 14, 7, 9, tzinfo=UTC))

    assert html == (
        '<time class="fig" datetime="2026-03-05T14:07:09+00:00" title="2026-03-05 14:07:09 UTC">'
        "5 Mar 2026, 14:07</time>"
    )


def test_seconds_that_no_calendar_holds_are_a_dash() -> None:
    assert figures.when(1e30) == "–"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "‹ESC›[31mred"),
        ("a\u202eb", "a‹U+202E›b"),
        ("a\u200bb\ufeff", "a‹U+200B›b‹U+FEFF›"),
        ("\U000e0041", "‹U+E0041›"),
        ("\ud800", "‹U+D800›"),
        ("one\r\ntwo\tthree\rfour", "one\ntwo\tthree‹CR›four"),
        ("见 👩\u200d💻", "见 👩\u200d💻"),
    ],
)
def test_hidden_characters_become_visible(text: str, shown: str) -> None:
    assert figures.visible(text) == shown


@given(st.text())
def test_visible_text_has_no_control_characters_left(text: str) -> None:
    shown = figures.visible(text)

    assert [character for character in shown if ord(character) < 32 and character not in "\t\n"] == []


def test_visible_text_is_still_escaped() -> None:
    page = Template("{% load figures %}{{ text|visible }}").render(Context({"text": "<b>\x07"}))

    assert page == "&lt;b&gt;‹BEL›"
