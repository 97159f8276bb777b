"""Several imports of one session at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

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
