from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from compression import replay_document, replays
from compression.engine.presets import PRESETS
from compression.models import StoredReplay
from compression.replay_document import ReplayDocument
from compression.replays import stored_replay
from sessions.models import Project
from tests.compression.sessions import parsed, store, with_event

CHAPTER = PRESETS["chapter"]


@pytest.fixture(autouse=True)
def empty_shelf() -> None:
    replays._shelf.clear()


def test_a_replay_is_stored_once_and_then_read(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session = with_event(project)
    first = stored_replay(session, CHAPTER)
    replays._shelf.clear()

    with django_assert_num_queries(1):
        second = stored_replay(session, CHAPTER)

    assert second == first
    assert StoredReplay.objects.count() == 1


def test_a_replay_at_hand_asks_nothing(project: Project, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    session = with_event(project)
    first = stored_replay(session, CHAPTER)

    with django_assert_num_queries(0):
        second = stored_replay(session, CHAPTER)

    assert second is first


def test_a_grown_session_is_worked_out_anew_and_the_old_replay_goes(project: Project) -> None:
    stored_replay(store(parsed(3), project), CHAPTER)

    grown = stored_replay(store(parsed(5), project), CHAPTER)

    assert grown.turns == 5
    assert [row.revision for row in StoredReplay.objects.all()] == [2]


def test_a_replay_of_an_older_layout_is_worked_out_anew(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    session = store(parsed(3), project)
    monkeypatch.setattr(replay_document, "LAYOUT", 1)
    first = stored_replay(session, CHAPTER)
    monkeypatch.undo()
    replays._shelf.clear()

    assert stored_replay(session, CHAPTER) == first
    assert ReplayDocument.unpacked(bytes(StoredReplay.objects.get().body)) == first


def test_policies_are_stored_beside_each_other(project: Project) -> None:
    session = store(parsed(3), project)

    for name in ("hermes", "chapter", "none"):
        stored_replay(session, PRESETS[name])

    assert StoredReplay.objects.count() == 3


def test_a_document_survives_packing(project: Project) -> None:
    document = stored_replay(with_event(project), CHAPTER)

    assert ReplayDocument.unpacked(document.packed()) == document
    assert len(document.events) > 0


def test_times_of_a_log_without_them_give_no_minutes(project: Project) -> None:
    assert stored_replay(store(parsed(3, with_times=False), project), CHAPTER).minutes is None


def test_minutes_count_from_the_first_call(project: Project) -> None:
    assert stored_replay(store(parsed(3), project), CHAPTER).minutes == (0.0, 1.0, 2.0)
