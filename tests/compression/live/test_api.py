"""POST compress and GET snapshots: what a running agent calls before a model call, and how it reads originals back."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

import orjson
import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from compression.engine.presets import PRESETS
from compression.live_store import known_stubs
from compression.models import LiveEvent, Snapshot, SnapshotReference
from compression.policies import adopt, save_version
from sessions.ingest import ingest
from sessions.models import Project
from sessions.tokens import create_token
from tests.compression.live.requests import anthropic_messages, openai_messages
from tests.compression.session_files import log_text
from tests.sessions import recorded
from tests.sessions.recorded import FILE

pytestmark = pytest.mark.django_db
SMALL = {"extends": "hermes", "context_window": 40_000, "recent_tokens": 8_000}


def headers(project: Project, scope: str = "write") -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(project=project, scope=scope)[1]}"}


def send(client: Client, project: Project, body: bytes | dict[str, Any]) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps({"project": project.slug, "policy": SMALL, **body})
    return client.post("/api/v1/compress", raw, content_type="application/json", headers=headers(project))


def compressed(client: Client, project: Project, **body: Any) -> dict[str, Any]:
    response = send(client, project, body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def read(client: Client, project: Project, address: str, query: str = "") -> Any:
    return client.get(f"/api/v1/snapshots/{address}{query}", headers=headers(project, "read"))


def stubs(messages: list[dict[str, Any]]) -> list[int]:
    return [i for i, message in enumerate(messages) if "[compressed log" in json.dumps(message)]


def test_below_the_trigger_every_byte_comes_back_and_nothing_is_stored(client: Client, project: Project) -> None:
    messages = rb'[ {"role":"user", "content":"f\u00e4il", "n": 1.50 } ]'

    response = send(client, project, b'{"project":"apollo","messages":%s}' % messages)

    assert response.content.startswith(b'{"messages":%s,"event":null,"events":[],"addresses":[]' % messages)
    assert not Snapshot.objects.exists()


@pytest.mark.parametrize("rows", [openai_messages(8), anthropic_messages(8)], ids=["openai", "anthropic"])
def test_over_the_trigger_old_results_become_stubs_whose_originals_can_be_read(
    client: Client, project: Project, rows: list[dict[str, Any]]
) -> None:
    answer = compressed(client, project, messages=rows, model="gpt-5")

    assert answer["event"]["kind"] == "compress"
    assert answer["usage"]["fits"]
    assert answer["usage"]["after"] < answer["usage"]["before"] / 2
    assert [row["role"] for row in answer["messages"]] == [row["role"] for row in rows]
    assert len(answer["addresses"]) == len(answer["event"]["edits"])
    found = read(client, project, answer["addresses"][0]).json()
    assert found["text"] == log_text(0)
    assert found["sha256"] == sha256(log_text(0).encode()).hexdigest()


def test_what_was_sent_back_comes_back_as_it_is(client: Client, project: Project) -> None:
    once = send(client, project, {"messages": openai_messages(8), "force": True})
    again = send(client, project, {"messages": once.json()["messages"], "force": True})

    assert again.json()["messages"] == once.json()["messages"]
    assert [event for event in again.json()["events"] if event["edits"]] == []
    assert Snapshot.objects.count() == len(once.json()["addresses"])


def test_an_agent_that_sends_back_what_it_got_keeps_its_prefix(client: Client, project: Project) -> None:
    rows = openai_messages(20)
    window: list[dict[str, Any]] = []
    events = 0
    for n in range(0, len(rows), 2):
        window = [*window, *rows[n : n + 2]]
        answer = compressed(client, project, messages=window)
        edited = [int(edit["place"][9:-1]) for event in answer["events"] for edit in event["edits"]]
        first = min(edited, default=len(window))
        assert answer["messages"][:first] == window[:first]
        events += bool(edited)
        window = answer["messages"]
    assert 2 <= events < 10


def test_an_agent_that_sends_its_whole_history_gets_the_same_bytes_for_it(client: Client, project: Project) -> None:
    rows = anthropic_messages(20)
    before: list[dict[str, Any]] = []
    events = 0
    for n in range(1, len(rows) + 1, 2):
        answer = compressed(client, project, messages=rows[:n], session="run 1")
        edited = [int(edit["place"][9:-1]) for event in answer["events"] for edit in event["edits"]]
        first = min(edited, default=len(before))
        assert answer["messages"][:first] == before[:first]
        events += bool(edited)
        before = answer["messages"]
    assert 2 <= events < 10
    assert LiveEvent.objects.filter(session="run 1").count() == events
    assert answer["usage"]["changed_as_before"] >= 2


def test_marks_of_the_cache_may_move_between_calls_of_a_session(client: Client, project: Project) -> None:
    def marked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        copy: list[dict[str, Any]] = json.loads(json.dumps(rows))
        copy[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        return copy

    rows = anthropic_messages(9)
    first = compressed(client, project, messages=marked(rows[:-2]), session="run 1")
    second = compressed(client, project, messages=marked(rows), session="run 1")

    assert stubs(first["messages"]) == stubs(second["messages"])[: len(stubs(first["messages"]))]
    assert json.dumps(second["messages"]).count("cache_control") == 1
    assert "cache_control" in second["messages"][-1]["content"][-1]


def test_a_history_that_changed_is_compressed_anew(client: Client, project: Project) -> None:
    rows = openai_messages(8)
    compressed(client, project, messages=rows, session="run 1")
    rows[1]["content"] = "Why does the other batch fail?"

    answer = compressed(client, project, messages=rows, session="run 1")

    assert answer["usage"]["changed_as_before"] == 0
    assert answer["messages"][1] == rows[1]


def test_the_policy_in_force_is_the_one_that_compresses(client: Client, project: Project) -> None:
    policy = PRESETS["hermes"].model_copy(update={"context_window": 30_000, "name": "tight"})
    adopt(version=save_version(project=project, policy=policy, author=None), by=None)

    answer = send(client, project, orjson.dumps({"project": "apollo", "messages": openai_messages(8)})).json()

    assert answer["usage"]["policy"]["name"] == "tight"
    assert answer["event"]["kind"] == "compress"


def test_a_long_history_costs_no_more_questions_than_a_short_one(
    client: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    bearer = headers(project)

    def ask(calls: int) -> None:
        body = orjson.dumps({"project": "apollo", "policy": SMALL, "messages": openai_messages(calls)})
        client.post("/api/v1/compress", body, content_type="application/json", headers=bearer)

    ask(4)
    for calls in (7, 20):
        with django_assert_num_queries(8):
            ask(calls)


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 422, "body: not JSON: "),
        (b"[]", 422, "body: is not an object"),
        (b'{"messages":[]}', 422, "messages: holds 0 messages"),
        (b'{"project":7,"messages":[{"role":"user","content":"x"}]}', 422, "project: is not a text"),
        (b'{"project":"apollo"}', 422, "messages: is missing"),
        (b'{"session":"%s","messages":[{"role":"user","content":"x"}]}' % (b"a" * 201), 422, "session: is not a"),
        (b'{"project":"apollo","messages":[],"colour":1}', 422, "colour: is no field of this operation"),
        (b'{"project":"apollo","messages":[{"role":"user"}]}', 422, "messages[0].content: is missing"),
        (b'{"project":"apollo","dialect":"x","messages":[]}', 422, "dialect: 'x' is none"),
        (b'{"project":"apollo","hidden_tokens":-1,"messages":[{"role":"user","content":"x"}]}', 422, "hidden_tokens: "),
        (b'{"project":"apollo","force":1,"messages":[{"role":"user","content":"x"}]}', 422, "force: is neither"),
        (b'{"project":"apollo","policy":"x","messages":[{"role":"user","content":"x"}]}', 422, "there is no policy"),
        (b'{"project":"apollo","policy":[1],"messages":[{"role":"user","content":"x"}]}', 422, "policy: is neither a"),
        (b'{"project":"apollo","tools":"x","messages":[{"role":"user","content":"x"}]}', 422, "tools: is not an array"),
        (b'{"project":"apollo","tools":[7],"messages":[{"role":"user","content":"x"}]}', 422, "tools[0]: is not an ob"),
        (b'{"project":"apollo","system":7,"messages":[{"role":"user","content":"x"}]}', 422, "system: is neither text"),
        (b'{"project":"apollo","policy":{"a":1},"messages":[{"role":"user","content":"x"}]}', 422, "unknown field a"),
    ],
)  # fmt: skip
def test_a_bad_request_is_refused_by_its_place(
    client: Client, project: Project, body: bytes, status: int, message: str
) -> None:
    response = send(client, project, body)

    assert response.status_code == status
    assert response.json()["error"]["message"].startswith(message)


def test_a_call_without_its_result_is_refused_and_nothing_is_stored(client: Client, project: Project) -> None:
    rows = openai_messages(8)
    del rows[3]

    response = send(client, project, {"messages": rows})

    assert response.status_code == 422
    assert response.json()["error"]["place"] == "messages[2].tool_calls[0]"
    assert not Snapshot.objects.exists()


def test_a_body_that_no_provider_takes_is_refused(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compression.live.MOST_BYTES", 100)

    assert send(client, project, {"messages": openai_messages(2)}).status_code == 413


def test_a_request_that_would_come_out_broken_comes_out_as_it_went_in(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compression.live_window.violations", lambda *_: ["messages[3] grew"])
    rows = openai_messages(8)

    answer = compressed(client, project, messages=rows)

    assert answer["messages"] == rows
    assert answer["event"]["kind"] == "skip"
    assert answer["alarms"] == ["rolled back, nothing was changed: messages[3] grew"]
    assert not Snapshot.objects.exists()


def test_an_original_can_be_read_in_slices(client: Client, project: Project) -> None:
    body = json.dumps({"rows": [{"id": n} for n in range(3)]}, indent=1).encode()
    sha = sha256(body).hexdigest()
    Snapshot.objects.create(project=project, sha256=sha, body=body)

    assert read(client, project, f"hermes:{sha[:12]}", "?lines=1-2").json()["text"] == '{\n "rows": ['
    assert read(client, project, sha, "?grep=id.*1").json()["text"] == '7:   "id": 1'
    assert read(client, project, sha, "?json_path=$.rows[*].id").json()["text"] == "0\n1\n2"
    assert read(client, project, sha, "?max_tokens=2").json()["text"] == "{"
    assert read(client, project, sha).json() == {
        "address": f"hermes:{sha}",
        "sha256": sha,
        "bytes": len(body),
        "text": body.decode(),
    }


@pytest.mark.parametrize("query", ["?lines=9-1", "?grep=(", "?lines=1&grep=x", "?json_path=$.x", "?max_tokens=0"])
def test_a_slice_that_cannot_be_read_is_refused(client: Client, project: Project, query: str) -> None:
    sha = sha256(b"plain").hexdigest()
    Snapshot.objects.create(project=project, sha256=sha, body=b"plain")

    assert read(client, project, sha, query).status_code == 422


def test_an_address_leads_nowhere_outside_its_project(client: Client, project: Project, other_project: Project) -> None:
    answer = compressed(client, project, messages=openai_messages(8))

    assert read(client, other_project, answer["addresses"][0]).status_code == 404
    assert read(client, project, answer["addresses"][0][:15]).status_code == 404
    assert read(client, project, "hermes:zz").status_code == 404


def test_another_project_with_the_same_text_has_an_original_of_its_own(
    client: Client, project: Project, other_project: Project
) -> None:
    address = compressed(client, project, messages=openai_messages(8))["addresses"][0]
    compressed(client, other_project, messages=openai_messages(8))
    project.delete()

    assert read(client, other_project, address).json()["text"] == log_text(0)


def test_originals_of_recorded_sessions_are_read_by_the_same_address(client: Client, project: Project) -> None:
    text = "what a recorded tool said"
    ingest(recorded.session(2, result=text), project=project, file=FILE)

    assert read(client, project, sha256(text.encode()).hexdigest()[:12]).json()["text"] == text


def test_a_deleted_original_is_gone(client: Client, project: Project) -> None:
    address = compressed(client, project, messages=openai_messages(8))["addresses"][0]
    Snapshot.objects.filter(sha256__startswith=address.removeprefix("hermes:")).update(body=None)

    response = read(client, project, address)

    assert response.status_code == 410
    assert response.json()["error"]["code"] == "gone"


def test_an_original_whose_address_another_one_has_gets_a_longer_one(client: Client, project: Project) -> None:
    sha = sha256(log_text(0).encode()).hexdigest()
    Snapshot.objects.create(project=project, sha256=sha[:12] + "0" * 52, body=b"somebody else")

    answer = compressed(client, project, messages=openai_messages(8))

    assert f"hermes:{sha[:13]}" in answer["addresses"]
    assert read(client, project, f"hermes:{sha[:13]}").json()["text"] == log_text(0)


def test_a_stub_of_another_project_is_only_text_here(client: Client, project: Project, other_project: Project) -> None:
    theirs = compressed(client, other_project, messages=openai_messages(8))

    answer = compressed(client, project, messages=theirs["messages"])

    assert answer["messages"] == theirs["messages"]
    assert not SnapshotReference.objects.filter(snapshot__project=project).exists()


def test_what_stands_for_an_original_is_known_in_its_own_project_alone(
    client: Client, project: Project, other_project: Project
) -> None:
    compressed(client, project, messages=openai_messages(8))
    shas = set(SnapshotReference.objects.values_list("stub_sha256", flat=True))

    assert known_stubs(project, shas).keys() == shas != set()
    assert known_stubs(other_project, shas) == {}


def test_a_deleted_project_leaves_nothing(client: Client, project: Project) -> None:
    compressed(client, project, messages=openai_messages(8), session="run 1")
    project.delete()

    assert [model.objects.count() for model in (Snapshot, SnapshotReference, LiveEvent)] == [0, 0, 0]


def test_addresses_resolve_to_what_stood_there(client: Client, project: Project) -> None:
    rows = openai_messages(8)
    answer = compressed(client, project, messages=rows)

    for edit in answer["event"]["edits"]:
        place = int(edit["place"][9:-1])
        assert edit["address"] in answer["messages"][place]["content"]
        assert read(client, project, edit["address"]).json()["text"] == rows[place]["content"]


def test_what_left_the_window_of_a_session_stays_out_of_it(client: Client, project: Project) -> None:
    tight = {"extends": "hermes", "context_window": 4_000, "recent_tokens": 1_000, "min_reclaim_tokens": 500}
    rows = openai_messages(26, 40)
    before: list[dict[str, Any]] = []
    kinds: set[str] = set()
    for n in range(2, len(rows) + 1, 2):
        answer = compressed(client, project, messages=rows[:n], session="run 1", policy=tight)
        assert answer["usage"]["fits"]
        assert not answer["alarms"]
        if not answer["events"]:
            assert answer["messages"][: len(before)] == before
        kinds |= {event["kind"] for event in answer["events"]}
        before = answer["messages"]

    assert "truncate" in kinds
    [address, *_] = re.findall(r"left out [^\]]* original (hermes:\w+)", json.dumps(before, ensure_ascii=False))
    assert read(client, project, address).json()["text"].startswith("--- message 4 · assistant\n[call call_1] bash ")


def test_a_request_may_be_longer_than_a_form(client: Client, project: Project) -> None:
    rows = [{"role": "user", "content": "word " * 800_000}]

    assert send(client, project, {"messages": rows, "policy": "none"}).json()["messages"] == rows


def test_a_line_that_only_looks_like_a_stub_is_text(client: Client, project: Project) -> None:
    rows = openai_messages(8)
    rows[3]["content"] = "[compressed log · 9 lines · 9,000 -> 9 tokens · original hermes:2d711642b726]\n" + log_text(0)

    answer = compressed(client, project, messages=rows)

    assert answer["messages"][3]["content"] != rows[3]["content"]
    assert read(client, project, answer["addresses"][0]).json()["text"] == rows[3]["content"]
