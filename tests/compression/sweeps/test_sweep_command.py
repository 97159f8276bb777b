"""``manage.py sweep``."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

from compression.models import Sweep
from sessions.models import Project, Session
from tests.compression.runs.starting import three_sessions
from tests.compression.sweeps.starting import queued

pytestmark = pytest.mark.django_db
GRID = """
extends = "chapter"
context_window = 12000
recent_tokens = 2000
trigger_ratio = [0.6, 0.8]
target_ratio = [0.4, 0.6]
"""


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def sweep(*arguments: Any) -> Any:
    out = StringIO()
    call_command("sweep", *map(str, arguments), "--json", stdout=out, stderr=StringIO())
    return orjson.loads(out.getvalue())


def refused(*arguments: Any) -> str:
    with pytest.raises(CommandError) as caught:
        call_command("sweep", *map(str, arguments), stdout=StringIO(), stderr=StringIO())
    assert caught.value.returncode == 2
    return str(caught.value)


def test_a_grid_is_worked_through_and_recommends_one_policy(sessions: list[Session], grid: Path) -> None:
    found = sweep("--project", "apollo", "--grid", grid, "--held-out", "0.34", "--wait")

    assert (found["state"], len(found["points"]), len(found["skipped"])) == ("done", 5, 1)
    assert found["recommendation"]["trial"] in found["front"]
    assert found["recommendation"]["reason"]


def test_without_waiting_it_is_left_to_the_workers(sessions: list[Session], grid: Path) -> None:
    found = sweep("--project", "apollo", "--grid", grid)

    assert (found["state"], found["points"], found["progress"]["total"]) == ("queued", [], 5)
    assert Sweep.objects.get().pk == found["id"]


def test_a_search_tries_as_many_as_it_is_told(sessions: list[Session], tmp_path: Path) -> None:
    space = tmp_path / "space.json"
    space.write_text('{"extends": "chapter", "context_window": 12000, "trigger_ratio": {"low": 0.6, "high": 0.9}}')

    found = sweep("--project", "apollo", "--trials", 3, "--space", space, "--seed", 9, "--wait")

    assert (found["kind"], found["seed"], found["state"]) == ("search", 9, "done")
    assert sum(row["kind"] == "candidate" for row in found["points"]) == 3


def test_the_words_name_the_front_and_the_recommendation(sessions: list[Session], grid: Path) -> None:
    out = StringIO()

    call_command("sweep", "--project", "apollo", "--grid", str(grid), "--wait", stdout=out, stderr=StringIO())

    lines = out.getvalue().splitlines()
    assert lines[0].endswith("of preset chapter: done, 5 of 5 trials done, 0 failed, 1 skipped")
    assert any(line.startswith("recommended: trial ") for line in lines)


def test_a_sweep_is_shown_cancelled_and_resumed(project: Project, sessions: list[Session]) -> None:
    started = queued(project)

    states = [sweep("--project", "apollo", verb, started.pk)["state"] for verb in ("--show", "--cancel", "--resume")]

    assert states == ["queued", "cancelled", "queued"]


def test_a_missing_project_is_named_with_those_that_there_are(project: Project, grid: Path) -> None:
    assert refused("--project", "nobody", "--grid", grid) == "There is no project 'nobody' (known: apollo)."


def test_a_grid_of_another_kind_of_file_is_named(sessions: list[Session], tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    path.write_text("[1]")

    assert refused("--project", "apollo", "--grid", path) == (
        f"{path}: a space names the fields to vary, each with a list of values or {{low, high, step}}"
    )


def test_a_space_without_a_search_is_refused(sessions: list[Session], grid: Path) -> None:
    told = refused("--project", "apollo", "--grid", grid, "--space", grid)

    assert told == "--space says what a search varies: give --trials as well"


def test_a_sweep_that_is_not_there_is_named(project: Project) -> None:
    assert refused("--project", "apollo", "--show", 7) == "There is no sweep 7 in the project 'apollo'."


def test_a_sweep_that_goes_on_cannot_be_resumed(project: Project, sessions: list[Session]) -> None:
    started = queued(project)

    told = refused("--project", "apollo", "--resume", started.pk)

    assert (
        told == f"Sweep {started.pk} is queued: only a cancelled one, of this engine and these prices, can be resumed."
    )
