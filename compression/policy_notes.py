"""Notes on a draft as a whole, in words: what cannot be reached, what is large, what is never used.

A note never changes a value; it says what the values together mean on the chosen session and its project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compression.alarms import alarms
from compression.trial import Line, Trial
from sessions.templatetags.figures import short


def notes(trial: Trial) -> Iterator[Line]:
    """The notes, those about the target first."""
    if not len(trial.table):
        return
    if trial.acts:
        yield from _target(trial)
        yield from _margin(trial)
        yield from _large_result(trial)
        yield from _reach(trial)
    yield from _outcome(trial)


def _target(trial: Trial) -> Iterable[Line]:
    draft, hidden = trial.draft, trial.calibration.hidden
    aim = draft.trigger_ratio if draft.strategy == "sliding" else draft.target_ratio
    name = "trigger" if draft.strategy == "sliding" else "target"
    target = aim * trial.limit - draft.reserve_output
    at = trial.fullest
    recent, pinned, head = trial.zone("recent", at), trial.zone("pinned", at), trial.zone("head", at)
    kept, aimed = head + recent + pinned, f"the {name} of {short(target)}"
    parts = f"head {short(head)} + recent {short(recent)} + pinned {short(pinned)} = {short(kept)}"
    missed = [event for event in trial.events() if event.target_unreachable is not None]
    if hidden + recent > target:
        sums = f"recent {short(recent)} + hidden {short(hidden)}"
        yield Line(f"{sums} already exceed {aimed}: events cannot reach it", "warn")
    elif kept > target:
        yield Line(f"{parts} exceed {aimed}: events cannot reach it", "warn")
    elif missed:
        floor = short(max(event.target_unreachable or 0 for event in missed))
        yield Line(
            f"{parts}, but texts and small results are never stubbed: up to {floor} remain, above {aimed}", "warn"
        )
    else:
        yield Line(f"{parts}: {aimed} can be reached", "good")


def _margin(trial: Trial) -> Iterable[Line]:
    """What trigger, target, reserve and the smallest reclaim mean together."""
    draft = trial.draft
    if draft.reserve_output >= draft.trigger_ratio * trial.limit:
        yield Line("the reserve alone reaches the trigger: every call is over it", "warn")
    margin = (draft.trigger_ratio - draft.target_ratio) * trial.limit
    if draft.strategy == "threshold" and draft.min_reclaim_tokens > margin:
        yield Line(
            f"from trigger to target lie {short(margin)}, fewer than the smallest reclaim of "
            f"{short(draft.min_reclaim_tokens)}: events are skipped until the window is at risk",
            "warn",
        )


def _large_result(trial: Trial) -> Iterable[Line]:
    if not trial.results:
        return
    target = trial.draft.target_ratio * trial.limit - trial.draft.reserve_output
    largest = trial.calibration.k * trial.results[-1]
    if largest > target:
        yield Line(f"one result of {short(largest)} tokens alone passes the target", "warn")


def _reach(trial: Trial) -> Iterable[Line]:
    reaching, total = trial.peaks.reaching(trial.draft), len(trial.peaks.rows)
    if trial.first_over is None and not reaching and total:
        yield Line(
            "no session of this project ever reaches the trigger"
            if total > 1
            else "this session never reaches the trigger",
            "warn",
        )
    elif trial.first_over is None:
        yield Line("this session never reaches the trigger: choose another one to see events")


def _outcome(trial: Trial) -> Iterable[Line]:
    summary = trial.summary
    for alarm in alarms(summary, trial.replay.events, trial.table.overruns, trial.draft):
        said = "; ".join((alarm.title, *alarm.lines[:1]))
        yield Line(f"{said}. {alarm.remedy}", "bad" if alarm.mood == "error" else "warn")
    if trial.is_same and trial.draft.digest != trial.in_force.digest:
        yield Line("on this session the draft does exactly what the policy in force does: nothing changes")
