"""A draft on the project's sample: which sessions, in what time, and that the sums are those of the replays."""

from __future__ import annotations

import pytest

from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.policies import in_force
from compression.policy_fields import SETTINGS
from compression.policy_sample import SIZE, Sample, sampled_keys, try_sample
from compression.replays import stored_replay
from compression.sample_consequences import at_sample, sums
from sessions.models import Project, Session
from sessions.templatetags.figures import short
from tests.compression.sessions import parsed, store

HERMES = PRESETS["hermes"]
LIVE_ONLY = {"memory_note", "summaries"}


def draft(**changes: object) -> Policy:
    return Policy.model_validate({**HERMES.model_dump(), "context_window": 50_000, **changes})


@pytest.fixture
def stored(project: Project) -> list[Session]:
    """Two that pass the trigger of a window of 50K and one that does not."""
    return [store(parsed(exchanges, lines=76, key=f"k-{exchanges}"), project) for exchanges in (40, 35, 4)]


def tried(project: Project, stored: list[Session], policy: Policy, *, seconds: float = 60) -> Sample:
    return try_sample(project, [one.pk for one in stored], policy, in_force(project), seconds=seconds)


def test_few_sessions_are_all_in_the_sample() -> None:
    assert sampled_keys([7, 5, 3]) == [7, 5, 3]


def test_of_many_the_fullest_the_emptiest_and_even_steps_between_are() -> None:
    keys = sampled_keys(list(range(101)))

    assert keys == [0, 25, 50, 75, 100]
    assert len(keys) == SIZE


def test_when_time_is_up_one_session_was_tried(project: Project, stored: list[Session]) -> None:
    sample = tried(project, stored, draft(), seconds=0)

    assert (len(sample.trials), sample.wanted, sample.total, sample.is_whole) == (1, 3, 3, False)


def test_a_part_and_its_whole_are_added_up(project: Project, stored: list[Session]) -> None:
    lines = at_sample(tried(project, stored, draft()))

    assert lines["trigger_ratio"].text == "sample: 2 of 3 sessions pass it"
    assert lines["min_result_tokens"].text == "sample: 79 of 79 results longer"
    assert lines["recall_hold_turns"].text == "sample: no recalls"


def test_every_field_that_a_replay_knows_has_a_line(project: Project, stored: list[Session]) -> None:
    assert set(at_sample(tried(project, stored, draft()))) == {*SETTINGS, "pins"} - LIVE_ONLY


def test_the_sums_are_those_of_the_replays(project: Project, stored: list[Session]) -> None:
    policy = draft()

    rows = {name: (old.text, new.text) for name, _, old, new in sums(tried(project, stored, policy))}

    raw = [[stored_replay(one, side).summary for one in stored] for side in (HERMES, policy)]
    assert rows["tokens sent"] == tuple(short(sum(row["sent_after"] for row in side)) for side in raw)
    assert rows["events"] == tuple(str(sum(row["events"] for row in side)) for side in raw)


def test_without_a_price_of_all_there_is_no_sum_of_dollars(project: Project, stored: list[Session]) -> None:
    rows = {name: (old.text, new.text) for name, _, old, new in sums(tried(project, stored, draft()))}

    assert rows["cost"] == ("–", "–")
