from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.stubs import Stubber
from compression.transcripts import from_session
from compression.warm_sessions import warm_session
from compression.what_if import what_if
from sessions.models import Project
from tests.compression.sessions import parsed, store, with_event

CHAPTER = PRESETS["chapter"]


def test_only_the_windows_that_held_the_message_shrink_by_its_stub(project: Project) -> None:
    session = with_event(project)
    subject = from_session(session)
    windows = replay(subject.transcript, PRESETS["none"], subject.calibration).windows_before

    answer = what_if(warm_session(session), CHAPTER, 20)

    assert answer is not None
    part, tokens = subject.transcript.messages[20].parts[0], subject.transcript.counts[20][0]
    stub = Stubber().stub(part, tokens, CHAPTER, '{"command":"cat var/log/9.log"}')
    assert stub is not None
    assert (answer.tokens, answer.stub_tokens, answer.requests) == (tokens, stub.tokens, 50)
    assert (answer.sent, answer.freed) == (sum(windows), 50 * (tokens - stub.tokens))


def test_one_stub_may_put_the_overflow_off(project: Project) -> None:
    session = with_event(project)
    subject = from_session(session)
    windows = replay(subject.transcript, PRESETS["none"], subject.calibration).windows_before
    tight = CHAPTER.model_copy(update={"context_window": windows[40] - 10, "reserve_output": 0})

    answer = what_if(warm_session(session), tight, 2)

    assert answer is not None
    assert (answer.overflow, answer.overflow_if) == (40, 41)


def test_what_no_policy_compresses_is_said(project: Project) -> None:
    answer = what_if(warm_session(store(parsed(3), project)), CHAPTER, 0)

    assert answer is not None
    assert answer.verdict == "no result"


def test_a_result_after_the_last_call_was_never_sent(project: Project) -> None:
    answer = what_if(warm_session(store(parsed(3), project)), CHAPTER, 6)

    assert answer is not None
    assert answer.verdict == "never sent"


def test_a_stub_that_is_no_shorter_changes_nothing(project: Project) -> None:
    answer = what_if(warm_session(store(parsed(3, lines=1), project)), CHAPTER, 2)

    assert answer is not None
    assert (answer.verdict, answer.freed) == ("no shorter stub", 0)


def test_a_message_that_is_not_there_is_not_found(signed_in: Client, project: Project) -> None:
    session = store(parsed(3), project)

    assert signed_in.get(f"{session.get_absolute_url()}eaters/99/").status_code == 404


def test_a_stranger_is_not_answered(client: Client, stranger: User, project: Project) -> None:
    session = store(parsed(3), project)
    client.force_login(stranger)

    assert client.get(f"{session.get_absolute_url()}eaters/2/").status_code == 404


def test_the_page_works_nothing_out_before_it_is_asked(signed_in: Client, project: Project) -> None:
    session = with_event(project)

    html = signed_in.get(session.get_absolute_url()).content.decode()
    answer = signed_in.get(f"{session.get_absolute_url()}eaters/2/", headers={"HX-Request": "true"}).content.decode()

    assert 'class="answer"' not in html
    assert answer.count('class="answer"') == 1
