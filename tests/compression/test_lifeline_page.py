from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from compression.engine.presets import PRESETS
from compression.lifeline_page import MOMENTS_PAGE, WIDTH
from compression.replays import stored_replay
from sessions.importers.parsed import Part
from sessions.models import Project, Session
from tests.compression.losing import HOLDER, losing, needing
from tests.compression.sessions import parsed, store
from tests.compression.test_losses_page import CARD, card
from tests.compression.test_session_page import Nodes


def lifeline(client: Client, session: Session, name: str, query: str = "policy=chapter") -> Any:
    return card(client, session, f"{query}&name={quote(name)}", "lifeline").context


def test_a_name_is_followed_under_the_policy_and_under_the_agents_own_compactions(
    signed_in: Client, project: Project
) -> None:
    session = losing(project, own=True)
    lost = next(name for name in stored_replay(session, PRESETS["chapter"]).lost if name.name == "10042")

    ours, own = lifeline(signed_in, session, "10042")["lanes"]

    assert [(moment.turn, moment.state) for moment in ours.moments] == [
        (2, "seen"),
        (lost.left_at, "gone"),
        (59, "used"),
    ]
    assert [(moment.turn, moment.state) for moment in own.moments] == [(2, "seen"), (30, "gone"), (59, "used")]
    assert (ours.label, own.label) == ("under chapter", "the agent’s own")
    assert own.said == "seen ×1, used ×1, gone ×1"


def test_the_picture_is_drawn_to_the_scale_of_the_turns(signed_in: Client, project: Project) -> None:
    own = lifeline(signed_in, losing(project, own=True), "10042")["lanes"][1]

    # 60 turns over 1,000 units: seen at turn 2, gone from 30 on, used at 59.
    assert own.bands == {"in": "M33 9H500V23H33zM983 9H1000V23H983z", "gone": "M500 9H983V23H500z"}
    assert own.ticks == {"seen": "M41 0V9", "used": "M991 23V32", "gone": "M508 9V23"}


def test_what_happened_in_both_lanes_stands_once_in_the_table(signed_in: Client, project: Project) -> None:
    rows = lifeline(signed_in, losing(project, own=True), "10042")["rows"].rows

    assert [(row.moment.turn, row.said, row.where) for row in rows if row.moment.state != "gone"] == [
        (2, "seen", "under chapter, the agent’s own"),
        (59, "used", "under chapter, the agent’s own"),
    ]


def test_under_the_policy_recorded_there_is_one_lane(signed_in: Client, project: Project) -> None:
    context = lifeline(signed_in, losing(project, own=True), "10042", "policy=recorded")

    assert [lane.label for lane in context["lanes"]] == ["the agent’s own"]


def test_a_session_without_compactions_has_one_lane(signed_in: Client, project: Project) -> None:
    assert len(lifeline(signed_in, losing(project), "10042")["lanes"]) == 1


def test_a_moment_leads_to_its_turn_and_to_the_original(signed_in: Client, project: Project) -> None:
    session = losing(project)

    seen, gone, _used = lifeline(signed_in, session, "10042")["rows"].rows

    assert f"turn=2&policy=chapter&side=both&axis=turns&open={HOLDER}&name=10042" in seen.url
    assert "row 10042 of batch" in signed_in.get(gone.recall_url).content.decode()


def test_the_lost_names_are_suggested(signed_in: Client, project: Project) -> None:
    session = losing(project)
    context = card(signed_in, session, "policy=chapter", "lifeline").context

    ((name, url),) = context["suggested"]

    assert name == "10042"
    assert signed_in.get(url, headers={"HX-Request": "true"}).context["is_known"]


def test_a_name_that_nobody_said_is_told_so(signed_in: Client, project: Project) -> None:
    response = card(signed_in, losing(project), "policy=chapter&name=never_said", "lifeline")

    assert "No message of this session says it." in response.content.decode()


def test_the_address_of_the_page_holds_the_name(signed_in: Client, project: Project) -> None:
    session = losing(project)
    response = card(signed_in, session, "policy=chapter&turn=40&name=10042", "lifeline")

    assert response["HX-Replace-Url"] == (
        f"{session.get_absolute_url()}?turn=40&policy=chapter&side=both&axis=turns&name=10042"
    )
    assert (
        "lifeline/?turn=40&amp;policy=chapter&amp;side=both&amp;axis=turns&amp;name=10042"
        in signed_in.get(response["HX-Replace-Url"]).content.decode()
    )


def test_a_name_said_at_every_turn_comes_a_page_at_a_time(signed_in: Client, project: Project) -> None:
    found = parsed(300, lines=1)
    for turn in found.turns:
        found.messages[turn.request_end].parts[0] = Part("text", "again it_is_said")
    context = lifeline(signed_in, store(found, project), "it_is_said")

    assert (len(context["rows"].rows), context["rows"].total) == (MOMENTS_PAGE, 300)
    assert signed_in.get(context["later_url"]).context["rows"].first == MOMENTS_PAGE


def test_the_picture_has_no_more_places_than_it_is_wide(signed_in: Client, project: Project) -> None:
    found = parsed(1_500, lines=1)
    for turn in found.turns:
        found.messages[turn.request_end].parts[0] = Part("text", "again it_is_said")

    (lane,) = lifeline(signed_in, store(found, project), "it_is_said")["lanes"]

    assert [path.count("M") <= WIDTH for path in lane.ticks.values()] == [True]


@pytest.mark.parametrize(
    "name", ["<script>x</script>", "\x1b[31m", "\u202egnp.exe", "'; DROP TABLE", "a&b=c", "..", " "]
)
def test_odd_names_are_text(signed_in: Client, project: Project, name: str) -> None:
    session = store(parsed(3), project)
    html = card(signed_in, session, f"name={quote(name)}", "lifeline").content.decode()

    assert "<script" not in html


@pytest.mark.parametrize("name", ["x" * 301, "a\x00b"])
def test_names_that_cannot_be_are_refused(signed_in: Client, project: Project, name: str) -> None:
    session = store(parsed(3), project)

    assert signed_in.get(f"{session.get_absolute_url()}lifeline/?name={quote(name)}").status_code == 400


def test_the_card_of_a_lifeline_stays_small(signed_in: Client, project: Project) -> None:
    found = needing(own=True)
    for turn in found.turns[10:]:
        found.messages[turn.request_end].parts[0] = Part("text", "row 10042")
    response = card(signed_in, store(found, project), "policy=chapter&name=10042", "lifeline")

    assert Nodes(response.content.decode()).count <= CARD
