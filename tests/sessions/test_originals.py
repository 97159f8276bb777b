"""Bodies of tool results: who points to them, and when they go."""

from __future__ import annotations

from hashlib import sha256
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection, transaction

from sessions.ingest import ingest
from sessions.models import Message, Original, Project, Session
from sessions.originals import sweep_originals
from tests.sessions import recorded
from tests.sessions.recorded import FILE

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("words_are_tokens")]


def address(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_the_message_of_a_result_points_to_its_original(project: Project) -> None:
    ingest(recorded.session(1), project=project, file=FILE)

    assert list(Message.objects.values_list("role", "original")) == [
        ("user", None),
        ("assistant", None),
        ("tool", address("two words")),
    ]
    assert Original.objects.get().messages.get().parts[0]["original"] == address("two words")


def test_a_longer_version_points_to_its_new_originals(project: Project) -> None:
    ingest(recorded.session(1, result="old"), project=project, file=FILE)

    ingest(recorded.session(1, result="new"), project=project, file=FILE)

    assert Message.objects.get(role="tool").original_id == address("new")


def test_messages_that_were_stored_before_are_linked_by_the_migration(project: Project) -> None:
    ingest(recorded.session(2), project=project, file=FILE)
    Message.objects.update(original=None)

    import_module("sessions.migrations.0004_link_stored_originals").link(apps, connection.schema_editor())

    assert list(Message.objects.filter(role="tool").values_list("original", flat=True)) == [address("two words")] * 2


def test_a_sweep_takes_what_no_message_needs_and_nothing_else(project: Project, other_project: Project) -> None:
    ingest(recorded.session(result="shared"), project=project, file=FILE)
    ingest(recorded.session(result="own", key="k-2"), project=project, file=FILE)
    ingest(recorded.session(result="shared"), project=other_project, file=FILE)
    Session.objects.filter(project=project).delete()

    with transaction.atomic():
        assert sweep_originals() == 1

    assert list(Original.objects.values_list("text", flat=True)) == ["shared"]
