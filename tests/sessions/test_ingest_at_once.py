"""Several imports of one session at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from sessions.deletion import delete_sessions
from sessions.ingest import ingest
from sessions.models import Message, Project, Session
from tests.sessions import recorded
from tests.sessions.recorded import FILE

SENDERS = 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("words_are_tokens")
def test_one_of_them_stores_it_and_the_others_find_it(project: Project) -> None:
    together = Barrier(SENDERS)

    def send(number: int) -> str:
        together.wait()
        try:
            return ingest(recorded.session(3), project=project, file=FILE).status
        finally:
            connection.close()

    with ThreadPoolExecutor(SENDERS) as pool:
        statuses = list(pool.map(send, range(SENDERS)))

    assert sorted(statuses) == ["created", "unchanged", "unchanged", "unchanged"]
    assert (Session.objects.count(), Message.objects.count()) == (1, 7)
    assert Session.objects.get().revision == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("words_are_tokens")
def test_recordings_that_open_alike_all_stay_however_they_meet(project: Project) -> None:
    together = Barrier(SENDERS)

    def send(number: int) -> str:
        parsed = recorded.session(2, key="opening", result=f"result {number}")
        parsed.beginning = "opening"
        together.wait()
        try:
            return ingest(parsed, project=project, file=FILE).session.key
        finally:
            connection.close()

    with ThreadPoolExecutor(SENDERS) as pool:
        keys = set(pool.map(send, range(SENDERS)))

    assert keys == {"opening", "opening~2", "opening~3", "opening~4"}
    assert Message.objects.count() == 5 * SENDERS


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("words_are_tokens")
def test_an_original_that_is_used_again_survives_the_deletion_of_its_last_session(project: Project) -> None:
    for number in range(5):
        gone = ingest(recorded.session(1, key="gone", result="shared"), project=project, file=FILE).session
        together = Barrier(2)

        def send(key: str, together: Barrier = together) -> None:
            together.wait()
            try:
                ingest(recorded.session(1, key=key, result="shared"), project=project, file=FILE)
            finally:
                connection.close()

        def delete(pk: int, together: Barrier = together) -> None:
            together.wait()
            try:
                delete_sessions(project=project, sessions=[pk])
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            work = [pool.submit(send, "kept"), pool.submit(delete, gone.pk)]
            for done in work:
                done.result()

        tools = Message.objects.filter(session__key="kept", role="tool")
        assert list(tools.values_list("original__text", flat=True)) == ["shared"], number
        delete_sessions(project=project, sessions=list(Session.objects.values_list("pk", flat=True)))
