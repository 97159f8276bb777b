from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from compression import lost_names
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.retention import losses
from compression.losses_page import NAMES_PAGE, archives_said, points, why_no_names
from compression.lost_names import LostName
from compression.replay_document import ReplayDocument, document_of
from compression.replays import stored_replay
from compression.transcripts import from_session
from sessions.importers.parsed import Part
from sessions.models import Project, Session
from tests.compression.losing import HOLDER, losing, needing, saying
from tests.compression.sessions import store, with_event
from tests.compression.test_session_page import Nodes

CARD = 120
"""Nodes of the card at most: with the page and its chart they stay under 1,500."""


def card(client: Client, session: Session, query: str, route: str = "losses") -> Any:
    response = client.get(f"{session.get_absolute_url()}{route}/?{query}", headers={"HX-Request": "true"})
    assert response.status_code == 200
    return response


def many(project: Project) -> Session:
    """Every result's middle row is named by the last response."""
    found = needing()
    found.messages[-2].parts[0] = Part("text", " ".join(f"row {n * 10_000 + 42}" for n in range(1, 30)))
    return store(found, project)


# what is stored


def test_a_name_that_left_is_stored_with_where_it_was_left_and_was_used(project: Project) -> None:
    document = stored_replay(losing(project), PRESETS["chapter"])

    event = next(event for event in document.events if any(edit.message == HOLDER for edit in event.edits))
    address = next(edit.address for edit in event.edits if edit.message == HOLDER)
    assert document.lost == (LostName("10042", "number", HOLDER, event.turn, 119, 59, True, address),)
    assert document.lost_total == 1


def test_what_was_stored_is_read_as_it_was(project: Project) -> None:
    document = stored_replay(losing(project), PRESETS["chapter"])

    assert ReplayDocument.unpacked(document.packed()).lost == document.lost


def test_names_are_stored_up_to_a_bound_and_all_are_counted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_names, "MOST", 2)
    subject = from_session(many(project))
    document = document_of(replay(subject.transcript, PRESETS["chapter"], subject.calibration))

    assert (len(document.lost), document.lost_total > 2) == (2, True)


def test_long_names_are_stored_cut(project: Project) -> None:
    path = "/srv/" + "deep/" * 100 + "end.py"
    found = saying(needing(), f"{path} of batch")
    found.messages[-2].parts[0] = Part("text", f"open {path}")
    document = stored_replay(store(found, project), PRESETS["chapter"])

    assert [(lost.name, lost.is_cut) for lost in document.lost] == [(path[: lost_names.NAME_CHARS], True)]


# figures


def test_the_figures_are_the_engines_with_what_they_are_shares_of(signed_in: Client, project: Project) -> None:
    session = losing(project)
    summary = stored_replay(session, PRESETS["chapter"]).summary
    subject = from_session(session)
    found = losses(replay(subject.transcript, PRESETS["chapter"], subject.calibration))

    shown = card(signed_in, session, "policy=chapter").context["losses"]

    assert [(one.word, one.figure, one.of) for one in shown] == [
        ("used later, still in view", "50\u202f%", "1 of 2 names used later"),
        ("in view or reachable by recall", "100\u202f%", "2 of 2"),
        ("lift over truncation", points(summary["rlr_lift"]), "cut to the same tokens: 50\u202f%"),
        (
            "turns that need a lost name",
            "50\u202f%",
            f"1 of {sum(loss.turns_after for loss in found)} turns after an event",
        ),
        ("tokens of recall tax", str(summary["recall_tax"]), "for 1 lost name"),
    ]


@pytest.mark.parametrize(("share", "said"), [(0.077, "+7.7 points"), (-0.5, "−50 points"), (0.0, "0 points")])
def test_a_lift_is_said_in_points(share: float, said: str) -> None:
    assert points(share) == said


def test_names_by_class_and_by_horizon_add_up(signed_in: Client, project: Project) -> None:
    horizons, classes = card(signed_in, losing(project), "policy=chapter&by=figures").context["groups"]

    assert [(row.label, row.n, row.view) for row in classes] == [("number", 2, 0.5)]
    assert [(row.label, row.n) for row in horizons] == [
        ("to the end", 2),
        ("next 50 responses", 2),
        ("next 10 responses", 2),
    ]


def test_nothing_needed_is_no_evidence(signed_in: Client, project: Project) -> None:
    response = card(signed_in, with_event(project), "policy=chapter")

    assert response.context["losses"] == []
    assert "No evidence: nothing that left was used by name afterwards. That is not 100 %." in response.content.decode()


def test_a_policy_that_never_acts_lost_nothing(project: Project) -> None:
    document = stored_replay(losing(project), PRESETS["none"])

    assert why_no_names(document, is_own=False) == "The policy changed nothing in this session: nothing left the view."


def test_all_still_in_view_is_said_with_their_number(project: Project) -> None:
    document = stored_replay(losing(project), PRESETS["chapter"])
    kept = replace(document, lost=(), lost_total=0)

    assert why_no_names(kept, is_own=False) == "All 2 names that were used later are still in view."


def test_archives_stand_beside_what_they_freed(project: Project) -> None:
    summary = dict(stored_replay(losing(project), PRESETS["chapter"]).summary)
    figures = {"archives": 2, "archive_freed": 1_500, "archive_n": 4, "archive_view": 0.25, "archive_reach": 1.0}

    said = archives_said(summary | figures | {"archive_claims": 9, "archive_fidelity": 1.0})

    assert archives_said(summary) == ""
    assert said == (
        "2 new windows freed 1.5K tokens. Of 4 names needed later 25\u202f% are in view, 100\u202f% in reach; of 9 "
        "claims about the state 100\u202f% are true."
    )


