"""The next values of a search: optuna's sampler, told of the trials that the database holds.

A sweep's own rows are the study, whichever process asks: they are read, a sampler proposes, nothing stays in
memory. So workers share it by sharing the database, a killed one takes no knowledge with it, and the same rows with the
same seed give the same values. Objectives: the least cost, then the most names in view; constraints: what is broken.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from compression.sweep_space import Space, Span

RANDOM_TRIALS = 10
"""So many are drawn by chance before anything is learned from them."""


@dataclass(frozen=True, slots=True)
class Known:
    """A trial so far; ``outcome`` = (cost, share kept in view), None while it is worked on or when it has none."""

    values: Mapping[str, Any]
    outcome: tuple[float, float] | None
    broken: int = 0
    is_open: bool = False


def proposed(space: Space, seed: int, number: int, known: Sequence[Known]) -> dict[str, Any]:
    """Values for a trial. Depends on its arguments alone."""
    import optuna

    digest = sha256(f"{seed}:{number}".encode()).digest()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=int.from_bytes(digest[:4]), n_startup_trials=RANDOM_TRIALS, multivariate=True, constant_liar=True
        )
        study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)
        distributions = {name: _distribution(axis) for name, axis in space.axes.items()}
        study.add_trials([trial for one in known if (trial := _trial(one, distributions)) is not None])
        given: dict[str, Any] = study.ask(fixed_distributions=distributions).params
    return {name: _plain(space.axes[name], given[name]) for name in space.axes}


def _distribution(axis: Any) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(axis, Span):
        return CategoricalDistribution(axis)
    kind: Any = IntDistribution if isinstance(axis.low, int) else FloatDistribution
    if axis.step:
        return kind(axis.low, axis.values()[-1], step=axis.step)
    return kind(axis.low, axis.high, log=axis.is_log)


def _trial(known: Known, distributions: Mapping[str, Any]) -> Any:
    """A trial as optuna knows it; one that was skipped or failed teaches it nothing."""
    from optuna.trial import TrialState, create_trial

    params = dict(known.values)
    if params.keys() != distributions.keys():
        return None
    if known.outcome is not None:
        constraints = {"broken": float(known.broken)}
        return create_trial(
            values=known.outcome, params=params, distributions=dict(distributions), constraints=constraints
        )
    if known.is_open:
        return create_trial(state=TrialState.RUNNING, params=params, distributions=dict(distributions))
    return None


def _plain(axis: Any, value: Any) -> Any:
    """A number of a range, written as short as it is meant: a step of 0.05 gives 0.65, not 0.6500000000000001."""
    if isinstance(axis, Span) and isinstance(value, float):
        return round(value, 6)
    return value
