"""Sweeps: every trial once, figures from the replays, taken up again, cancelled, resumed."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from compression import policies, sweep_asking, sweep_execution, sweep_recovery, sweep_sessions, sweeps, transcripts
from compression.engine.presets import PRESETS
from compression.models import Sweep, SweepSession, Trial, TrialResult
from compression.project_prices import FIELDS, set_prices
from compression.replays import stored_replay
from compression.runs import NothingToRun
from compression.sweep_results import findings_of
from compression.sweep_space import InvalidSpace, space_of
from sessions.models import Project, Session
from tests.compression.runs.starting import three_sessions
from tests.compression.sessions import parsed, store
from tests.compression.sweeps.starting import GRID, queued, results, searching, small, trials, worked_through

LONG_AGO = timedelta(hours=1)


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return three_sessions(project)


@pytest.fixture(autouse=True)
def empty_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = sweep_sessions.SessionShelf()
    monkeypatch.setattr(sweep_execution, "shelf", shelf)


def test_a_grid_waits_with_a_trial_for_each_combination_and_what_it_is_held_against(
    project: Project, sessions: list[Session]
) -> None:
    sweep = queued(project)

    assert [(trial.number, trial.kind, trial.state, trial.values.get("target_ratio")) for trial in trials(sweep)] == [
        (0, "none", "waiting", None),
        (1, "in_force", "waiting", None),
        (2, "candidate", "waiting", 0.4),
        (3, "candidate", "waiting", 0.4),
        (4, "candidate", "waiting", 0.6),
        (5, "candidate", "skipped", 0.6),
    ]
    assert sweep.wanted == 3


def test_a_skipped_combination_says_why(project: Project, sessions: list[Session]) -> None:
    (skipped,) = trials(queued(project), state="skipped")

    assert skipped.values == {"trigger_ratio": 0.6, "target_ratio": 0.6}
    assert skipped.error.startswith("target_ratio 0.6 must lie below trigger_ratio 0.6")


def test_a_grid_without_any_policy_is_refused_with_its_reasons(project: Project, sessions: list[Session]) -> None:
    with pytest.raises(InvalidSpace, match=r"no combination makes a policy: trigger_ratio: Input should be less"):
        queued(project, {"trigger_ratio": [1.5]})


def test_a_policy_without_anything_to_tune_is_refused(project: Project, sessions: list[Session]) -> None:
    with pytest.raises(InvalidSpace, match=r"the policy 'none' \(none\) has no fields to tune"):
        sweeps.start(project=project, base=PRESETS["none"], label="none", space=space_of(GRID, is_grid=True))


def test_a_project_without_sessions_has_nothing_to_sweep_over(project: Project) -> None:
    with pytest.raises(NothingToRun):
        queued(project)


def test_sessions_of_another_project_are_not_swept_over(
    project: Project, other_project: Project, sessions: list[Session]
) -> None:
    theirs = store(parsed(2, key="theirs"), other_project)

    sweep = queued(project, sessions=[theirs.pk, sessions[0].pk])

    assert list(SweepSession.objects.filter(sweep=sweep).values_list("session", flat=True)) == [sessions[0].pk]


def test_results_hold_what_a_replay_of_the_session_says(project: Project, sessions: list[Session]) -> None:
    sweep = worked_through(queued(project))

    assert sweep.state == "done"
    assert len(results(sweep)) == 5 * 3
    for result in results(sweep):
        trial = Trial.objects.select_related("sweep").get(pk=result.trial_id)
        summary = stored_replay(result.session, sweep_execution.policy_of_trial(trial)).summary
        assert {name: getattr(result, name) for name in sweep_execution.OF_SUMMARY} == {
            name: summary[name] for name in sweep_execution.OF_SUMMARY
        }
        assert result.rlr_kept == round((summary["rlr_view"] or 0) * summary["rlr_n"])
        assert result.thrash == (summary["thrash"] or 0)
        cost = summary.get("cost_usd")
        assert result.cost_usd == (None if cost is None else Decimal(cost).quantize(sweep_execution.SMALLEST_MONEY))


def test_the_figures_of_a_trial_are_the_sums_of_its_results(project: Project, sessions: list[Session]) -> None:
    sweep = worked_through(queued(project, held_out=0.34))

    apart = set(SweepSession.objects.filter(sweep=sweep, is_held_out=True).values_list("session", flat=True))
    assert len(apart) == 1
    for trial in trials(sweep, state="done"):
        rows = TrialResult.objects.filter(trial=trial)
        tuned = [row for row in rows if row.session_id not in apart]
        (held,) = [row for row in rows if row.session_id in apart]
        assert trial.figures["tuned"]["sent_after"] == trial.sent_after == sum(row.sent_after for row in tuned)
        assert trial.figures["held_out"]["sent_after"] == held.sent_after
        assert trial.rlr_lost == sum(row.rlr_n - row.rlr_kept for row in tuned)
        assert trial.broken == sum(bool(row.violations or row.overflow_turn is not None or row.thrash) for row in tuned)


def test_no_compression_saves_nothing_and_loses_nothing(project: Project, sessions: list[Session]) -> None:
    sweep = worked_through(queued(project))

    (none,) = trials(sweep, kind="none")
    assert (none.session_saved, none.rlr_view, none.rlr_lost, none.events) == (0.0, None, 0, 0)


def test_the_sessions_held_out_depend_on_the_seed_alone() -> None:
    sizes = {key: key % 7 for key in range(100)}

    first = sweeps.split(sizes, seed=1, part=0.25)

    assert len(first) == 25
    assert first == sweeps.split(dict(reversed(sizes.items())), seed=1, part=0.25)
    assert first != sweeps.split(sizes, seed=2, part=0.25)


def test_small_and_large_sessions_are_held_out_alike() -> None:
    sizes = {key: 10 * key for key in range(12)}

    assert sorted(key // 4 for key in sweeps.split(sizes, seed=5, part=0.25)) == [0, 1, 2]


@pytest.mark.parametrize(("sessions", "part", "apart"), [(1, 0.5, 0), (2, 0.01, 1), (2, 0.9, 1), (10, 0.0, 0)])
def test_something_is_left_to_tune_on(sessions: int, part: float, apart: int) -> None:
    assert len(sweeps.split(dict.fromkeys(range(sessions), 1), seed=0, part=part)) == apart


def test_the_same_seed_and_one_worker_give_the_same_trials(project: Project, sessions: list[Session]) -> None:
    first = worked_through(searching(project, trials=14, seed=3))
    second = worked_through(searching(project, trials=14, seed=3))

    assert [trial.values for trial in trials(first)] == [trial.values for trial in trials(second)]


def test_another_seed_gives_other_trials(project: Project, sessions: list[Session]) -> None:
    first = worked_through(searching(project, trials=3, seed=3))
    second = worked_through(searching(project, trials=3, seed=4))

    values = [[trial.values for trial in trials(sweep, kind="candidate")] for sweep in (first, second)]
    assert values[0] != values[1]


def test_a_search_works_as_many_policies_as_were_wanted(project: Project, sessions: list[Session]) -> None:
    sweep = worked_through(searching(project, trials=6))

    assert sweep.state == "done"
    assert len(trials(sweep, kind="candidate", state="done")) == 6
    digests = [trial.policy_digest for trial in trials(sweep, kind="candidate", state="done")]
    assert len(set(digests)) == 6


def test_a_search_that_finds_no_more_to_try_ends(
    project: Project, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_asking, "MOST_SKIPPED_IN_A_ROW", 8)

    sweep = worked_through(searching(project, trials=9, space={"ladder": [True, False]}))

    assert sweep.state == "done"
    assert sorted(trial.values["ladder"] for trial in trials(sweep, kind="candidate", state="done")) == [False, True]
    assert trials(sweep)[-1].error.startswith("the same policy as trial ")
    assert sweeps.progress(sweep).finished == sweeps.progress(sweep).total == 4


def test_a_trial_is_claimed_once(project: Project, sessions: list[Session]) -> None:
    sweep = queued(project)
    Sweep.objects.filter(pk=sweep.pk).update(state="running")

    claimed = [sweep_execution.claim(sweep) for _ in range(6)]

    assert [trial and trial.number for trial in claimed] == [0, 1, 2, 3, 4, None]


def test_a_search_asks_while_other_trials_are_open_and_never_for_too_many(
    project: Project, sessions: list[Session]
) -> None:
    sweep = searching(project, trials=3)
    Sweep.objects.filter(pk=sweep.pk).update(state="running")

    claimed = [sweep_execution.claim(sweep) for _ in range(6)]

    assert [trial is not None for trial in claimed] == [True, True, True, True, True, False]
    assert len(trials(sweep, kind="candidate", state="claimed")) == 3


def test_a_dead_workers_trial_is_taken_up_with_the_results_that_it_has(
    project: Project, sessions: list[Session]
) -> None:
    sweep = queued(project)
    Sweep.objects.filter(pk=sweep.pk).update(state="running")
    trial = sweep_execution.claim(sweep)
    assert trial is not None
    policy = sweep_execution.policy_of_trial(trial)
    sweep_execution.result_of(trial, sessions[0], policy).save()
    kept = TrialResult.objects.get(trial=trial)
    now = timezone.now()
    Trial.objects.filter(pk=trial.pk).update(claimed_at=now - LONG_AGO)
    Sweep.objects.filter(pk=sweep.pk).update(queued_at=now - LONG_AGO)

    assert sweep_recovery.recover(now) == [sweep.pk]
    assert sweep_recovery.recover(now) == []
    worked_through(sweep)

    trial.refresh_from_db()
    assert (trial.state, trial.claims) == ("done", 2)
    assert TrialResult.objects.filter(trial=trial).count() == 3
    assert TrialResult.objects.get(trial=trial, session=sessions[0]).pk == kept.pk


def test_a_worker_that_was_thought_dead_writes_nothing(project: Project, sessions: list[Session]) -> None:
    sweep = queued(project)
    Sweep.objects.filter(pk=sweep.pk).update(state="running")
    trial = sweep_execution.claim(sweep)
    assert trial is not None
    Trial.objects.filter(pk=trial.pk).update(state="waiting", claimed_at=None)

    with pytest.raises(sweep_execution.ClaimLost):
        sweep_execution.finish(trial)

    assert not TrialResult.objects.filter(trial=trial).exists()


def test_a_trial_that_so_many_workers_died_on_is_marked(project: Project, sessions: list[Session]) -> None:
    sweep = queued(project)
    now = timezone.now()
    Sweep.objects.filter(pk=sweep.pk).update(state="running", queued_at=now - LONG_AGO)
    Trial.objects.filter(sweep=sweep, number=0).update(state="claimed", claims=3, claimed_at=now - LONG_AGO)

    sweep_recovery.recover(now)

    trial = trials(sweep)[0]
    assert (trial.state, trial.error) == ("failed", "3 workers ended while they worked on it")


def test_a_sweep_that_somebody_works_on_is_left_alone(project: Project, sessions: list[Session]) -> None:
    sweep = queued(project)
    now = timezone.now()
    Sweep.objects.filter(pk=sweep.pk).update(state="running", queued_at=now - LONG_AGO)
    Trial.objects.filter(sweep=sweep, number=0).update(state="claimed", claims=1, claimed_at=now)

    assert sweep_recovery.recover(now) == []


def test_a_cancelled_sweep_takes_no_further_trial_and_resumes_where_it_was(
    project: Project, sessions: list[Session]
) -> None:
    sweep = queued(project)
    sweep_execution.work(sweep.pk, limit=2)
    sweeps.cancel(sweep)

    assert sweep_execution.work(sweep.pk) == 0
    assert sweeps.progress(sweep).state == "cancelled"
    before = {result.pk for result in results(sweep)}

    assert sweeps.resume(sweep)
    worked_through(sweep)

    assert sweep.state == "done"
    assert len(before) == 6
    assert before < {result.pk for result in results(sweep)}
    assert len(results(sweep)) == 15


def test_a_trial_in_the_middle_of_a_cancelled_sweep_waits_again(project: Project, sessions: list[Session]) -> None:
    sweep = queued(project)
    Sweep.objects.filter(pk=sweep.pk).update(state="running")
    trial = sweep_execution.claim(sweep)
    assert trial is not None
    sweeps.cancel(sweep)

    with pytest.raises(sweep_execution.ClaimLost):
        sweep_execution.finish(trial)
    sweep_execution.release(trial)

    trial.refresh_from_db()
    assert trial.state == "waiting"


def test_what_is_over_cannot_be_resumed(project: Project, sessions: list[Session]) -> None:
    assert not sweeps.resume(worked_through(queued(project)))


def test_a_worker_of_another_engine_cancels_what_it_could_not_compare(
    project: Project, sessions: list[Session]
) -> None:
    sweep = queued(project)
    Sweep.objects.filter(pk=sweep.pk).update(engine_version=1)

    assert sweep_execution.work(sweep.pk) == 0
    sweep.refresh_from_db()
    assert sweep.state == "cancelled"
    assert not sweeps.resume(sweep)


def test_a_worker_that_finds_other_prices_cancels_what_it_could_not_compare(
    project: Project, sessions: list[Session]
) -> None:
    sweep = queued(project)
    set_prices(project, dict.fromkeys(FIELDS, Decimal(1)))

    assert sweep_execution.work(sweep.pk) == 0
    sweep.refresh_from_db()
    assert sweep.state == "cancelled"


def test_prices_of_the_project_are_what_it_is_judged_by(project: Project, sessions: list[Session]) -> None:
    set_prices(project, dict.fromkeys(FIELDS, Decimal(1)))
    sweep = worked_through(queued(project))

    none, *rest = trials(sweep, state="done")
    assert none.cost_usd == sum(row.cost_usd or Decimal(0) for row in tuned_results(none))
    assert findings_of(sweep).in_dollars
    assert len(rest) == 4


def tuned_results(trial: Trial) -> list[TrialResult]:
    apart = SweepSession.objects.filter(sweep=trial.sweep_id, is_held_out=True).values("session")
    return list(TrialResult.objects.filter(trial=trial).exclude(session__in=apart))


def test_a_session_that_cannot_be_replayed_is_marked_and_the_sweep_goes_on(
    project: Project, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = sweep_sessions.summary_of

    def summary_of(warm: Any, policy: Any) -> Any:
        if warm.subject.name == str(sessions[1].pk):
            raise ValueError("odd")
        return known(warm, policy)

    monkeypatch.setattr(sweep_execution, "summary_of", summary_of)
    sweep = worked_through(queued(project, held_out=0))

    assert sweep.state == "done"
    assert {result.error for result in results(sweep) if result.session_id == sessions[1].pk} == {"ValueError: odd"}
    assert {(trial.broken > 0, trial.figures["tuned"]["failed"]) for trial in trials(sweep, state="done")} == {
        (True, 1)
    }


def test_each_session_is_read_once_by_a_worker(
    project: Project, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    known = transcripts.from_session

    def from_session(session: Session) -> Any:
        read.append(session.pk)
        return known(session)

    monkeypatch.setattr(sweep_sessions, "from_session", from_session)
    worked_through(queued(project))

    assert sorted(read) == [session.pk for session in sessions]


def test_the_shelf_holds_no_more_than_its_weight_and_starts_with_what_it_holds(sessions: list[Session]) -> None:
    shelf = sweep_sessions.SessionShelf(sessions[1].counted_tokens + sessions[2].counted_tokens)
    for session in sessions:
        shelf.warm(session)

    assert shelf.nearest_first(sessions) == [sessions[1], sessions[2], sessions[0]]


def test_progress_counts_trials_and_knows_what_is_left(project: Project, sessions: list[Session]) -> None:
    sweep = queued(project)
    sweep_execution.work(sweep.pk, limit=2)

    found = sweeps.progress(sweep)

    assert (found.total, found.done, found.failed, found.is_over) == (5, 2, 0, False)
    assert found.rate is not None
    assert found.seconds_left == pytest.approx(3 / found.rate)


def test_adopting_a_trial_makes_its_policy_a_version_in_force_once(
    project: Project, sessions: list[Session], user: User
) -> None:
    sweep = queued(project)
    trial = Trial.objects.select_related("sweep__project").get(sweep=sweep, number=2)

    versions = [sweeps.adopt_trial(trial=trial, by=user, seen=0) for _ in range(2)]

    assert versions[0] == versions[1]
    assert (versions[0].number, versions[0].origin) == (1, f"sweep {sweep.pk}, trial 2")
    current = policies.in_force(project)
    assert (current.version, current.policy) == (versions[0], sweep_execution.policy_of_trial(trial))
    assert (current.policy.trigger_ratio, current.policy.target_ratio) == (0.6, 0.4)


def test_a_session_that_a_policy_leaves_alone_has_the_figures_of_its_own_replay(
    project: Project, sessions: list[Session]
) -> None:
    warm = sweep_sessions.SessionShelf().warm(sessions[0])
    policies_of_it = [small(context_window=window, recent_tokens=0) for window in (12_000, 1_000, 900_000)]

    for policy in policies_of_it:
        found = sweep_execution.figures_of_summary(sweep_sessions.summary_of(warm, policy))
        own = dict(stored_replay(sessions[0], policy).summary)
        assert found == sweep_execution.figures_of_summary(own)
