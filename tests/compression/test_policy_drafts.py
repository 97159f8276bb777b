"""Two people, or two presses, at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection

from compression import policies
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion
from compression.policy_drafts import save_once, undo_once
from sessions.models import Project

pytestmark = pytest.mark.django_db(transaction=True)
HERMES = PRESETS["hermes"]
AT_ONCE = 4


def at_once(work: Callable[[int], object]) -> None:
    """Runs ``work(0)`` to ``work(AT_ONCE - 1)`` in threads that start together."""
    barrier = Barrier(AT_ONCE)

    def one(number: int) -> None:
        barrier.wait(10)
        try:
            work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, range(AT_ONCE)))


def test_people_who_save_at_once_get_numbers_of_their_own(project: Project, user: User) -> None:
    drafts = [HERMES.model_copy(update={"recent_tokens": 1_000 * number}) for number in range(AT_ONCE)]

    at_once(lambda number: save_once(project=project, policy=drafts[number], author=user, seen=0))

    assert sorted(PolicyVersion.objects.values_list("number", flat=True)) == [1, 2, 3, 4]


def test_presses_that_arrive_together_save_once(project: Project, user: User) -> None:
    at_once(lambda _: save_once(project=project, policy=HERMES, author=user, seen=0))

    assert PolicyVersion.objects.count() == 1


def test_presses_that_arrive_together_undo_once(project: Project, user: User) -> None:
    for number in range(3):
        version = policies.save_version(project=project, policy=HERMES, author=user, note=str(number))
        policies.adopt(version=version, by=user)
    seen = policies.standing_adoptions(project)[0].pk

    at_once(lambda _: undo_once(project=project, by=user, seen=seen))

    in_force = policies.in_force(project).version
    assert in_force is not None
    assert in_force.number == 2
