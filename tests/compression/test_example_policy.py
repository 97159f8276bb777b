"""The example project opens under the policy that its story is about."""

from __future__ import annotations

import pytest

from compression.engine.presets import PRESETS
from compression.example_policy import adopt_chapter
from compression.models import StoredReplay
from compression.policies import adopt, in_force, save_version
from sessions.models import Project
from tests.compression.sessions import with_event

pytestmark = pytest.mark.django_db


def test_chapter_is_in_force_and_its_replays_are_ready(project: Project) -> None:
    session = with_event(project)

    adopt_chapter(project)

    assert in_force(project).policy.digest == PRESETS["chapter"].digest
    assert list(StoredReplay.objects.values_list("session", "policy_digest")) == [
        (session.pk, PRESETS["chapter"].digest)
    ]


def test_a_policy_that_somebody_saved_stays_in_force(project: Project) -> None:
    adopt(version=save_version(project=project, policy=PRESETS["none"], author=None), by=None)

    adopt_chapter(project)

    assert in_force(project).policy.digest == PRESETS["none"].digest
