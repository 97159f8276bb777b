"""NUL characters, which PostgreSQL takes in no text and no JSON: kept where they are the content, refused or shown
elsewhere, and never a failure of the server. The same holds on SQLite, so that both are asked.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from compression import policies
from compression.engine.policy import InvalidPolicy, build
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion, Snapshot
from sessions.ingest import ingest
from sessions.models import Project, Session
from sessions.tokens import create_token
from tests.compression.live.requests import openai_messages
from tests.sessions import recorded
from tests.sessions.recorded import FILE
from tests.test_rights import OPERATIONS, PAGES, World, address, as_user, world

pytestmark = pytest.mark.django_db
__all__ = ["world"]  # a fixture, used by its name

NUL = "a\0b"
SHOWN = "a\u2400b"
NAMES = (
    "q", "name", "title", "slug", "note", "origin", "seen", "session", "from", "to", "old", "new", "below",
    "valid", "format", "policy", "model", "since", "until", "sort", "after", "only", "role", "tool", "zone",
    "of", "by", "as", "first", "turn", "open", "cause", "query", "username", "password", "email", "scope",
    "project", "sessions", "a", "b", "runs", "run", "label", "number", "message", "kind", "text", "context",
    "budget", "next", "check", "filter", "errors_only", "context_window", "pinned_patterns",
    "protected_tools", "summary_model", "extends", "strategy",
)  # fmt: skip
"""Parameters that pages and operations read, as many as are known; one that a page does not know it leaves alone."""


def test_a_session_with_nul_in_every_text_is_stored_and_shows_them(project: Project, signed_in: Client) -> None:
    parsed = recorded.session(2, prompt=f"prompt {NUL}", result=f"result {NUL}")
    parsed.title, parsed.agent, parsed.warnings = NUL, NUL, [NUL]
    parsed.metadata[NUL] += 1
    parsed.skipped[NUL] += 1
    for message in parsed.messages:
        message.parts[:] = [replace(part, name=part.name and NUL, call_id=part.call_id + NUL) for part in message.parts]
        message.source_id, message.model = NUL, NUL

    session = ingest(parsed, project=project, file=replace(FILE, name=NUL)).session

    session.refresh_from_db()
    assert (session.title, session.agent, session.file_name) == (SHOWN, SHOWN, SHOWN)
    assert session.messages.get(index=0).parts[0]["text"] == f"prompt {SHOWN}"
    assert session.messages.filter(role="tool").values_list("original__text", flat=True)[0] == f"result {SHOWN}"
    assert signed_in.get(session.get_absolute_url()).status_code == 200


def test_an_uploaded_log_with_nul_can_be_read_and_searched(project: Project, signed_in: Client) -> None:
    rows = openai_messages(3, 5)
    rows[1]["content"] = f"Why {NUL}?"
    rows[3]["content"] = f"{NUL} in a result"
    file = SimpleUploadedFile(f"{NUL}.json", json.dumps({"messages": rows}).encode())

    stored = signed_in.post(reverse("sessions:upload", args=["apollo"]), {"files": file})
    assert stored.status_code < 400, stored.content

    session = Session.objects.get()
    page = signed_in.get(reverse("compression:search", args=["apollo", session.pk]), {"q": "b in a result"})
    assert "b</mark> in a result" in page.content.decode() or "b in a result" in page.content.decode()


def test_what_live_agents_print_with_nul_comes_back_byte_for_byte(project: Project, client: Client) -> None:
    rows = openai_messages(8)
    printed = [f"{row['content']}\0 end" for row in rows[3::2]]
    for row, text in zip(rows[3::2], printed, strict=True):
        row["content"] = text
    small = {"extends": "hermes", "context_window": 40_000, "recent_tokens": 8_000}
    headers = {"Authorization": f"Bearer {create_token(project=project, scope='write')[1]}"}
    body = json.dumps({"policy": small, "messages": rows, "session": "s"})

    answer = client.post("/api/v1/compress", body, content_type="application/json", headers=headers)

    assert answer.status_code == 200, answer.content
    addresses = answer.json()["addresses"]
    assert addresses
    originals = {sha256(text.encode()).hexdigest() for text in printed}
    assert set(Snapshot.objects.values_list("sha256", flat=True)) <= originals
    for kept in addresses:
        found = client.get(f"/api/v1/snapshots/{kept}", headers=headers).json()
        assert found["sha256"] in originals
        assert found["text"] in printed


def test_a_note_with_nul_is_kept_without_it(project: Project) -> None:
    policies.save_version(project=project, policy=PRESETS["hermes"], author=None, note=f"note {NUL}", origin=NUL)

    version = PolicyVersion.objects.get()
    assert (version.note, version.origin) == (f"note {SHOWN}", SHOWN)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"name": NUL}, "name: holds a NUL character"),
        ({"about": NUL}, "about: holds a NUL character"),
        ({"pins": [{"pattern": NUL}]}, "pins: holds a NUL character"),
    ],
)
def test_a_policy_with_nul_is_refused_by_name(fields: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidPolicy) as refusal:
        build(fields, "test")

    assert refusal.value.faults == [fault]


def test_no_operation_of_the_api_fails_on_nul(world: World) -> None:
    _, text = create_token(project=world.project, scope="write")
    headers = {"Authorization": f"Bearer {text}", "Idempotency-Key": NUL}
    for (method, name), operation in OPERATIONS.items():
        where = reverse(f"api:{name}", kwargs={key: world.value(wanted) for key, wanted in operation.at.items()})
        for body in (dict.fromkeys(NAMES, NUL), {"policy": {"name": NUL}}, {"policy": NUL}, {"session": NUL}, NUL):
            with transaction.atomic():
                query = urlencode(dict.fromkeys(NAMES, NUL))
                sent = json.dumps(body)
                response = Client().generic(method, f"{where}?{query}", sent, "application/json", headers=headers)
                transaction.set_rollback(True)
            assert response.status_code < 500, (method, name, body)


def test_no_address_fails_on_nul_in_it(world: World) -> None:
    client = as_user(world.owner)
    for name, page in PAGES.items():
        for parameter in page.at:
            where = address(name, world).replace(f"/{world.value(page.at[parameter])}", "/a%00b")
            assert client.get(where).status_code < 500, name


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_page_fails_on_nul_in_any_of_its_parameters(world: World, method: str) -> None:
    client = as_user(world.owner)
    for name in PAGES:
        where = address(name, world).partition("?")[0]
        with transaction.atomic():
            response: Any = getattr(client, method.lower())(where, dict.fromkeys(NAMES, NUL))
            transaction.set_rollback(True)
        assert response.status_code < 500, (method, name)
