"""The card "Cost" of a session page, the log of events and the facts, against the engine's own ledger."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compression.cost_comparison import Way, ways
from compression.cost_events import event_cost
from compression.cost_page import PAGE, observed
from compression.engine.cache_comparison import compare_caching
from compression.engine.costs import ledger_of
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.forms import PageState
from compression.replay_document import ReplayDocument
from compression.replays import stored_replay
from compression.templatetags.costs import exactly, points
from compression.transcripts import from_session
from sessions.importers.parsed import ParsedBoundary, ParsedSession, Usage
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store

CHAPTER = PRESETS["chapter"]
MODEL = "claude-sonnet-4-5"
OCTOBER_2025 = 1_760_000_000.0
HOSTILE = "<script>alert(1)</script>\x1b[31m"


def priced(exchanges: int = 60, *, lines: int = 76, key: str = "k-1") -> ParsedSession:
    """A session of a model whose price is known, on a day when its provider had a cache."""
    session = parsed(exchanges, lines=lines, key=key)
    session.models = [MODEL]
    return later(session, OCTOBER_2025)


def with_records(exchanges: int, *, read: float) -> ParsedSession:
    """As ``priced``, with usage: each call reads that share of the one before and writes the rest."""
    session = priced(exchanges, lines=4)
    sizes = [20_000 + 200 * number for number in range(exchanges)]
    reads = [0, *(round(size * read) for size in sizes)]
    session.turns = [
        replace(turn, usage=Usage(uncached=0, cache_read=cached, cache_write=size - cached, output=50))
        for turn, size, cached in zip(session.turns, sizes, reads, strict=False)
    ]
    return session


def paused(session: ParsedSession, turn: int, seconds: float) -> ParsedSession:
    """The same with a pause before a turn."""
    return later(session, seconds, turn)


def later(session: ParsedSession, seconds: float, turn: int = 0) -> ParsedSession:
    """The same with everything after the answer before a turn so much later; from the first on the whole session."""
    first = session.turns[turn - 1].response_end if turn else 0
    session.messages = [
        replace(message, timestamp=None if message.timestamp is None else message.timestamp + seconds)
        if index >= first
        else message
        for index, message in enumerate(session.messages)
    ]
    session.turns = [
        replace(row, time=None if row.time is None else row.time + seconds) if number >= turn else row
        for number, row in enumerate(session.turns)
    ]
    return session


def state(policy: str = "chapter") -> PageState:
    return PageState("/s/", 0, policy)


def chapter_ways(session: Session) -> list[Way]:
    return ways(session, stored_replay(session, CHAPTER), state())


def card(client: Client, session: Session, by: str = "", *, policy: str = "chapter") -> str:
    response = client.get(f"{session.get_absolute_url()}cost/?policy={policy}&by={by}", headers={"HX-Request": "true"})
    assert response.status_code == 200
    return response.content.decode()


def test_the_stored_ledger_adds_up_to_the_engines_dollars(project: Project) -> None:
    session = store(priced(), project)
    subject = from_session(session)
    ledger = ledger_of(replay(subject.transcript, CHAPTER, subject.calibration))

    stored = stored_replay(session, CHAPTER).cost

    assert ledger.cost is not None
    assert stored.costs == tuple(ledger.costs)
    assert sum(cost.total for cost in stored.costs or ()) == ledger.cost.total


def test_a_ledger_comes_back_from_the_database_as_it_went(project: Project) -> None:
    document = stored_replay(store(paused(priced(), 30, 1_000), project), CHAPTER)

    assert ReplayDocument.unpacked(document.packed()).cost == document.cost


def test_the_ways_are_the_engines_comparison(project: Project) -> None:
    session = store(priced(), project)
    subject = from_session(session)
    wanted = compare_caching(subject.transcript, CHAPTER, subject.calibration)

    found = chapter_ways(session)

    assert sorted((w.tokens, w.hit_rate or 0.0, w.cost_usd, w.events) for w in found) == sorted(
        (c.tokens, c.hit_rate or 0.0, c.cost_usd, c.events) for c in wanted
    )


def test_the_ways_stand_in_the_order_of_the_chapter(project: Project) -> None:
    found = chapter_ways(store(priced(), project))

    assert [(way.key, way.with_cache) for way in found] == [
        ("none", False),
        ("own", False),
        ("own", True),
        ("none", True),
        ("sliding", True),
    ]


def test_no_compression_is_held_against_the_sliding_window_only(project: Project) -> None:
    session = store(priced(10), project)

    found = ways(session, stored_replay(session, PRESETS["none"]), state("none"))

    assert [(way.key, way.with_cache) for way in found] == [("none", False), ("none", True), ("sliding", True)]


def test_an_agent_that_compacted_its_window_has_a_row_of_its_own(project: Project) -> None:
    compacted = priced()
    compacted.boundaries = [ParsedBoundary(compacted.turns[30].request_end - 1, "compact")]
    session = store(compacted, project)

    own = ways(session, stored_replay(session, CHAPTER), state())[-1]

    assert (own.key, own.with_cache) == ("recorded", True)
    assert own.tokens == sum(stored_replay(session, PRESETS["recorded"]).table.after)


def test_differences_are_dollars_over_dollars(signed_in: Client, project: Project) -> None:
    session = store(priced(), project)
    plain, _own_plain, own, cached, _sliding = chapter_ways(session)

    rows = signed_in.get(f"{session.get_absolute_url()}cost/?policy=chapter").context["rows"]

    assert own.cost_usd is not None
    assert plain.cost_usd is not None
    assert cached.cost_usd is not None
    assert [row.is_chosen for row in rows] == [False, False, True, False, False]
    assert rows[2].against_plain == float(own.cost_usd / plain.cost_usd - 1)
    assert rows[2].against_cached == float(own.cost_usd / cached.cost_usd - 1)
    assert (rows[0].against_plain, rows[3].against_cached) == (None, None)


def test_an_unknown_price_is_said_and_leads_to_where_prices_are_set(signed_in: Client, project: Project) -> None:
    session = store(parsed(10), project)

    html = card(signed_in, session)

    assert "No price is known for a model of this session" in html
    assert "m-1" in html
    assert "Set prices for this project" in html
    assert "$" not in html


def test_the_name_of_an_unknown_model_is_text(signed_in: Client, project: Project) -> None:
    session = parsed(3)
    session.models = [HOSTILE]

    html = card(signed_in, store(session, project))

    assert "<script>alert" not in html
    assert "\x1b" not in html


def test_an_event_says_when_it_pays_and_what_its_rewrite_costs(project: Project) -> None:
    document = stored_replay(store(priced(), project), CHAPTER)
    event, ledger = document.events[0], document.cost
    one = ledger.break_at[event.turn]

    found = event_cost(document, 0)

    assert found is not None
    assert found.break_even == ledger.break_evens[0]
    assert found.calls_after == len(ledger.read) - event.turn - 1
    assert found.resent == one.tokens
    assert found.usd == one.tokens * (Decimal("3.75") - Decimal("0.3")) / 1_000_000


def test_an_event_on_a_cold_cache_throws_nothing_away(project: Project) -> None:
    warm = stored_replay(store(priced(), project), CHAPTER)
    turn = warm.events[0].turn
    session = store(paused(priced(key="k-2"), turn, 7_200), project)

    found = event_cost(stored_replay(session, CHAPTER), 0)

    assert found is not None
    assert (found.is_cold, found.break_even, found.resent, found.usd) == (True, 0.0, 0, None)


def test_the_log_of_events_has_both_figures(signed_in: Client, project: Project) -> None:
    session = store(priced(), project)
    found = event_cost(stored_replay(session, CHAPTER), 0)

    html = signed_in.get(f"{session.get_absolute_url()}events/?policy=chapter").content.decode()

    assert found is not None
    assert f"{found.break_even:.1f} of {found.calls_after}" in html
    assert f"{found.usd:.4f}" in html


def test_breaks_name_their_cause_and_lead_to_the_first_changed_message(signed_in: Client, project: Project) -> None:
    session = store(priced(), project)
    event = stored_replay(session, CHAPTER).events[0]

    html = card(signed_in, session, "breaks")

    assert "an event changed it" in html
    assert (
        f"turn={event.turn}&amp;policy=chapter&amp;side=both&amp;axis=turns&amp;open={event.first_changed_message}"
        in html
    )


def test_a_pause_breaks_the_prefix_by_expiry(project: Project) -> None:
    document = stored_replay(store(paused(priced(20, lines=20), 12, 400), project), CHAPTER)

    assert [(one.turn, one.cause, one.message) for one in document.cost.breaks] == [(12, "expiry", None)]
    assert document.cost.idle[12] == 400.0


def test_recorded_usage_stands_beside_the_simulation_with_its_error(project: Project) -> None:
    document = stored_replay(store(with_records(20, read=1.0), project), PRESETS["recorded"])

    found = observed(document)

    assert found is not None
    assert found.calls == 20
    assert found.hit_rate == document.summary["observed_hit_rate"]
    assert round(found.simulated, 6) == document.summary["hit_rate"]
    assert found.error == document.summary["hit_rate_error"]


def test_without_usage_nothing_stands_beside_the_simulation(signed_in: Client, project: Project) -> None:
    html = card(signed_in, store(priced(10), project), "basis")

    assert "The log records no usage" in html


def test_the_lifetime_is_shown_with_the_idle_gaps_that_say_so(signed_in: Client, project: Project) -> None:
    session = store(paused(with_records(20, read=1.0), 8, 1_200), project)

    html = card(signed_in, session, "basis")

    assert "<b>1 h</b>" in html
    assert "1 of 1 idle gaps over 5 minutes survived" in html
    assert "turn=8&amp;policy=chapter" in html


def test_what_moved_is_listed_with_its_turn_cost_and_remedy(signed_in: Client, project: Project) -> None:
    recorded = with_records(12, read=1.0)
    usage = Usage(uncached=0, cache_read=0, cache_write=21_200, output=50)
    recorded.turns[6] = replace(recorded.turns[6], usage=usage)
    session = store(recorded, project)
    finding = stored_replay(session, CHAPTER).cost.findings[0]

    html = card(signed_in, session, "stability")

    assert "Unforced breaks: <b>1</b>" in html
    assert "turn=6&amp;policy=chapter" in html
    assert f"{Decimal(finding['cost_usd']):.4f}" in html
    assert finding["remedy"] in html


def test_a_session_where_nothing_moved_says_so(signed_in: Client, project: Project) -> None:
    html = card(signed_in, store(with_records(12, read=1.0), project), "stability")

    assert "Nothing moved" in html


def test_lists_come_a_page_at_a_time(signed_in: Client, project: Project) -> None:
    session = priced(30, lines=30)
    for turn in range(4, 30, 2):
        session = paused(session, turn, 400)

    html = card(signed_in, store(session, project), "breaks")

    assert html.count("<tr>") == PAGE + 1
    assert f"1–{PAGE} of 13" in html


def test_the_facts_show_the_observed_hit_rate_beside_the_simulated(signed_in: Client, project: Project) -> None:
    session = store(with_records(20, read=1.0), project)
    response = signed_in.get(session.get_absolute_url())
    summary = response.context["document"].summary

    words = {fact.figure: fact.word for fact in response.context["facts"]}

    assert f"observed {exactly(summary['observed_hit_rate'])}" in words[exactly(summary["hit_rate"])]


def test_the_card_is_a_page_of_its_own_without_scripts(signed_in: Client, project: Project) -> None:
    session = store(with_records(10, read=1.0), project)

    html = signed_in.get(f"{session.get_absolute_url()}cost/").content.decode()

    assert html.startswith("<!doctype html>")
    assert "Simulated beside recorded" in html
    assert 'id="cost-figure"' in html
    assert "hx-get" not in html[html.index('id="cost"') :]


def test_a_session_without_calls_has_no_costs(signed_in: Client, project: Project) -> None:
    empty = parsed(0)

    session = store(empty, project)

    assert signed_in.get(f"{session.get_absolute_url()}cost/").status_code == 404
    assert 'id="cost"' not in signed_in.get(session.get_absolute_url()).content.decode()


def test_the_bars_add_up_to_the_dollars_of_each_way(signed_in: Client, project: Project) -> None:
    session = store(priced(), project)

    figure = signed_in.get(f"{session.get_absolute_url()}cost/figure/?policy=chapter").json()

    sums = [round(sum(column), 4) for column in zip(*(trace["x"] for trace in figure["data"]), strict=True)]
    assert sums == [round(float(way.cost_usd or 0), 4) for way in chapter_ways(session)]


def test_the_bars_are_tokens_where_no_price_is_known(signed_in: Client, project: Project) -> None:
    session = store(parsed(10), project)

    figure = signed_in.get(f"{session.get_absolute_url()}cost/figure/?policy=chapter").json()

    sums = [sum(column) for column in zip(*(trace["x"] for trace in figure["data"]), strict=True)]
    assert sums == [way.tokens for way in chapter_ways(session)]


@pytest.mark.parametrize("by", ["ways", "breaks", "stability", "basis"])
def test_queries_do_not_grow_with_the_session(signed_in: Client, project: Project, by: str) -> None:
    counts = []
    for exchanges in (10, 60):
        session = store(priced(exchanges, key=f"k-{exchanges}"), project)
        card(signed_in, session, by)
        with CaptureQueriesContext(connection) as captured:
            card(signed_in, session, by)
        counts.append(len(captured))

    assert counts[0] == counts[1]
    assert counts[0] <= 6


def test_opening_the_page_works_no_other_way_out(signed_in: Client, project: Project) -> None:
    session = store(priced(), project)

    signed_in.get(session.get_absolute_url() + "?policy=chapter")

    assert session.replays.count() == 1


@pytest.mark.parametrize(
    ("difference", "said"), [(0.0042, "+0.4 points"), (-0.0042, "−0.4 points"), (0.0001, "0.0 points")]
)
def test_a_difference_of_shares_is_told_in_points(difference: float, said: str) -> None:
    assert points(difference) == said
