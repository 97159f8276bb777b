"""The policy in force at the API, for agents that follow it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from compression import policies
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
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
