"""The write path: what is stored, and what happens when a session comes again."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest
from pytest_django.fixtures import Settings

from sessions.importers.parsed import ParsedBoundary, ParsedMessage, ParsedSession, Part, Usage
from sessions.ingest import ingest
from sessions.measures import Measurement
from sessions.models import Message, Original, Project, Session, Turn
from tests.sessions import recorded
from tests.sessions.recorded import FILE, words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens")]


def test_a_new_session_is_stored_with_its_counts(project: Project) -> None:
    ingested = ingest(recorded.session(2), project=project, file=FILE)

    session = Session.objects.get()
    assert (ingested.status, ingested.session) == ("created", session)
    assert (session.message_count, session.turn_count, session.tool_call_count, session.tool_result_count) == (
        5,
        2,
        2,
        2,
    )
    assert session.counted_tokens == 3 + 2 * (1 + 2) + 5 * 4
    assert session.peak_context_tokens == 115
    assert session.skipped == [{"reason": "torn line", "count": 1}]
    assert session.file_sha256 == FILE.sha256
    assert session.revision == 1


def test_a_message_keeps_only_the_fields_that_say_something(project: Project) -> None:
    ingest(recorded.session(), project=project, file=FILE)

    prompt, call, result = Message.objects.all()
    assert prompt.parts == [{"kind": "text", "tokens": 3, "text": "do it now"}]
    assert prompt.tokens == 3 + 4
    assert call.parts == [{"kind": "tool_call", "tokens": 1, "text": '{"a":1}', "call_id": "call-0", "name": "Bash"}]
    address = sha256(b"two words").hexdigest()
    assert result.parts == [
        {"kind": "tool_result", "tokens": 2, "original": address, "call_id": "call-0", "name": "Bash"}
    ]


def test_a_prompt_belongs_to_the_turn_that_sent_it_first(project: Project) -> None:
    parsed = recorded.session(2)
    parsed.messages.append(recorded.user_says("nobody answered"))

    ingest(parsed, project=project, file=FILE)

    assert list(Message.objects.values_list("turn", flat=True)) == [0, 0, 0, 1, 1, None]


def test_the_body_of_a_result_is_stored_once(project: Project) -> None:
    ingest(recorded.session(3, result="same\nbody"), project=project, file=FILE)

    original = Original.objects.get()
    assert (original.sha256, original.text) == (sha256(b"same\nbody").hexdigest(), "same\nbody")
    assert (original.size_bytes, original.lines) == (9, 2)


def test_a_turn_keeps_the_figures_of_the_provider(project: Project) -> None:
    ingest(recorded.session(2), project=project, file=FILE)

    turn = Turn.objects.get(index=1)
    assert (turn.request_end, turn.response_end, turn.results_end) == (3, 4, 5)
    assert (turn.has_usage, turn.context_tokens, turn.cache_read, turn.cache_write, turn.output) == (
        True,
        115,
        10,
        5,
        7,
    )


def test_the_same_content_twice_is_unchanged(project: Project) -> None:
    first = ingest(recorded.session(2), project=project, file=FILE)

    second = ingest(recorded.session(2), project=project, file=FILE)

    assert (second.status, second.session.pk) == ("unchanged", first.session.pk)
    assert Session.objects.get().revision == 1


def test_an_unchanged_session_is_not_counted_again(project: Project, settings: Settings) -> None:
    ingest(recorded.session(), project=project, file=FILE)
    settings.AGENT_SESSIONS_MEASURE = "tests.sessions.test_ingest.refuse"

    assert ingest(recorded.session(), project=project, file=FILE).status == "unchanged"


def refuse(parsed: object) -> Measurement:
    raise AssertionError("counted again")


def test_a_longer_version_updates_the_session_and_keeps_its_address(project: Project) -> None:
    first = ingest(recorded.session(1), project=project, file=FILE).session

    second = ingest(recorded.session(3), project=project, file=FILE)

    assert (second.status, second.session.pk, second.session.revision) == ("updated", first.pk, 2)
    assert list(Message.objects.values_list("index", flat=True)) == list(range(7))
    assert Turn.objects.count() == 3


def test_a_longer_version_leaves_the_rows_alone_that_stay_the_same(project: Project) -> None:
    ingest(recorded.session(1), project=project, file=FILE)
    before = list(Message.objects.values_list("pk", flat=True))
    Message.objects.filter(index=1).update(source_id="touched by the test")

    ingest(recorded.session(2), project=project, file=FILE)

    assert list(Message.objects.values_list("pk", flat=True))[:3] == before
    assert Message.objects.get(index=1).source_id == ""


def test_an_older_and_shorter_copy_changes_nothing(project: Project) -> None:
    ingest(recorded.session(3), project=project, file=FILE)

    again = ingest(recorded.session(1), project=project, file=FILE)

    assert again.status == "unchanged"
    assert Message.objects.count() == 7


def test_a_rewritten_and_shorter_session_replaces_the_rows(project: Project) -> None:
    ingest(recorded.session(3), project=project, file=FILE)

    again = ingest(recorded.session(1, prompt="something else"), project=project, file=FILE)

    assert again.status == "updated"
    assert (Message.objects.count(), Turn.objects.count()) == (3, 1)
    assert Message.objects.get(index=0).parts[0]["text"] == "something else"


def test_two_projects_hold_the_same_session_apart(project: Project, other_project: Project) -> None:
    ingest(recorded.session(), project=project, file=FILE)

    again = ingest(recorded.session(), project=other_project, file=FILE)

    assert again.status == "created"
    assert Session.objects.count() == 2
    assert Original.objects.count() == 1


@pytest.mark.parametrize("order", [("parent", "child"), ("child", "parent")])
def test_parent_and_child_find_each_other_in_any_order(project: Project, order: tuple[str, str]) -> None:
    for key in order:
        parsed = recorded.session(key=key)
        parsed.parent = "parent" if key == "child" else ""
        ingest(parsed, project=project, file=FILE)

    assert Session.objects.get(key="child").parent == Session.objects.get(key="parent")


def test_boundaries_are_stored_with_the_turn_that_felt_them_first(project: Project) -> None:
    parsed = recorded.session(2)
    parsed.boundaries.append(ParsedBoundary(position=2, kind="micro", cleared_call_ids=("call-0",), tokens_saved=9))

    session = ingest(parsed, project=project, file=FILE).session

    assert session.boundaries == [
        {
            "turn": 1,
            "kind": "micro",
            "position": 2,
            "summary": None,
            "preserved": [],
            "cleared_call_ids": ["call-0"],
            "tokens_before": None,
            "tokens_saved": 9,
            "originals_in_file": True,
        }
    ]


def test_silent_clearings_join_the_boundaries(project: Project, settings: Settings) -> None:
    settings.AGENT_SESSIONS_MEASURE = "tests.sessions.test_ingest.with_a_silent_clearing"

    session = ingest(recorded.session(2), project=project, file=FILE).session

    assert session.boundaries == [{"turn": 1, "kind": "silent", "tokens_left": 5000}]


def with_a_silent_clearing(parsed: ParsedSession) -> Measurement:
    measured = words(parsed)
    return Measurement(measured.part_tokens, silent=[{"turn": 1, "kind": "silent", "tokens_left": 5000}])


def test_characters_that_no_database_takes_are_made_visible(project: Project) -> None:
    parsed = recorded.session(result="a\x00b \udcb2")
    parsed.messages[0] = ParsedMessage("user", [Part("text", "nul\x00")], source_id="id\x00")
    parsed.title = "title\x00"

    session = ingest(parsed, project=project, file=FILE).session

    session.refresh_from_db()
    assert session.title == "title␀"
    assert Original.objects.get().text == "a␀b \ufffd"
    first = Message.objects.get(index=0)
    assert (first.source_id, first.parts[0]["text"]) == ("id␀", "nul␀")


def test_figures_beyond_what_a_database_holds_are_cut_off(project: Project) -> None:
    parsed = recorded.session()
    parsed.context_window = 10**40
    parsed.turns[0] = replace(parsed.turns[0], usage=Usage(uncached=10**40, output=-1))
    parsed.started_at = 1e300

    session = ingest(parsed, project=project, file=FILE).session

    assert session.context_window == 2**53 - 1
    assert session.started_at is None
    turn = Turn.objects.get()
    assert (turn.context_tokens, turn.output) == (2**53 - 1, 0)


def test_a_failure_in_the_middle_stores_nothing(project: Project, settings: Settings) -> None:
    settings.AGENT_SESSIONS_MEASURE = "tests.sessions.test_ingest.one_count_short"

    with pytest.raises(ValueError, match="shorter"):
        ingest(recorded.session(), project=project, file=FILE)

    assert (Session.objects.count(), Original.objects.count()) == (0, 0)


def one_count_short(parsed: ParsedSession) -> Measurement:
    return Measurement(words(parsed).part_tokens[:-1])


def test_the_window_that_a_policy_would_assume_stands_beside_the_log_s_own(
    project: Project, settings: Settings
) -> None:
    settings.AGENT_SESSIONS_MEASURE = "tests.sessions.test_ingest.with_a_window"

    session = ingest(recorded.session(), project=project, file=FILE).session

    assert (session.context_window, session.window_tokens) == (None, 200_000)


def with_a_window(parsed: ParsedSession) -> Measurement:
    return Measurement(words(parsed).part_tokens, window_tokens=200_000)
