"""The session page under a policy that climbs the ladder, and under another agent's rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from compression.composition import composition
from compression.engine.policy import Policy, build
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES
from compression.engine.snapshots import digest
from compression.forms import PageState, Side
from compression.policies import save_version
from compression.policy_keys import Choice
from compression.recall import stored_original
from compression.replay_document import Departure, ReplayDocument
from compression.replays import stored_replay
from compression.window_blocks import NoteBlock
from compression.window_strip import strip
from compression.window_view import Fold, Row, WindowView, window_view
from sessions.models import Project, Session
from tests.compression.sessions import parsed, store

LADDER: dict[str, Any] = {
    "name": "tight", "context_window": 9_000, "recent_tokens": 2_000, "min_reclaim_tokens": 100,
    "max_argument_tokens": 50,
}  # fmt: skip
REFERENCE = "full-summary"


@pytest.fixture
def session(project: Project) -> Session:
    return store(parsed(60, lines=40), project)


@pytest.fixture
def policy() -> Policy:
    return build(LADDER, "test")


@pytest.fixture
def document(session: Session, policy: Policy) -> ReplayDocument:
    found = stored_replay(session, policy)
    assert {event.kind for event in found.events} >= {"compress", "truncate"}
    return found


def shown(session: Session, document: ReplayDocument, policy: Policy, turn: int, side: Side) -> WindowView:
    state = PageState("/", turn, "tight", side, chosen=Choice("tight", "tight", policy))
    return window_view(session, document, state)


def last_turn_with_note(document: ReplayDocument) -> int:
    return next(turn for turn in reversed(range(document.turns)) if document.note(turn) is not None)


def left_and_right(rows: Iterable[Any]) -> tuple[int, int]:
    before = after = 0
    for row in rows:
        if isinstance(row, Fold):
            before, after = before + row.tokens_before, after + row.tokens_after
        elif isinstance(row, NoteBlock):
            after += row.note.tokens
        elif isinstance(row, Row):
            before += row.before.tokens if row.before else 0
            after += row.after.tokens if row.after else 0
    return before, after


def test_both_sides_add_up_to_the_table_at_every_turn(
    session: Session, document: ReplayDocument, policy: Policy
) -> None:
    for turn in range(document.turns):
        rows = shown(session, document, policy, turn, "both").rows

        assert left_and_right(rows) == (document.table.counted[turn], document.table.counted_after[turn]), turn


def test_the_side_after_adds_up_to_the_table_at_every_turn(
    session: Session, document: ReplayDocument, policy: Policy
) -> None:
    for turn in range(document.turns):
        rows = shown(session, document, policy, turn, "after").rows

        assert left_and_right(rows)[1] == document.table.counted_after[turn], turn


def test_strip_and_treemap_add_up_to_the_table_at_every_turn(document: ReplayDocument) -> None:
    for turn in range(document.turns):
        one, shares = strip(document, turn, after=True), composition(document, turn, after=True)

        assert abs(sum(piece.tokens for piece in one.pieces) - document.table.after[turn]) <= len(one.pieces)
        assert sum(share.tokens for share in shares) == document.table.after[turn]


def test_a_note_stands_behind_the_head_with_what_left(
    session: Session, document: ReplayDocument, policy: Policy
) -> None:
    turn = last_turn_with_note(document)

    [note] = [row for row in shown(session, document, policy, turn, "both").rows if isinstance(row, NoteBlock)]

    assert note.note == document.note(turn)
    assert note.left == len(document.gone(turn))


def test_a_message_that_left_says_when_and_by_which_step(
    session: Session, document: ReplayDocument, policy: Policy
) -> None:
    turn = last_turn_with_note(document)
    gone, event = next(iter(document.gone(turn).items()))
    state = PageState("/", turn, "tight", "both", open=gone, chosen=Choice("tight", "tight", policy))

    row = next(row for row in window_view(session, document, state).rows if isinstance(row, Row) and row.index == gone)

    assert row.after is None
    assert row.before is not None
    assert row.before.reason == f"left at turn {event.turn}: {event.kind} · {event.reason}"


def test_what_left_is_recalled_from_the_page_and_from_the_project(
    signed_in: Client, project: Project, user: User, session: Session, document: ReplayDocument, policy: Policy
) -> None:
    save_version(project=project, policy=policy, author=user)
    departures = [source for source in document._sources.values() if isinstance(source, Departure)]
    assert departures

    for departure in departures:
        sha, body = stored_original("apollo", departure.note.address)
        page = signed_in.get(f"{session.get_absolute_url()}originals/{departure.note.address}/?policy=v1")

        assert sha == departure.note.sha256 == digest(body.decode())
        assert page.context["slice"].text == body.decode()[: len(page.context["slice"].text)] != ""


def test_the_command_reads_what_left_by_its_address(document: ReplayDocument, capsys: Any) -> None:
    departure = next(source for source in document._sources.values() if isinstance(source, Departure))

    call_command("recall", departure.note.address, "--project", "apollo", "--lines", "1")

    assert capsys.readouterr().out.startswith(f"--- message {departure.left[0]} · ")


def test_the_steps_of_a_turn_stand_together_in_order(
    signed_in: Client, project: Project, user: User, session: Session, document: ReplayDocument, policy: Policy
) -> None:
    save_version(project=project, policy=policy, author=user)
    several = next(t for t in range(document.turns) if len([e for e in document.events if e.turn == t]) > 1)
    first = next(n for n, event in enumerate(document.events) if event.turn == several)

    page = signed_in.get(f"{session.get_absolute_url()}events/?policy=v1&first={first}").context["events"]

    rows = [row for row in page.rows if row.event.turn == several]
    assert [row.event for row in rows] == [event for event in document.events if event.turn == several]
    assert [row.is_first for row in rows] == [True, *[False] * (len(rows) - 1)]


def test_nothing_is_alarming_where_all_is_well(signed_in: Client, project: Project) -> None:
    quiet = store(parsed(3, key="quiet"), project)

    assert [banner.mood for banner in signed_in.get(quiet.get_absolute_url()).context["banners"]] == ["info"]


def test_an_overflow_is_an_error_with_its_turn_and_the_remedy(
    signed_in: Client, project: Project, user: User, session: Session
) -> None:
    policy = build({**LADDER, "ladder": False}, "test")
    save_version(project=project, policy=policy, author=user)
    turn = stored_replay(session, policy).summary["overflow_turn"]
    assert turn is not None

    banners = signed_in.get(f"{session.get_absolute_url()}?policy=v1").context["banners"]

    assert (banners[0].mood, banners[0].turn) == ("error", turn)
    assert banners[0].remedy == "Turn the fallback ladder on."


def test_the_ladder_switched_off_says_which_turn_overflows(
    signed_in: Client, project: Project, user: User, session: Session
) -> None:
    policy = build({**LADDER, "ladder": False}, "test")
    save_version(project=project, policy=policy, author=user)
    turn = stored_replay(session, policy).summary["overflow_turn"]

    page = signed_in.get(f"/projects/apollo/policy/?from=v1&session={session.pk}")

    assert f"off: turn {turn} overflows" in page.content.decode()


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_the_page_switches_to_any_reference_and_says_whose_rules_they_are(
    signed_in: Client, session: Session, name: str
) -> None:
    facts = signed_in.get(f"{session.get_absolute_url()}?policy={name}").context["reference"]

    reference = REFERENCES[name]
    assert (facts.version, facts.source, facts.simulated) == (reference.version, reference.source, reference.simulated)
    assert facts.breaks == tuple(sorted(reference.breaks))


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_a_reference_goes_through_the_form_unchanged(signed_in: Client, session: Session, name: str) -> None:
    page = signed_in.get(f"/projects/apollo/policy/?from={name}&session={session.pk}")
    form = page.context["form"]
    sent = {**form.data, "session": str(session.pk)}

    preview = signed_in.post("/projects/apollo/policy/preview/", sent, headers={"HX-Request": "true"})

    assert preview.status_code == 200
    assert preview.context["form"].policy == PRESETS[name]


def test_a_reference_without_a_name_is_a_fault_at_its_field(signed_in: Client, session: Session) -> None:
    page = signed_in.get(f"/projects/apollo/policy/?session={session.pk}")
    sent = {**page.context["form"].data, "strategy": "reference", "session": str(session.pk)}

    preview = signed_in.post("/projects/apollo/policy/preview/", sent, headers={"HX-Request": "true"})

    assert preview.status_code == 422
    assert "reference" in preview.context["form"].faults


def test_a_simulated_summary_says_that_it_is_one(signed_in: Client, project: Project) -> None:
    long = store(parsed(60, lines=120, key="long"), project)
    document = stored_replay(long, PRESETS[REFERENCE])
    turn = last_turn_with_note(document)

    page = signed_in.get(f"{long.get_absolute_url()}?policy={REFERENCE}&turn={turn}&side=after").content.decode()

    note = document.note(turn)
    assert note is not None
    assert note.simulated
    assert page.count("data-note") == 1
