from __future__ import annotations

from django.test import Client

from compression.engine.presets import PRESETS
from compression.message_kind import message_kind
from compression.replays import stored_replay
from sessions.models import Project
from tests.compression.sessions import parsed, store, with_event


def test_a_result_says_its_kind_how_sure_and_why(project: Project) -> None:
    session = store(parsed(3), project)
    found = message_kind(session, 2)

    assert found is not None
    assert found.kind == stored_replay(session, PRESETS["none"]).content_types[2]
    assert found.why


def test_what_is_no_result_has_no_kind(project: Project) -> None:
    session = store(parsed(3), project)

    assert (message_kind(session, 0), message_kind(session, 1), message_kind(session, 99)) == (None, None, None)


def test_the_kind_of_a_block_expands_to_its_reason(signed_in: Client, project: Project) -> None:
    session = store(parsed(3), project)
    found = message_kind(session, 2)
    assert found is not None

    html = signed_in.get(
        f"{session.get_absolute_url()}messages/2/kind/", headers={"HX-Request": "true"}
    ).content.decode()

    assert f"sure: {found.why}" in html
    assert (
        f'href="{session.get_absolute_url()}messages/2/kind/"'
        in signed_in.get(session.get_absolute_url() + "?open=2").content.decode()
    )


def test_a_message_without_a_kind_is_not_found(signed_in: Client, project: Project) -> None:
    session = store(parsed(3), project)

    statuses = [
        signed_in.get(f"{session.get_absolute_url()}messages/{index}/kind/").status_code for index in (0, 99, 2**40)
    ]

    assert statuses == [404, 404, 404]


def test_a_changed_block_says_why_and_what_it_kept(signed_in: Client, project: Project) -> None:
    session = with_event(project)
    edit = stored_replay(session, PRESETS["chapter"]).events[0].edits[0]

    html = signed_in.get(f"{session.get_absolute_url()}?policy=chapter&open={edit.message}").content.decode()

    assert f"sure: {edit.why} · kept: {', '.join(edit.kept)}</p>" in html
