from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compression import session_search
from compression.engine.patterns import BadPattern
from compression.search_query import SearchQuery
from compression.session_search import HITS_PAGE, Found, snippet
from sessions.importers.parsed import ParsedSession, Part
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store, with_event


def found(client: Client, session: Session, query: str) -> Found:
    response = client.get(f"{session.get_absolute_url()}search/?{query}", headers={"HX-Request": "true"})
    assert response.status_code == 200
    result: Found = response.context["found"]
    return result


def said(text: str, number: int, *, is_error: bool = False) -> ParsedSession:
    """A session of five exchanges in which one result says something else."""
    session = parsed(5, lines=2)
    message = session.messages[2 + 2 * number]
    message.parts[0] = replace(message.parts[0], text=text, is_error=is_error)
    return session


# one text


@pytest.mark.parametrize(
    ("query", "text", "places"),
    [
        (SearchQuery("b"), "aBcb", [(1, 2), (3, 4)]),
        (SearchQuery("é"), "xÉé", [(1, 2), (2, 3)]),
        (SearchQuery("aa"), "aaaa", [(0, 2), (2, 4)]),
        (SearchQuery("a.c"), "abc", []),
        (SearchQuery("a.c", regex=True), "é ABC aéc", [(2, 5), (6, 9)]),
        (SearchQuery("^b$", regex=True), "a\nb\nc", [(2, 3)]),
        (SearchQuery("x*", regex=True), "aéxx", [(2, 4)]),
    ],
)
def test_places_are_counted_in_characters(query: SearchQuery, text: str, places: list[tuple[int, int]]) -> None:
    assert query.places(text) == places


@pytest.mark.parametrize("pattern", ["(", "a{1001}", r"(?=a)", r"(a)\1"])
def test_what_re2_does_not_take_is_named(pattern: str) -> None:
    with pytest.raises(BadPattern, match="no RE2 expression: ") as caught:
        SearchQuery(pattern, regex=True)

    assert "(?m)" not in str(caught.value)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*b", "x*"])
def test_no_expression_takes_more_than_time_in_proportion(pattern: str) -> None:
    started = perf_counter()

    SearchQuery(pattern, regex=True).places("a" * 500_000 + "!")

    assert perf_counter() - started < 1


def test_a_snippet_is_one_line_with_what_was_found() -> None:
    text = "x" * 200 + "one\ntwo" + "y" * 200

    cut = snippet(text, [(200, 207)])

    assert (cut.before, cut.found, cut.after) == ("…" + "x" * 70, "one⏎two", "y" * 70 + "…")


# a session


def test_a_word_is_found_in_the_result_that_says_it(signed_in: Client, project: Project) -> None:
    session = store(said("nothing but a Needle here", 2), project)

    result = found(signed_in, session, "q=needle")

    assert [(hit.message, hit.tool, hit.turn, hit.snippet.found) for hit in result.hits] == [(6, "Bash", 3, "Needle")]
    assert result.marks == [(3, 1)]


def test_a_hit_leads_to_the_turn_that_first_held_it_with_its_block_open(signed_in: Client, project: Project) -> None:
    session = store(said("a needle", 1), project)

    hit = found(signed_in, session, "q=needle&policy=chapter").hits[0]

    assert hit.url == f"{session.get_absolute_url()}?turn=2&policy=chapter&side=both&axis=turns&open=4&q=needle"


def test_arguments_of_calls_are_searched(signed_in: Client, project: Project) -> None:
    result = found(signed_in, store(parsed(5), project), "q=" + quote("cat var/log/3"))

    assert [(hit.message, hit.kind) for hit in result.hits] == [(7, "tool_call")]


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("role=user", [0]),
        ("role=tool&q=worker-3", [8]),
        ("tool=bas&role=tool", [2, 4, 6, 8, 10]),
        ("tool=read", []),
        ("errors_only=on", [8]),
        ("errors_only=on&q=nothing", []),
        ("q=worker-%5B12%5D&regex=on", [4, 6]),
        ("zone=later&turn=2&role=tool", [6, 8, 10]),
        ("zone=window&turn=1", [0, 1, 2]),
    ],
)
def test_filters_hold_together(signed_in: Client, project: Project, query: str, messages: list[int]) -> None:
    session = store(said("worker-3 failed", 3, is_error=True), project)

    assert [hit.message for hit in found(signed_in, session, query).hits] == messages