# the agent's own compactions


def test_what_the_agents_own_compactions_lost_is_counted_alike(signed_in: Client, project: Project) -> None:
    context = card(signed_in, losing(project, own=True), "policy=chapter&of=own").context

    assert [one.word for one in context["losses"]] == [
        "used later, still in view",
        "in view or reachable by recall",
        "turns that need a lost name",
        "tokens of recall tax",
        "repeat reads",
    ]
    assert {(line.lost.name, line.lost.left_at, line.recall_url) for line in context["names"].lines} == {
        ("10042", 30, ""),
        ("10075", 30, ""),
    }
    assert all("policy=recorded" in line.left_url for line in context["names"].lines)


def test_the_policy_recorded_shows_the_same_names(signed_in: Client, project: Project) -> None:
    session = losing(project, own=True)

    own, recorded = (card(signed_in, session, query).context["names"] for query in ("of=own", "policy=recorded"))

    assert [line.lost for line in own.lines] == [line.lost for line in recorded.lines]


def test_a_session_without_compactions_offers_no_second_lane(signed_in: Client, project: Project) -> None:
    assert card(signed_in, losing(project), "policy=chapter").context["owners"] == []


# names


def test_a_name_leads_to_where_it_was_left_and_was_used(signed_in: Client, project: Project) -> None:
    session = losing(project)
    lost = stored_replay(session, PRESETS["chapter"]).lost[0]

    (line,) = card(signed_in, session, "policy=chapter").context["names"].lines

    assert (line.tool, line.arrived_at) == ("Bash", 2)
    assert f"turn=2&policy=chapter&side=both&axis=turns&open={HOLDER}" in line.from_url
    assert f"turn={lost.left_at}&" in line.left_url
    assert "turn=59&" in line.used_url
    assert "name=10042" in line.lifeline_url


def test_the_recall_link_brings_the_original(signed_in: Client, project: Project) -> None:
    (line,) = card(signed_in, losing(project), "policy=chapter").context["names"].lines

    assert "row 10042 of batch" in signed_in.get(line.recall_url).content.decode()


@pytest.mark.parametrize(("sort", "first"), [("from", 4), ("-from", 50), ("nonsense", 4)])
def test_names_are_sorted_by_where_they_were(signed_in: Client, project: Project, sort: str, first: int) -> None:
    page = card(signed_in, many(project), f"policy=chapter&sort={sort}").context["names"]

    assert page.lines[0].lost.message == first


def test_names_come_a_page_at_a_time(signed_in: Client, project: Project) -> None:
    session = many(project)
    first = card(signed_in, session, "policy=chapter").context
    second = signed_in.get(first["later_url"], headers={"HX-Request": "true"}).context

    seen = [line.lost.name for context in (first, second) for line in context["names"].lines]
    assert len(set(seen)) == 2 * NAMES_PAGE
    assert signed_in.get(second["earlier_url"]).context["names"].lines == first["names"].lines


@pytest.mark.parametrize("first", ["99999999", "-1", "x", "٣"])
def test_a_page_that_is_not_there_is_the_last_or_the_first(signed_in: Client, project: Project, first: str) -> None:
    assert card(signed_in, many(project), f"policy=chapter&first={first}").context["names"].lines


# the card


@pytest.mark.parametrize("query", ["", "&by=figures", "&of=own"])
def test_the_card_stays_small(signed_in: Client, project: Project, query: str) -> None:
    session = many(project)

    assert Nodes(card(signed_in, session, f"policy=chapter{query}").content.decode()).count <= CARD


def test_a_card_of_a_replay_at_hand_costs_four_queries(
    signed_in: Client, project: Project, django_assert_num_queries: Any
) -> None:
    session = many(project)
    card(signed_in, session, "policy=chapter")

    with django_assert_num_queries(4):
        card(signed_in, session, "policy=chapter&first=5")


def test_without_scripts_the_card_is_a_page_of_its_own(signed_in: Client, project: Project) -> None:
    html = signed_in.get(f"{losing(project).get_absolute_url()}losses/?policy=chapter").content.decode()

    assert "<h1" in html or "Losses" in html
    assert "hx-target" not in html.partition('id="retention"')[2]


def test_the_page_waits_with_a_link_for_whoever_runs_no_scripts(signed_in: Client, project: Project) -> None:
    html = signed_in.get(losing(project).get_absolute_url() + "?policy=chapter").content.decode()

    assert html.count('hx-trigger="revealed"') == 2  # what was lost, what it cost
    assert "Open what was lost" in html


def test_a_name_that_is_markup_stays_text(signed_in: Client, project: Project) -> None:
    found = saying(needing(), 'failed on "<script>x</script> &amp;"')
    found.messages[-2].parts[0] = Part("text", "it was <script>x</script> &amp; again")
    session = store(found, project)

    html = card(signed_in, session, "policy=recorded").content.decode()
    html += card(signed_in, session, "policy=chapter").content.decode()

    assert "<script" not in html


def test_the_facts_say_what_was_retained(signed_in: Client, project: Project) -> None:
    facts = signed_in.get(losing(project).get_absolute_url() + "?policy=chapter").context["facts"]

    assert [(fact.figure, fact.word) for fact in facts[-2:]] == [
        ("50\u202f%", "used later, still in view, n = 2"),
        ("100\u202f%", "reachable by recall, or in view"),
    ]
