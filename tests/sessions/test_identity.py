"""Recordings without an id of their own: which stored session one of them is, and which it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import DjangoAssertNumQueries

from sessions.import_file import ingest_all
from sessions.importers import read_sessions
from sessions.importers.parsed import ParsedSession, Part
from sessions.ingest import ingest
from sessions.models import Message, Project, Session
from tests.sessions import recorded
from tests.sessions.recorded import FILE

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens")]


def nameless(exchanges: int = 1, *, result: str = "two words") -> ParsedSession:
    """All of these open with the same words."""
    parsed = recorded.session(exchanges, key="opening", result=result)
    parsed.beginning = "opening"
    return parsed


def stored(project: Project, *recordings: ParsedSession) -> list[tuple[str, str]]:
    found = [ingest(parsed, project=project, file=FILE) for parsed in recordings]
    return [(one.session.key, one.status) for one in found]


@pytest.mark.parametrize(("first", "second"), [("short", "long"), ("long", "short"), ("short", "brief")])
def test_recordings_that_only_open_alike_are_two_sessions(project: Project, first: str, second: str) -> None:
    made = {"short": nameless(1, result="a"), "brief": nameless(1, result="b"), "long": nameless(3, result="c")}

    assert stored(project, made[first], made[second]) == [("opening", "created"), ("opening~2", "created")]
    assert Message.objects.count() == len(made[first].messages) + len(made[second].messages)


def test_a_continuation_updates_its_own_session_among_those_that_open_alike(project: Project) -> None:
    stored(project, nameless(1, result="a"), nameless(1, result="b"), nameless(1, result="c"))

    assert stored(project, nameless(3, result="b")) == [("opening~2", "updated")]
    assert list(Session.objects.order_by("pk").values_list("message_count", flat=True)) == [3, 7, 3]


def test_an_older_copy_changes_nothing(project: Project) -> None:
    stored(project, nameless(1, result="a"), nameless(3, result="b"))

    assert stored(project, nameless(2, result="b")) == [("opening~2", "unchanged")]
    assert Session.objects.get(key="opening~2").message_count == 7


def test_every_recording_comes_again_as_unchanged(project: Project) -> None:
    recordings = [nameless(2, result=result) for result in "abc"]
    stored(project, *recordings)

    again = stored(project, *(nameless(2, result=result) for result in "cab"))

    assert again == [("opening~3", "unchanged"), ("opening", "unchanged"), ("opening~2", "unchanged")]


def test_a_response_that_was_logged_in_part_is_continued(project: Project) -> None:
    whole = nameless(1)
    whole.messages[1].parts.append(Part("text", "and a word"))
    half = nameless(1)
    half.messages, half.turns = half.messages[:2], []

    assert stored(project, half, whole) == [("opening", "created"), ("opening", "updated")]
    assert stored(project, half) == [("opening", "unchanged")]


def test_a_response_that_lacks_a_part_does_not_take_it_away(project: Project) -> None:
    whole, half = nameless(0), nameless(0)
    whole.messages[0].parts.append(Part("text", "and a word"))

    assert stored(project, whole, half) == [("opening", "created"), ("opening", "unchanged")]
    assert len(Message.objects.get().parts) == 2


def test_a_number_that_was_freed_is_used_again(project: Project) -> None:
    stored(project, nameless(1, result="a"), nameless(1, result="b"), nameless(1, result="c"))
    Session.objects.get(key="opening~2").delete()

    assert stored(project, nameless(1, result="d")) == [("opening~2", "created")]


def test_sessions_of_one_file_stay_apart_however_alike_they_are(project: Project) -> None:
    file = [nameless(1), nameless(2), nameless(1)]

    first = ingest_all(file, project=project, file=FILE)
    again = ingest_all([nameless(1), nameless(2), nameless(1)], project=project, file=FILE)

    assert [one.session.key for one in first] == ["opening", "opening~2", "opening~3"]
    assert [(one.session.pk, one.status) for one in again] == [(one.session.pk, "unchanged") for one in first]


def test_a_sub_agent_follows_the_parent_that_was_stored_under_another_key(project: Project) -> None:
    stored(project, nameless(1, result="a"))
    parent, child = nameless(1, result="b"), recorded.session(key="opening:child")
    child.parent, child.beginning = "opening", "opening:child"

    ingest_all([parent, child], project=project, file=FILE)

    assert Session.objects.get(key="opening:child").parent == Session.objects.get(key="opening~2")


def test_a_session_with_an_id_is_known_by_it_whatever_it_says(project: Project) -> None:
    ingest(recorded.session(2, prompt="one"), project=project, file=FILE)

    again = ingest(recorded.session(3, prompt="another"), project=project, file=FILE)

    assert (again.status, Session.objects.count()) == ("updated", 1)


def test_many_that_open_alike_are_told_apart_in_a_few_queries(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    stored(project, *(nameless(1, result=str(number)) for number in range(30)))

    with django_assert_max_num_queries(20):
        assert stored(project, nameless(2, result="17")) == [("opening~18", "updated")]


def test_a_file_without_an_id_says_that_its_key_is_only_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]')
    (session,) = read_sessions(path)

    assert session.beginning == session.key
    assert len(session.key) == 32
