"""A sweep as JSON: the same for the command and the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compression.engine.policy import InvalidPolicy
from compression.models import Sweep, Trial
from compression.run_progress import progress_row
from compression.sweep_execution import policy_of_trial
from compression.sweep_recommendation import Recommendation, recommendation_of
from compression.sweep_results import Findings, findings_of, saved_of, session_counts
from compression.sweeps import progress
from sessions.site_address import site_url

MOST_POINTS = 10_000


def sweep_document(sweep: Sweep, *, limit: int = MOST_POINTS) -> dict[str, Any]:
    """Where it stands, its points, what was skipped, the Pareto front by trial and the recommendation."""
    stands = progress_row(progress(sweep))  # first: it reads the state anew
    found = findings_of(sweep)
    on_front = {point.number for point in found.front}
    trials = list(Trial.objects.filter(sweep=sweep).order_by("number")[:limit])
    none = found.of_kind(Trial.Kind.NONE)
    without = next((t.figures for t in trials if none and t.number == none.number), None)
    return {
        **sweep_row(sweep),
        "progress": stands,
        "sessions": session_counts(sweep),
        "objective": "cost_usd" if found.in_dollars else "sent_after",
        "points": [point_row(trial, without, found, on_front) for trial in trials if trial.state == Trial.State.DONE],
        "skipped": rows_of(trials, Trial.State.SKIPPED),
        "failed": rows_of(trials, Trial.State.FAILED),
        "front": [point.number for point in found.front],
        "recommendation": recommendation_row(recommendation_of(found)),
    }


def sweep_row(sweep: Sweep) -> dict[str, Any]:
    """What a sweep is."""
    return {
        "id": sweep.pk,
        "url": site_url() + sweep.get_absolute_url(),
        "project": sweep.project.slug,
        "kind": sweep.kind,
        "policy": sweep.label,
        "space": sweep.space,
        "trials": sweep.wanted,
        "seed": sweep.seed,
        "held_out": sweep.held_out,
        "engine_version": sweep.engine_version,
        "state": sweep.state,
        "started_at": sweep.created_at.isoformat(),
        "finished_at": sweep.finished_at.isoformat() if sweep.finished_at else None,
    }


def rows_of(trials: Iterable[Trial], state: str) -> list[dict[str, Any]]:
    return [{"trial": t.number, "values": t.values, "reason": t.error} for t in trials if t.state == state]


def point_row(trial: Trial, without: Any, found: Findings, on_front: set[int]) -> dict[str, Any]:
    """One trial with the figures of both parts of the sessions; ``saved`` is against no compression."""
    parts = {
        name: figures
        and {
            **figures,
            "saved": saved_of(figures, without and without[name], in_dollars=found.in_dollars),
        }
        for name, figures in trial.figures.items()
    }
    return {
        "trial": trial.number,
        "kind": trial.kind,
        "values": trial.values,
        "policy_digest": trial.policy_digest,
        "is_sound": not trial.broken,
        "on_front": trial.number in on_front,
        **parts,
    }


def recommendation_row(found: Recommendation | None) -> dict[str, Any] | None:
    if found is None:
        return None
    worst = found.worst
    try:
        policy = policy_of_trial(found.trial).model_dump(mode="json")
    except InvalidPolicy:  # stored by a version whose fields meant something else
        policy = None
    return {
        "trial": found.trial.number,
        "kind": found.trial.kind,
        "values": found.trial.values,
        "policy": policy,
        "is_sound": found.is_sound,
        "saved": found.saved,
        "saved_held_out": found.saved_held_out,
        "saved_of": "dollars" if found.in_dollars else "tokens",
        "tuned": found.tuned,
        "held_out": found.held_out,
        "worst_session": None
        if worst is None
        else {
            "session_id": worst.session_id,
            "title": str(worst.session),
            "rlr_n": worst.rlr_n,
            "rlr_kept": worst.rlr_kept,
            "rlr_reached": worst.rlr_reached,
            "sent_before": worst.sent_before,
            "sent_after": worst.sent_after,
            "cost_usd": None if worst.cost_usd is None else str(worst.cost_usd),
            "overflow_turn": worst.overflow_turn,
            "violations": worst.violations,
        },
        "reason": found.reason,
        "more": list(found.lines),
    }