def test_a_zone_is_that_of_the_turn_under_the_policy(signed_in: Client, project: Project) -> None:
    session = with_event(project)

    before = found(signed_in, session, "zone=compressed&policy=none")
    after = found(signed_in, session, "zone=compressed&policy=chapter")

    assert before.total == 0
    assert after.total > 0
    assert {hit.zone for hit in after.hits} == {"compressed"}


def test_pages_join_to_all_that_was_found(signed_in: Client, project: Project) -> None:
    session = store(parsed(25, lines=2), project)

    numbers: list[int] = []
    query = "role=tool"
    while True:
        result = found(signed_in, session, query)
        assert (result.total, result.first) == (25, len(numbers))
        numbers += [hit.message for hit in result.hits]
        if result.next_after is None:
            break
        query = f"role=tool&after={result.next_after}"

    assert numbers == list(range(2, 52, 2))


def test_marks_count_the_messages_of_each_turn(signed_in: Client, project: Project) -> None:
    result = found(signed_in, store(parsed(4, lines=2), project), "q=log")

    assert result.marks == [(1, 1), (2, 1), (3, 1)]
    assert result.total == 4


def test_many_marks_are_added_up(signed_in: Client, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_search, "MARKS_SHOWN", 3)

    result = found(signed_in, store(parsed(8, lines=2), project), "role=tool")

    assert result.marks == [(1, 3), (4, 3), (7, 1)]


def test_a_search_that_takes_too_long_says_how_far_it_came(
    signed_in: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_search, "TIME_LIMIT", -1.0)

    assert found(signed_in, store(parsed(3), project), "q=row").stopped_at == 0


def test_without_scripts_the_page_itself_shows_what_was_found(signed_in: Client, project: Project) -> None:
    session = store(said("a needle", 2), project)

    html = signed_in.get(f"{session.get_absolute_url()}?q=needle&regex=&errors_only=").content.decode()

    assert "<mark>needle</mark>" in html
    assert 'value="needle"' in html


def test_what_is_found_is_escaped(signed_in: Client, project: Project) -> None:
    session = store(said("<script>alert(1)</script> \x1b[31m needle \u202e", 2), project)

    response = signed_in.get(f"{session.get_absolute_url()}?q={quote('<script>')}")

    html = response.content.decode()
    assert "<mark>&lt;script&gt;</mark>alert(1)&lt;/script&gt; ‹ESC›[31m needle ‹U+202E›" in html
    assert "<script>alert" not in html


def test_a_bad_expression_is_named_in_its_place(signed_in: Client, project: Project) -> None:
    session = store(parsed(2), project)

    response = signed_in.get(f"{session.get_absolute_url()}search/?q=(&regex=on", headers={"HX-Request": "true"})

    assert response.status_code == 200
    assert '<p class="fault">&#x27;(&#x27; is no RE2 expression: missing ): (</p>' in response.content.decode()


def test_the_address_holds_the_search(signed_in: Client, project: Project) -> None:
    session = store(parsed(2), project)

    response = signed_in.get(f"{session.get_absolute_url()}search/?q=row&role=tool", headers={"HX-Request": "true"})

    wanted = "?turn=1&policy=hermes&side=both&axis=turns&q=row&role=tool"
    assert response["HX-Replace-Url"] == session.get_absolute_url() + wanted


def test_a_stranger_finds_nothing(client: Client, stranger: User, project: Project) -> None:
    client.force_login(stranger)

    assert client.get(store(parsed(2), project).get_absolute_url() + "search/?q=row").status_code == 404


def test_a_text_too_long_to_be_shown_is_still_searched_to_its_end(signed_in: Client, project: Project) -> None:
    session = store(said("x\n" * 100_000 + "needle", 1), project)

    assert found(signed_in, session, "q=needle").total == 1


def test_queries_do_not_grow_and_two_thousand_messages_take_little(signed_in: Client, project: Project) -> None:
    small, large = (
        store(parsed(50, lines=40, key="small"), project),
        store(parsed(1_000, lines=40, key="large"), project),
    )

    counts: list[Any] = []
    for session in (small, large):
        found(signed_in, session, "q=row")
        with CaptureQueriesContext(connection) as queries:
            started = perf_counter()
            result = found(signed_in, session, "q=wrote+row+10&regex=on")
            taken = perf_counter() - started
        counts.append(len(queries))

    assert counts == [5, 5]
    assert len(result.hits) == HITS_PAGE
    assert taken < 0.6  # 0.1 s on a quiet machine


def test_a_part_without_text_is_no_fault(signed_in: Client, project: Project) -> None:
    session = parsed(2, lines=2)
    session.messages[1].parts.append(Part("opaque"))

    assert found(signed_in, store(session, project), "q=zzz").total == 0
