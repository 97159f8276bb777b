"""Sorting, filtering and paging of the sessions table."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from sessions import session_list
from sessions.models import Project, Session
from sessions.session_list import page_of

pytestmark = pytest.mark.django_db


def add(project: Project, key: str, **fields: Any) -> Session:
    return Session.objects.create(
        project=project, key=key, content_sha256="", **{"format": "codex", "title": key, **fields}
    )


def walk(project: Project, sort: str) -> list[str]:
    keys: list[str] = []
    after = ""
    for _ in range(20):
        page = page_of(Session.objects.filter(project=project), sort=sort, after=after)
        keys += [row.key for row in page.rows]
        if not (after := page.after):
            break
    return keys


@pytest.mark.parametrize("sort", [sign + name for name in session_list.SORTS for sign in ("", "-")])
def test_pages_hold_every_session_once_in_every_order(
    project: Project, sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_list, "PAGE_SIZE", 3)
    for number in range(10):
        has_figures = number % 3 != 0
        add(
            project,
            f"k{number}",
            title=f"T{number % 4}",
            model="m" * (number % 2),
            turn_count=number % 3,
            started_at=datetime(2026, 1, 1 + number % 2, tzinfo=UTC) if has_figures else None,
            peak_context_tokens=number * 100 if has_figures else None,
            context_window=1000 if number % 2 else None,
        )

    keys = walk(project, sort)

    assert len(keys) == 10
    assert set(keys) == {f"k{number}" for number in range(10)}


def test_peaks_sort_by_their_share_of_the_window_and_unknown_ones_come_last(project: Project) -> None:
    add(project, "half", peak_context_tokens=500, context_window=1000)
    add(project, "unknown")
    add(project, "full", peak_context_tokens=90, context_window=100)

    assert walk(project, "-peak") == ["full", "half", "unknown"]


def test_every_word_must_occur_somewhere(project: Project) -> None:
    add(project, "a", title="Fix the parser", agent="codex_cli")
    add(project, "b", title="Fix the lexer", agent="codex_cli")

    page = page_of(Session.objects.all(), text="PARSER codex")

    assert [row.key for row in page.rows] == ["a"]


def test_format_and_model_filter_exactly(project: Project) -> None:
    add(project, "a", model="m1")
    add(project, "b", model="m2")
    add(project, "c", model="m1", format="openai-chat")

    page = page_of(Session.objects.all(), format_name="codex", model="m1")

    assert [row.key for row in page.rows] == ["a"]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "W10", "%00", "bnVsbA", "WyItdHVybnMiLCBudWxsLCAxXQ", "WyItdHVybnMiLCAxLCA5OTk5OTk5OTk5OTk5OTk5OTk5OV0"],
)
def test_a_broken_cursor_gives_the_first_page(project: Project, cursor: str) -> None:
    add(project, "a")

    assert [row.key for row in page_of(Session.objects.all(), sort="-turns", after=cursor).rows] == ["a"]


def test_an_unknown_sort_is_the_newest_first(project: Project) -> None:
    add(project, "old", started_at=datetime(2025, 1, 1, tzinfo=UTC))
    add(project, "new", started_at=datetime(2026, 1, 1, tzinfo=UTC))

    assert walk(project, "password") == ["new", "old"]


def test_a_range_of_days_includes_both_of_them(project: Project) -> None:
    for day in range(1, 6):
        add(project, f"k{day}", started_at=datetime(2026, 1, day, 23, 30, tzinfo=UTC))
    add(project, "undated")

    page = page_of(Session.objects.all(), since=date(2026, 1, 2), until=date(2026, 1, 4), sort="started")

    assert [row.key for row in page.rows] == ["k2", "k3", "k4"]


@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_ends_of_the_calendar_are_days_too(project: Project, day: date) -> None:
    add(project, "a", started_at=datetime(2026, 1, 1, tzinfo=UTC))

    assert len(page_of(Session.objects.all(), since=day, until=day).rows) == 0


def test_failures_and_boundaries_filter_by_their_counts(project: Project) -> None:
    add(project, "neither")
    add(project, "failed", tool_error_count=2)
    add(project, "both", tool_error_count=1, boundary_count=1)

    assert {row.key for row in page_of(Session.objects.all(), failures=True).rows} == {"failed", "both"}
    assert [row.key for row in page_of(Session.objects.all(), boundaries=True).rows] == ["both"]


def test_pages_of_a_filtered_table_go_on_where_the_last_one_ended(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_list, "PAGE_SIZE", 2)
    for number in range(6):
        add(project, f"k{number}", turn_count=number, tool_error_count=number % 2)

    first = page_of(Session.objects.all(), failures=True, sort="turns")
    second = page_of(Session.objects.all(), failures=True, sort="turns", after=first.after)

    assert [row.key for row in (*first.rows, *second.rows)] == ["k1", "k3", "k5"]
    assert second.after == ""
