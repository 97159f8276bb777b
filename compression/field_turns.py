"""Where to look: the turn at which a field matters most on one session, for a link beside its consequence.

Of a field that alone differs from the policy in force it is the turn whose window the draft changes most; of every
other one the turn at which it acts most. None where it acts nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compression.cost_consequences import FREE, TOO_DEAR
from compression.engine.edits import LADDER, EditKind, Event
from compression.policies import changes
from compression.policy_fields import SETTINGS
from compression.trial import Trial

Where = Callable[[Trial], int | None]


def turns(trial: Trial) -> dict[str, int]:
    """Field -> turn, for those that have one."""
    changed = [change.name for change in changes(trial.in_force, trial.draft)]
    found = {}
    for name in (*SETTINGS, "pins"):
        turn = trial.changed_most if changed == [name] else None
        if turn is None and len(trial.table):
            turn = _WHERE[name](trial) if name in _WHERE else None
        if turn is not None:
            found[name] = turn
    return found


def _largest(events: Sequence[Event]) -> int | None:
    """The turn of the event that freed most."""
    return max(events, key=lambda event: event.reclaimed).turn if events else None


def _event(trial: Trial) -> int | None:
    return _largest(trial.events())


def _kind(*kinds: str) -> Where:
    return lambda trial: _largest(trial.events(*kinds))


def _edits(kind: EditKind) -> Where:
    def where(trial: Trial) -> int | None:
        freed = {
            event.turn: sum(e.tokens_before - e.tokens_after for e in event.edits if e.kind == kind)
            for event in trial.replay.events
        }
        turn = max(freed, key=freed.__getitem__, default=None)
        return turn if turn is not None and freed[turn] else None

    return where


def _skipped(begin: str, *, but: str = "") -> Where:
    def where(trial: Trial) -> int | None:
        skips = (event for event in trial.events("skip") if event.reason.startswith(begin))
        return next((event.turn for event in skips if not but or not event.reason.startswith(but)), None)

    return where


def _pinned_for(reason: str) -> Where:
    def where(trial: Trial) -> int | None:
        return next((turn for turn, pins in trial.table.pinned if reason in pins.values()), None)

    return where


def _fullest(trial: Trial) -> int | None:
    return trial.fullest


def _over_or_fullest(trial: Trial) -> int | None:
    return trial.fullest if trial.first_over is None else trial.first_over


def _most_pinned(trial: Trial) -> int | None:
    column = trial.table.zones["pinned"]
    most = max(column, default=0)
    return column.index(most) if most else None


def _free(trial: Trial) -> int | None:
    return next((event.turn for event in trial.events() if event.reason == FREE), None)


def _widest_budget(trial: Trial) -> int | None:
    budgets = trial.replay.budgets
    adaptive = trial.draft.recent_mode == "adaptive" and budgets
    return budgets.index(max(budgets)) if adaptive else trial.fullest


_WHERE: dict[str, Where] = {
    "strategy": _event,
    "context_window": _fullest,
    "trigger_ratio": lambda trial: trial.first_over,
    "target_ratio": _event,
    "min_reclaim_tokens": _skipped("", but=TOO_DEAR),
    "reserve_output": _over_or_fullest,
    "arrival_limit_tokens": _kind("arrival"),
    "thrash_guard": _kind("stopped"),
    "recent_tokens": _fullest,
    "recent_mode": _widest_budget,
    "recent_min": _widest_budget,
    "recent_max": _widest_budget,
    "pins": _most_pinned,
    "pin_latest_user": _pinned_for("latest user request"),
    "recall_hold_turns": _pinned_for("recalled lately"),
    "min_result_tokens": _edits("stub"),
    "selection": _event,
    "allocation": _edits("stub"),
    "context_aware": _edits("stub"),
    "novelty_ceiling": _edits("stub"),
    "result_ratio": _edits("stub"),
    "result_floor": _edits("stub"),
    "result_ceiling": _edits("stub"),
    "code_output": _edits("stub"),
    "superseded": _edits("superseded"),
    "max_argument_tokens": _edits("arguments"),
    "clear_thinking": _edits("thinking"),
    "ladder": _kind(*LADDER),
    "dollar_gate": _skipped(TOO_DEAR),
    "break_even_horizon": _skipped(TOO_DEAR),
    "prefer_idle": _free,
}
