"""The API of sweeps."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from compression.models import Sweep
from sessions.models import Project, Session
from sessions.tokens import create_token
from tests.compression.runs.starting import three_sessions
from tests.compression.sessions import parsed, store
from tests.compression.sweeps.starting import GRID, queued, worked_through

pytestmark = pytest.mark.django_db


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


def bearer(project: Project, scope: str = "write") -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(project=project, scope=scope)[1]}"}


def start(client: Client, project: Project, body: dict[str, Any], scope: str = "write") -> Any:
    return client.post("/api/v1/sweeps", body, content_type="application/json", headers=bearer(project, scope))


def test_a_grid_is_started(client: Client, project: Project, sessions: list[Session]) -> None:
    response = start(client, project, {"policy": "chapter", "grid": GRID, "seed": 5, "held_out": 0.34})

    answer = response.json()
    assert response.status_code == 201
    assert (answer["kind"], answer["policy"], answer["trials"], answer["seed"]) == ("grid", "preset chapter", 3, 5)
    assert (answer["progress"]["total"], answer["sessions"]) == (5, {"tuned": 2, "held_out": 1, "changed": 0})
    assert [row["values"] for row in answer["skipped"]] == [{"trigger_ratio": 0.6, "target_ratio": 0.6}]
    assert answer["recommendation"] is None


def test_a_search_is_started_in_the_usual_space(client: Client, project: Project, sessions: list[Session]) -> None:
    answer = start(client, project, {"trials": 20}).json()

    assert (answer["kind"], answer["trials"], answer["progress"]["total"]) == ("search", 20, 22)
    assert sorted(answer["space"]) == [
        "min_reclaim_tokens", "novelty_ceiling", "recent_tokens", "target_ratio", "trigger_ratio",
    ]  # fmt: skip


def test_a_preset_may_be_named_by_the_grid(client: Client, project: Project, sessions: list[Session]) -> None:
    answer = start(client, project, {"grid": {"extends": "cache-first", "trigger_ratio": [0.8, 0.9]}}).json()

    assert (answer["policy"], answer["space"]) == ("preset cache-first", {"trigger_ratio": [0.8, 0.9]})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_sweep"),
        ({"grid": GRID, "trials": 3}, "invalid_sweep"),
        ({"grid": GRID, "space": GRID}, "invalid_sweep"),
        ({"trials": 0}, "invalid_space"),
        ({"trials": 3, "seed": -1}, "invalid_space"),
        ({"trials": 3, "held_out": 1.5}, "invalid_space"),
        ({"trials": 3, "space": {"trigger_ratio": [2]}}, "invalid_space"),
        ({"grid": {"what": [1]}}, "invalid_space"),
        ({"grid": {"trigger_ratio": [7]}}, "invalid_space"),
        ({"grid": {"extends": "nobody", "trigger_ratio": [0.7]}}, "invalid_space"),
        ({"grid": GRID, "policy": "v9"}, "unknown_policy"),
        ({"grid": GRID, "policy": "none"}, "invalid_space"),
        ({"grid": GRID, "sessions": []}, "no_sessions"),
        ({"grid": GRID, "colour": "red"}, "invalid"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(
    client: Client, project: Project, sessions: list[Session], body: dict[str, Any], code: str
) -> None:
    response = start(client, project, body)

    assert (response.status_code, response.json()["error"]["code"]) == (422, code)
    assert not Sweep.objects.exists()


def test_another_project_does_not_exist(client: Client, project: Project, other_project: Project) -> None:
    assert start(client, project, {"project": "zeus", "trials": 3}).status_code == 404


def test_what_a_sweep_found_is_read(client: Client, project: Project, sessions: list[Session]) -> None:
    sweep = worked_through(queued(project, held_out=0.34))

    answer = client.get(f"/api/v1/sweeps/{sweep.pk}", headers=bearer(project, "read")).json()

    assert (answer["state"], answer["progress"]["done"]) == ("done", 5)
    assert [(row["trial"], row["kind"]) for row in answer["points"]] == [
        (0, "none"), (1, "in_force"), (2, "candidate"), (3, "candidate"), (4, "candidate"),
    ]  # fmt: skip
    assert [row["trial"] for row in answer["points"] if row["on_front"]] == sorted(answer["front"])
    assert {row["tuned"]["sessions"] + row["held_out"]["sessions"] for row in answer["points"]} == {3}
    found = answer["recommendation"]
    assert found["trial"] in answer["front"]
    assert found["policy"]["context_window"] in (12_000, "auto")
    assert found["tuned"] == {
        name: value for name, value in answer["points"][found["trial"]]["tuned"].items() if name != "saved"
    }


def test_a_sweep_of_another_project_does_not_exist(
    client: Client, project: Project, other_project: Project, sessions: list[Session]
) -> None:
    store(parsed(2), other_project)
    theirs = queued(other_project)

    assert client.get(f"/api/v1/sweeps/{theirs.pk}", headers=bearer(project)).status_code == 404


def test_a_sweep_is_cancelled_and_resumed(client: Client, project: Project, sessions: list[Session]) -> None:
    sweep, headers = queued(project), bearer(project)

    states = [
        client.post(f"/api/v1/sweeps/{sweep.pk}/{verb}", headers=headers).json()["state"]
        for verb in ("cancel", "cancel", "resume", "resume")
    ]

    assert states == ["cancelled", "cancelled", "queued", "queued"]
