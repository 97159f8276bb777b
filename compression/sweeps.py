"""Sweeps: start one, watch it, cancel it, resume it, adopt what it found.

A sweep is its trials, and a trial its results: nothing is counted anywhere else. The work itself is
``sweep_execution``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Max, Min, Q
from django.utils import timezone

from compression.engine import ENGINE_VERSION
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.models import PolicyVersion, Run, Sweep, SweepSession, Trial
from compression.policies import adopt, changes, in_force
from compression.policy_drafts import save_once
from compression.project_prices import digest_of
from compression.runs import RECENT, NothingToRun, Progress
from compression.sweep_execution import is_comparable, policy_of_trial
from compression.sweep_space import InvalidSpace, Space, combine, usual_space
from compression.sweep_tasks import queue_recovered_sweeps, queue_sweep, queue_sweep_watch
from sessions.models import Project, Session

MOST_TRIALS = 2_000
"""Of a search; a grid may have as many as it has combinations."""

LARGEST_SEED = 2**31 - 1
LARGEST_PART_HELD_OUT = 0.9
REASONS_NAMED = 5


def start(
    *,
    project: Project,
    base: Policy,
    label: str,
    space: Space | None = None,
    trials: int | None = None,
    sessions: Iterable[int] | None = None,
    seed: int = 0,
    held_out: float = 0.25,
    by: User | None = None,
) -> Sweep:
    """Try policies on sessions of a project (None: all of them) in the background.

    Without ``trials`` every combination of ``space`` is tried; with it so many are searched for, in ``space`` or in
    the usual one. InvalidSpace when nothing of it can be tried.
    """
    is_grid = trials is None
    space = space or usual_space(base)
    _check(base, space, trials, seed, held_out)
    fields = base.model_dump(mode="json")
    candidates, skipped = _of_grid(fields, space) if is_grid else ([], [])
    chosen = Session.objects.filter(project=project)
    if sessions is not None:
        chosen = chosen.filter(pk__in=list(sessions))
    with transaction.atomic():
        sizes = dict(chosen.order_by("pk").values_list("pk", F("turn_count") * F("counted_tokens")))
        if not sizes:
            raise NothingToRun("there is no session to sweep over: upload one, or choose others")
        sweep = Sweep.objects.create(
            project=project,
            kind=Sweep.Kind.GRID if is_grid else Sweep.Kind.SEARCH,
            label=label[:120],
            fields=fields,
            space=space.as_json(),
            seed=seed,
            held_out=held_out,
            wanted=len(candidates) if trials is None else trials,
            engine_version=ENGINE_VERSION,
            prices_digest=digest_of(project),
            started_by=by,
            queued_at=timezone.now(),
        )
        apart = split(sizes, seed=seed, part=held_out)
        SweepSession.objects.bulk_create(
            [SweepSession(sweep=sweep, session_id=key, is_held_out=key in apart) for key in sizes], batch_size=1_000
        )
        rows = [*_yardsticks(project, base), *candidates, *skipped]
        for number, row in enumerate(rows):
            row.sweep, row.number = sweep, number
        Trial.objects.bulk_create(rows, batch_size=500)
        queue_sweep(sweep.pk)
        queue_sweep_watch(sweep.pk)
    return sweep


def _check(base: Policy, space: Space, trials: int | None, seed: int, held_out: float) -> None:
    faults = []
    if trials is not None and not 1 <= trials <= MOST_TRIALS:
        faults.append(f"trials: a search tries 1 to {MOST_TRIALS:,} policies")
    if not 0 <= seed <= LARGEST_SEED:
        faults.append(f"seed: a whole number from 0 to {LARGEST_SEED:,}")
    if not 0 <= held_out <= LARGEST_PART_HELD_OUT:
        faults.append(f"held_out: a share of the sessions from 0 to {LARGEST_PART_HELD_OUT:g}")
    acts = base.strategy in ("threshold", "sliding") or "strategy" in space.axes
    if not acts and not (base.strategy == "reference" and "parameters" in space.axes):
        faults.append(f"the policy {base.name!r} ({base.strategy}) has no fields to tune: start from a preset of ours")
    if faults:
        raise InvalidSpace(faults)


def _of_grid(fields: Mapping[str, Any], space: Space) -> tuple[list[Trial], list[Trial]]:
    """The trials of a grid, and those of its combinations that no policy can mean."""
    candidates, skipped = [], []
    for values in space.grid():
        made = combine(fields, values)
        if made.policy is not None:
            candidates.append(Trial(values=values, policy_digest=made.policy.digest))
        else:
            now = timezone.now()
            skipped.append(Trial(values=values, state=Trial.State.SKIPPED, error=made.why[:300], finished_at=now))
    if not candidates:
        reasons = list(dict.fromkeys(row.error for row in skipped))
        more = f" (and {len(reasons) - REASONS_NAMED} other reasons)" if len(reasons) > REASONS_NAMED else ""
        raise InvalidSpace([f"no combination makes a policy: {'; '.join(reasons[:REASONS_NAMED])}{more}"])
    return candidates, skipped


def _yardsticks(project: Project, base: Policy) -> list[Trial]:
    """What the candidates are held against: no compression, and the policy in force."""
    none, current = PRESETS["none"], in_force(project).policy
    rows = [Trial(kind=Trial.Kind.NONE, policy_digest=none.digest)]
    if current.digest != none.digest:
        values = {change.name: change.new for change in changes(base, current)}
        rows.append(Trial(kind=Trial.Kind.IN_FORCE, values=values, policy_digest=current.digest))
    return rows


def split(sizes: Mapping[int, int], *, seed: int, part: float) -> frozenset[int]:
    """The sessions that nothing is tuned on: ``part`` of them, small and large ones alike.

    Ordered by size they are cut into as many groups, and a hash with the seed picks one of each, so that nobody chose
    them. At least one when there is a part and a second session, and never all of them.
    """
    order = sorted(sizes, key=lambda key: (sizes[key], key))
    count = min(max(1, round(part * len(order))), len(order) - 1) if part else 0
    edges = [at * len(order) // count for at in range(count + 1)] if count else []
    return frozenset(min(order[a:b], key=lambda key: _hash(seed, key)) for a, b in pairwise(edges))


def _hash(seed: int, key: int) -> bytes:
    return sha256(f"{seed}:{key}".encode()).digest()


def cancel(sweep: Sweep) -> None:
    """No further trial is taken; those that are being worked on stop where they are and keep what they have."""
    going = Sweep.objects.filter(pk=sweep.pk, state__in=[Run.State.QUEUED, Run.State.RUNNING])
    going.update(state=Run.State.CANCELLED, finished_at=timezone.now())


def resume(sweep: Sweep) -> bool:
    """Go on where a cancelled sweep was left; False when it was not cancelled, or what it has is not comparable."""
    if not is_comparable(sweep):
        return False
    with transaction.atomic():
        held = Sweep.objects.filter(pk=sweep.pk, state=Run.State.CANCELLED)
        if not held.update(state=Run.State.QUEUED, finished_at=None, queued_at=timezone.now()):
            return False
        queue_sweep(sweep.pk)
        queue_sweep_watch(sweep.pk)
    return True


def progress(sweep: Sweep, now: datetime | None = None) -> Progress:
    """Where a sweep stands, in trials; two queries. The rate is that of the last half minute while it goes on."""
    now = now or timezone.now()
    sweep.refresh_from_db(fields=["state", "finished_at"])
    finished = Q(state__in=[Trial.State.DONE, Trial.State.FAILED])
    counts = Trial.objects.filter(sweep=sweep).aggregate(
        yardsticks=Count("pk", filter=~Q(kind=Trial.Kind.CANDIDATE)),
        candidates=Count("pk", filter=Q(kind=Trial.Kind.CANDIDATE) & ~Q(state=Trial.State.SKIPPED)),
        done=Count("pk", filter=Q(state=Trial.State.DONE)),
        failed=Count("pk", filter=Q(state=Trial.State.FAILED)),
        claimed=Count("pk", filter=Q(state=Trial.State.CLAIMED)),
        recent=Count("pk", filter=finished & Q(finished_at__gte=now - RECENT)),
        first=Min("finished_at", filter=finished),
        last=Max("finished_at", filter=finished),
    )
    worked = counts["done"] + counts["failed"]
    # A search that found no more to try ends with fewer trials than were wanted.
    candidates = counts["candidates"] if sweep.state == Run.State.DONE else max(sweep.wanted, counts["candidates"])
    total = counts["yardsticks"] + candidates
    rate = seconds_left = None
    if worked and counts["first"] and counts["last"]:
        begun = min(counts["first"], sweep.queued_at or counts["first"])
        if sweep.state == Run.State.RUNNING and counts["recent"]:
            rate = counts["recent"] / max(min(now - begun, RECENT).total_seconds(), 0.001)
        else:
            rate = worked / max((counts["last"] - begun).total_seconds(), 0.001)
        if sweep.state == Run.State.RUNNING:
            seconds_left = (total - worked) / rate
    return Progress(
        state=sweep.state,
        total=total,
        done=counts["done"],
        failed=counts["failed"],
        claimed=counts["claimed"] if sweep.state == Run.State.RUNNING else 0,
        reused=0,
        rate=rate,
        seconds_left=seconds_left,
    )


def take_up() -> int:
    """Free the claims of workers that died and queue their sweeps again; gives the number of sweeps."""
    return queue_recovered_sweeps()


def adopt_trial(*, trial: Trial, by: User, seen: int) -> PolicyVersion:
    """The policy of a trial as a new version, in force. ``seen`` = the newest version when it was asked for, so that
    pressing twice makes one."""
    sweep = trial.sweep
    origin = f"sweep {sweep.pk}, trial {trial.number}"
    with transaction.atomic():
        version = save_once(
            project=sweep.project, policy=policy_of_trial(trial), author=by, seen=seen, note=origin, origin=origin
        )
        adopt(version=version, by=by)
    return version
