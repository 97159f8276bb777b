"""What the agent itself took out of its window: on the timeline, in the list, message by message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compression.own_compactions import LISTED, MESSAGES_PAGE
from sessions.importers.parsed import ParsedBoundary, ParsedMessage, ParsedSession, ParsedTurn, Part
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store


def compacted() -> ParsedSession:
    """Ten exchanges; before the seventh call a summary took the place of all that had been said."""
    session = parsed(10, lines=20)
    at = session.turns[6].request_end
    session.messages.insert(
        at, ParsedMessage("user", [Part("text", "So far: six logs read")], flags={"compact_summary"})
    )
    session.turns[6:] = [
        ParsedTurn(t.request_end + 1, t.response_end + 1, t.results_end + 1) for t in session.turns[6:]
    ]
    session.boundaries = [ParsedBoundary(at, "compact", summary=at)]
    return session


def blanked(*calls: str) -> ParsedSession:
    """Six exchanges; before the fifth call the named results were blanked."""
    session = parsed(6, lines=20)
    session.boundaries = [ParsedBoundary(session.turns[4].request_end - 1, "micro", cleared_call_ids=calls)]
    return session


def asked(client: Client, session: Session, path: str = "") -> Any:
    response = client.get(session.get_absolute_url() + path)
    assert response.status_code == 200
    return response.context


def test_a_compaction_names_what_left(signed_in: Client, project: Project) -> None:
    session = store(compacted(), project)

    [own] = asked(signed_in, session)["own"]

    tokens = sum(session.messages.filter(index__lt=13).values_list("tokens", flat=True))
    assert (own.turn, own.left, own.tokens_left, own.tools) == (6, tuple(range(13)), tokens, (("Bash", 6),))
    assert own.summary_tokens == session.messages.get(index=13).tokens
    assert own.before - own.after == tokens


def test_estimates_and_the_figures_of_the_log_stand_beside_each_other(signed_in: Client, project: Project) -> None:
    session = compacted()
    session.boundaries = [replace(session.boundaries[0], tokens_before=170_000, tokens_saved=140_000)]
    stored = store(session, project)

    html = signed_in.get(stored.get_absolute_url()).content.decode()
    [own] = asked(signed_in, stored)["own"]

    assert (own.logged_before, own.logged_saved) == (170_000, 140_000)
    assert '<td class="num">~<span class="fig"' in html
    assert ">170.0K</span></span></td>" in html
    assert '−<span class="fig" title="140\u202f000 tokens">140.0K</span></span></td>' in html


def test_the_timeline_marks_it_with_the_way_to_its_list(signed_in: Client, project: Project) -> None:
    session = store(compacted(), project)

    figure = signed_in.get(session.get_absolute_url() + "timeline/").json()

    [mark] = [trace for trace in figure["data"] if trace["name"] == "agent's own"]
    [[said, url]] = mark["customdata"]
    assert (mark["x"], mark["text"]) == ([6], ["✂"])
    assert said.startswith("the agent compacted; 13 messages, ~")
    assert said.endswith("; a summary stayed")
    assert url.startswith(f"{session.get_absolute_url()}compactions/0/?")


def test_the_list_leads_to_each_message_in_the_last_window_that_held_it(signed_in: Client, project: Project) -> None:
    session = store(compacted(), project)

    page = asked(signed_in, session, "compactions/0/")["left"]

    assert [row.message.index for row in page.rows] == list(range(MESSAGES_PAGE))
    assert page.rows[4].url == f"{session.get_absolute_url()}?turn=5&policy=hermes&side=both&axis=turns&open=4"


def test_named_results_are_those_that_were_blanked(signed_in: Client, project: Project) -> None:
    session = store(blanked("call-0", "call-2", "call-nowhere"), project)

    [own] = asked(signed_in, session)["own"]
    page = asked(signed_in, session, "compactions/0/")["left"]

    assert (own.left, own.cleared, own.named) == ((), (2, 6), 3)
    assert [(row.message.index, row.is_cleared) for row in page.rows] == [(2, True), (6, True)]
    assert own.tokens_left == sum(session.messages.filter(index__in=[2, 6]).values_list("tokens", flat=True))


def test_a_silent_fall_names_no_message(signed_in: Client, project: Project) -> None:
    session = store(parsed(3), project)
    session.boundaries = [{"turn": 2, "kind": "silent", "position": 5, "tokens_left": 400}]
    session.save()

    [own] = asked(signed_in, session)["own"]

    assert (own.left, own.cleared, own.said) == ((), (), "context fell; ~400 went, the log does not say what")
    assert asked(signed_in, session, "compactions/0/")["left"].rows == ()


def test_one_after_the_last_call_is_listed_without_a_turn(signed_in: Client, project: Project) -> None:
    session = parsed(3)
    session.boundaries = [ParsedBoundary(len(session.messages), "compact")]

    [own] = asked(signed_in, store(session, project))["own"]

    assert (own.turn, own.left) == (None, ())


def test_what_left_comes_in_pages(signed_in: Client, project: Project) -> None:
    session = parsed(30, lines=2)
    session.boundaries = [ParsedBoundary(session.turns[25].request_end - 1, "compact", originals_in_file=True)]
    stored = store(session, project)

    numbers: list[int] = []
    first: int | None = 0
    while first is not None:
        page = asked(signed_in, stored, f"compactions/0/?first={first}")["left"]
        assert len(page.rows) <= MESSAGES_PAGE
        numbers += [row.message.index for row in page.rows]
        first = page.next_first

    assert numbers == list(page.compaction.left)
    assert len(numbers) > MESSAGES_PAGE


@pytest.mark.parametrize("path", ["", "0/"])
def test_a_list_on_a_page_of_its_own_has_links_that_need_no_window_beside_it(
    signed_in: Client, project: Project, path: str
) -> None:
    url = f"{store(compacted(), project).get_absolute_url()}compactions/{path}"

    alone = signed_in.get(url).content.decode()
    within = signed_in.get(url, headers={"HX-Request": "true"}).content.decode()

    before, _, after = alone.partition("hx-disable")
    assert 'hx-target="#window"' not in before
    assert 'hx-target="#window"' in after
    assert 'hx-target="#window"' in within
    assert "hx-disable" not in within


def test_many_compactions_come_in_pages(signed_in: Client, project: Project) -> None:
    session = parsed(20, lines=2)
    session.boundaries = [ParsedBoundary(turn.request_end - 1, "compact") for turn in session.turns[1:]]
    stored = store(session, project)

    first = asked(signed_in, stored)
    second = asked(signed_in, stored, f"compactions/?first={LISTED}")

    assert [own.turn for own in (*first["own"], *second["own"])] == list(range(1, 1 + 2 * LISTED))
    assert (second["own_first"], second["own_total"]) == (LISTED, 19)


def test_queries_do_not_grow_with_the_compactions(signed_in: Client, project: Project) -> None:
    counts = []
    for number, exchanges in enumerate((5, 40)):
        session = parsed(exchanges, lines=2, key=f"k-{number}")
        session.boundaries = [ParsedBoundary(turn.request_end - 1, "compact") for turn in session.turns[1:]]
        stored = store(session, project)
        asked(signed_in, stored)
        with CaptureQueriesContext(connection) as queries:
            asked(signed_in, stored, "compactions/0/")
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_a_number_that_is_not_there_is_not_found(signed_in: Client, project: Project) -> None:
    assert signed_in.get(store(compacted(), project).get_absolute_url() + "compactions/1/").status_code == 404


def test_a_stranger_finds_none(client: Client, stranger: User, project: Project) -> None:
    session = store(compacted(), project)
    client.force_login(stranger)

    assert [client.get(f"{session.get_absolute_url()}compactions/{path}").status_code for path in ("", "0/")] == [
        404,
        404,
    ]
