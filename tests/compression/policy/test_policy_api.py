"""The policy in force at the API, for agents that follow it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from compression import policies
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion
from sessions.models import Project
from sessions.tokens import create_token

WHERE = "/api/v1/projects/apollo/policy"


@pytest.fixture
def token(project: Project) -> str:
    return create_token(project=project, scope="read")[1]


def asked(token: str, **headers: str) -> Any:
    return Client().get(WHERE, headers={"authorization": f"Bearer {token}", **headers})


def adopted(project: Project, name: str) -> None:
    version = policies.save_version(project=project, policy=PRESETS[name], author=None)
    policies.adopt(version=version, by=None)


def test_it_is_the_preset_until_a_version_is_adopted(token: str) -> None:
    said = asked(token).json()

    assert (said["version"], said["since"], said["digest"]) == (None, None, PRESETS["hermes"].digest)
    assert Policy.model_validate(said["policy"]) == PRESETS["hermes"]


def test_it_is_the_version_that_was_adopted(token: str, project: Project) -> None:
    adopted(project, "chapter")

    said = asked(token).json()

    assert said["version"] == 1
    assert Policy.model_validate(said["policy"]) == PRESETS["chapter"]


def test_an_agent_that_knows_it_gets_no_body(token: str) -> None:
    etag = asked(token)["ETag"]

    again = asked(token, **{"if-none-match": etag})

    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)


def test_the_tag_is_strong(token: str) -> None:
    assert asked(token)["ETag"].startswith('"')


def test_another_policy_has_another_tag(token: str, project: Project) -> None:
    etag = asked(token)["ETag"]
    adopted(project, "chapter")

    answer = asked(token, **{"if-none-match": etag})

    assert answer.status_code == 200
    assert answer["ETag"] != etag


def test_two_versions_of_the_same_settings_are_told_apart(token: str, project: Project) -> None:
    adopted(project, "chapter")
    etag = asked(token)["ETag"]
    adopted(project, "chapter")

    assert asked(token, **{"if-none-match": etag}).json()["version"] == 2


def test_who_asks_for_another_tag_than_the_present_one_is_told(token: str) -> None:
    assert asked(token, **{"if-match": '"of yesterday"'}).status_code == 412


def put(project: Project, body: dict[str, Any], **headers: str) -> Any:
    token = create_token(project=project, scope="write")[1]
    return Client().put(
        WHERE,
        json.dumps(body),
        content_type="application/json",
        headers={"authorization": f"Bearer {token}", **headers},
    )


def test_a_policy_that_is_put_becomes_a_version_in_force(project: Project) -> None:
    said = put(project, {"policy": {"extends": "chapter", "target_ratio": 0.4}, "note": "deeper"}).json()

    version = PolicyVersion.objects.get(project=project)
    assert (said["version"], said["policy"]["target_ratio"]) == (1, 0.4)
    assert (version.note, version.origin, policies.in_force(project).version) == ("deeper", "the API", version)


def test_what_is_in_force_already_makes_no_version(project: Project) -> None:
    first = put(project, {"policy": "chapter"})

    again = put(project, {"policy": "chapter"})

    assert (again.json(), again["ETag"]) == (first.json(), first["ETag"])
    assert PolicyVersion.objects.filter(project=project).count() == 1


def test_a_version_is_put_in_force_by_its_number(project: Project) -> None:
    adopted(project, "chapter")
    adopted(project, "none")

    assert put(project, {"policy": "v1"}).json()["version"] == 1


def test_a_change_that_was_not_seen_is_not_overwritten(project: Project, token: str) -> None:
    etag = asked(token)["ETag"]
    adopted(project, "chapter")

    refused = put(project, {"policy": "none"}, **{"if-match": etag})

    assert (refused.status_code, refused.json()["error"]["code"]) == (412, "policy_changed")
    assert policies.in_force(project).policy == PRESETS["chapter"]


def test_a_change_that_was_seen_is_followed(project: Project, token: str) -> None:
    assert put(project, {"policy": "none"}, **{"if-match": asked(token)["ETag"]}).json()["policy"]["name"] == "none"


def test_a_policy_that_cannot_be_is_refused_by_name(project: Project) -> None:
    refused = put(project, {"policy": {"extends": "hermes", "target_ratio": 0.9}})

    assert refused.status_code == 422
    assert "target_ratio" in refused.json()["error"]["message"]
    assert not PolicyVersion.objects.exists()
