"""Runs: claimed once, counted once, taken up again, cancelled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from compression import execution, recovery, replays, runs
from compression.engine import ENGINE_VERSION
from compression.models import Run, RunResult
from compression.replays import stored_replay
from sessions.models import Project, Session
from tests.compression.runs.starting import finished, queued, results, three_sessions
from tests.compression.sessions import parsed, store

LONG_AGO = timedelta(hours=1)


@pytest.fixture(autouse=True)
def empty_shelf() -> None:
    replays._shelf.clear()


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


def states(run: Run) -> list[str]:
    return [result.state for result in results(run)]


def test_a_run_waits_with_one_result_for_each_session(project: Project, sessions: list[Session]) -> None:
    run = queued(project)

    assert run.state == "queued"
    assert [(result.session, result.state) for result in results(run)] == [(one, "waiting") for one in sessions]


def test_a_run_may_be_of_some_sessions_only(project: Project, sessions: list[Session]) -> None:
    run = runs.start(
        project=project, policy=execution.policy_of_run(queued(project)), label="x", sessions=[sessions[1].pk]
    )

    assert [result.session for result in results(run)] == [sessions[1]]


def test_sessions_of_another_project_are_not_run(project: Project, other_project: Project) -> None:
    theirs = store(parsed(2), other_project)
    policy = execution.policy_of_run(queued_on_own(project))

    with pytest.raises(runs.NothingToRun):
        runs.start(project=project, policy=policy, label="x", sessions=[theirs.pk])


def queued_on_own(project: Project) -> Run:
    store(parsed(2), project)
    return queued(project)


def test_results_hold_what_the_replay_says(project: Project, sessions: list[Session]) -> None:
    run = finished(project)

    assert run.state == "done"
    policy = execution.policy_of_run(run)
    for result in results(run):
        summary = stored_replay(result.session, policy).summary
        assert {name: getattr(result, name) for name in execution.COLUMNS} == {
            name: summary[name] for name in execution.COLUMNS
        }
        assert result.counter_error == summary["counter_error"]["median"]
        assert result.session_revision == result.session.revision
    assert (run.policy_digest, run.engine_version) == (policy.digest, ENGINE_VERSION)


def test_an_unchanged_pair_is_not_worked_out_again(
    project: Project, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = finished(project)
    replays._shelf.clear()
    monkeypatch.setattr(replays, "replay", refuse)

    second = finished(project)

    assert [result.reused for result in results(first)] == [False, False, False]
    assert [result.reused for result in results(second)] == [True, True, True]
    assert [result.summary for result in results(second)] == [result.summary for result in results(first)]


def refuse(*args: Any, **kwargs: Any) -> None:
    raise AssertionError("the engine ran")


def test_a_session_that_grew_is_worked_out_again(project: Project, sessions: list[Session]) -> None:
    finished(project)
    store(parsed(3, key="short", lines=60, with_usage=True), project)

    second = finished(project)

    assert [(result.reused, result.session_revision) for result in results(second)] == [
        (False, 2),
        (True, 1),
        (True, 1),
    ]


def test_a_session_is_claimed_once(project: Project, sessions: list[Session]) -> None:
    run = queued(project)
    Run.objects.filter(pk=run.pk).update(state="running")

    claimed = [execution.claim(run.pk) for _ in range(4)]

    assert [result and result.session for result in claimed] == [*sessions, None]


def test_a_session_that_cannot_be_replayed_is_marked_and_the_run_goes_on(
    project: Project, sessions: list[Session], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = stored_replay

    def breaks(session: Session, policy: Any) -> Any:
        if session == sessions[1]:
            raise ValueError("no such thing")
        return whole(session, policy)

    monkeypatch.setattr(execution, "stored_replay", breaks)

    run = finished(project)

    assert run.state == "done"
    assert [(result.state, result.error) for result in results(run)] == [
        ("done", ""),
        ("failed", "ValueError: no such thing"),
        ("done", ""),
    ]


def test_a_cancelled_run_takes_no_further_session(project: Project, sessions: list[Session]) -> None:
    run = queued(project)
    execution.work(run.pk, limit=1)

    runs.cancel(run)
    worked = execution.work(run.pk)

    run.refresh_from_db()
    assert (worked, run.state, states(run)) == (0, "cancelled", ["done", "waiting", "waiting"])


def test_cancelling_what_is_done_changes_nothing(project: Project, sessions: list[Session]) -> None:
    run = finished(project)

    runs.cancel(run)

    assert runs.progress(run).state == "done"


def test_progress_counts_rows_and_knows_a_rate(project: Project, sessions: list[Session]) -> None:
    run = queued(project)
    before = runs.progress(run)
    execution.work(run.pk, limit=2)

    after = runs.progress(run)

    assert (before.total, before.finished, before.rate, before.seconds_left) == (3, 0, None, None)
    assert (after.state, after.total, after.done, after.failed, after.is_over) == ("running", 3, 2, 0, False)
    assert after.rate is not None
    assert after.seconds_left == pytest.approx(1 / after.rate)


def test_a_claim_within_its_lease_is_left_alone(project: Project, sessions: list[Session]) -> None:
    run = claimed_by_the_dead(project, ago=timedelta(seconds=5))

    assert recovery.recover() == []
    assert states(run) == ["claimed", "waiting", "waiting"]


def claimed_by_the_dead(project: Project, *, ago: timedelta = LONG_AGO) -> Run:
    """A run whose only worker was killed over its first session."""
    run = queued(project)
    Run.objects.filter(pk=run.pk).update(state="running", queued_at=timezone.now() - ago)
    claimed = execution.claim(run.pk)
    assert claimed is not None
    RunResult.objects.filter(pk=claimed.pk).update(claimed_at=timezone.now() - ago)
    return run


def test_a_claim_that_outlived_its_lease_is_free_and_asked_for_once(project: Project, sessions: list[Session]) -> None:
    run = claimed_by_the_dead(project)

    asked = [recovery.recover(), recovery.recover()]

    assert asked == [[(run.pk, 1)], []]
    assert states(run) == ["waiting", "waiting", "waiting"]


def test_a_worker_that_comes_back_from_the_dead_writes_nothing(project: Project, sessions: list[Session]) -> None:
    run = claimed_by_the_dead(project)
    late = results(run)[0]
    recovery.recover()
    while execution.work(run.pk):
        pass
    before = results(run)[0].finished_at

    execution.finish(late, execution.policy_of_run(run))

    assert results(run)[0].finished_at == before


def test_a_run_whose_worker_died_between_two_sessions_is_taken_up(project: Project, sessions: list[Session]) -> None:
    run = queued(project)
    execution.work(run.pk, limit=1)
    RunResult.objects.filter(run=run, state="done").update(
        claimed_at=timezone.now() - LONG_AGO, finished_at=timezone.now() - LONG_AGO
    )
    Run.objects.filter(pk=run.pk).update(queued_at=timezone.now() - LONG_AGO)

    assert recovery.recover() == [(run.pk, 1)]


def test_a_run_whose_worker_died_before_closing_it_is_closed(project: Project, sessions: list[Session]) -> None:
    run = finished(project)
    Run.objects.filter(pk=run.pk).update(state="running", finished_at=None, queued_at=timezone.now() - LONG_AGO)

    assert recovery.recover() == []
    run.refresh_from_db()
    assert run.state == "done"


def test_a_session_that_kills_every_worker_is_given_up(project: Project, sessions: list[Session]) -> None:
    run = claimed_by_the_dead(project)
    RunResult.objects.filter(run=run, state="claimed").update(claims=recovery.MOST_CLAIMS)

    recovery.recover()
    while execution.work(run.pk):
        pass

    assert states(run) == ["failed", "done", "done"]
    assert results(run)[0].error == "3 workers ended while they replayed this session"


def test_a_worker_of_another_engine_version_gives_the_run_up(project: Project, sessions: list[Session]) -> None:
    run = queued(project)
    Run.objects.filter(pk=run.pk).update(engine_version=ENGINE_VERSION - 1)

    execution.work(run.pk)

    assert states(run) == ["failed", "failed", "failed"]
    why = f"it was started with engine version {ENGINE_VERSION - 1}, this is {ENGINE_VERSION}: start it again"
    assert results(run)[0].error == f"run {run.pk}: {why}"


def test_the_lease_can_be_set(settings: Any) -> None:
    settings.HERMES_RUN_LEASE_SECONDS = 2

    assert recovery.lease() == timedelta(seconds=2)


@pytest.mark.parametrize(("waiting", "tasks"), [(1, 1), (25, 1), (26, 2), (10_000, 8)])
def test_tasks_are_enough_to_share_and_few_enough_to_stay_cheap(waiting: int, tasks: int) -> None:
    assert recovery.tasks_for(waiting) == tasks
