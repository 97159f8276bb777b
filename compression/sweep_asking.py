"""Asks the search of a sweep for its next trial, so that each is asked for once, by whichever worker is first.

What the search proposes and no policy can mean, or what was tried before, is kept as a skipped trial with its reason.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from compression.models import Run, Sweep, Trial
from compression.sweep_search import Known, proposed
from compression.sweep_space import combine, space_of

MOST_SKIPPED_IN_A_ROW = 60
"""So many proposals that lead nowhere say that the space holds no more."""


def is_asked_out(sweep: Sweep) -> bool:
    """Whether no further trial will be asked for."""
    if sweep.kind == Sweep.Kind.GRID:
        return True
    candidates = Trial.objects.filter(sweep=sweep, kind=Trial.Kind.CANDIDATE)
    if candidates.exclude(state=Trial.State.SKIPPED).count() >= sweep.wanted:
        return True
    latest = candidates.order_by("-number").values_list("state", flat=True)[:MOST_SKIPPED_IN_A_ROW]
    states = list(latest)
    return len(states) == MOST_SKIPPED_IN_A_ROW and set(states) == {Trial.State.SKIPPED}


def ask(sweep: Sweep) -> Trial | None:
    """The next trial of a search, claimed; None when it asks for no more or the sweep does not go on."""
    while not is_asked_out(sweep):
        rows = list(Trial.objects.filter(sweep=sweep).order_by("number"))
        number = rows[-1].number + 1 if rows else 0
        space = space_of(sweep.space, is_grid=False)
        values = proposed(space, sweep.seed, number, known_of(rows))
        made = combine(sweep.fields, values)
        why, digest = made.why, made.policy.digest if made.policy else ""
        twin = next((row.number for row in rows if digest and row.policy_digest == digest), None)
        if twin is not None:
            why = f"the same policy as trial {twin}"
        if (trial := _taken(sweep, number, values, digest, why)) is None:
            if not Sweep.objects.filter(pk=sweep.pk, state=Run.State.RUNNING).exists():
                return None
        elif trial.state == Trial.State.CLAIMED:
            return trial
    return None


def _taken(sweep: Sweep, number: int, values: dict[str, Any], digest: str, why: str) -> Trial | None:
    """The trial as a row; None when another worker was faster, or the sweep does not go on."""
    now = timezone.now()
    ended = {"state": Trial.State.SKIPPED, "error": why[:300], "finished_at": now}
    begun = {"state": Trial.State.CLAIMED, "policy_digest": digest, "claimed_at": now, "claims": 1}
    try:
        with transaction.atomic():
            going = Sweep.objects.select_for_update().filter(pk=sweep.pk, state=Run.State.RUNNING)
            if going.first() is None or is_asked_out(sweep):
                return None
            return Trial.objects.create(sweep=sweep, number=number, values=values, **(ended if why else begun))
    except IntegrityError:
        return None


def known_of(rows: list[Trial]) -> list[Known]:
    """The trials of a search as its sampler sees them: money where every one that is done has a price, else tokens.

    A policy under which nothing was needed later has lost nothing, and counts so here.
    """
    done = [row for row in rows if row.state == Trial.State.DONE]
    in_dollars = bool(done) and all(row.cost_usd is not None for row in done)
    return [
        Known(
            values=row.values,
            outcome=(
                float(row.cost_usd) if in_dollars and row.cost_usd is not None else float(row.sent_after),
                1.0 if row.rlr_view is None else row.rlr_view,
            )
            if row.state == Trial.State.DONE
            else None,
            broken=row.broken,
            is_open=row.state in (Trial.State.CLAIMED, Trial.State.WAITING),
        )
        for row in rows
        if row.kind == Trial.Kind.CANDIDATE
    ]
