"""What each field of a draft means on a project's sample: a part and its whole, added up over the sessions.

And the sums of the sample under the policy in force and the draft. Reads trials; replays nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from django.utils.translation import gettext as _

from compression.cost_consequences import free_events, too_dear
from compression.engine.edits import LADDER
from compression.engine.pins import RECALL_TOOLS
from compression.policy_sample import Sample
from compression.policy_table import Cell
from compression.trial import Line, Trial
from sessions.templatetags.figures import ABSENT, grouped, percent, short

Part = Callable[[Trial], tuple[int, int]]
"""(part, whole) of one session."""


def at_sample(sample: Sample) -> dict[str, Line]:
    """One line a field; a field of which the sample holds nothing says so."""
    found = {}
    for name, (words, part) in _PARTS.items():
        pairs = [part(trial) for trial in sample.trials]
        some, whole = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
        noun, verb = words
        found[name] = Line(
            f"sample: {grouped(some)} of {grouped(whole)} {noun} {verb}" if whole else f"sample: no {noun}"
        )
    return found


def _session(holds: Callable[[Trial], bool]) -> Part:
    return lambda trial: (int(holds(trial)), 1)


def _larger(sizes: Callable[[Trial], Sequence[int]], limit: Callable[[Trial], int | None]) -> Part:
    def part(trial: Trial) -> tuple[int, int]:
        known, above = sizes(trial), limit(trial)
        return (0 if above is None else len(known) - bisect_right(known, above)), len(known)

    return part


def _stubs(holds: Callable[[Trial, int], bool]) -> Part:
    """Of the stubs those whose wanted budget, before floor and ceiling, is so."""
    return lambda trial: (
        sum(holds(trial, int(trial.draft.result_ratio * edit.tokens_before)) for edit in trial.stubs),
        len(trial.stubs),
    )


def _pinned(reason: str) -> Part:
    return _session(lambda trial: bool(trial.pinned_for(reason)))


def _edited(kind: str, of: Callable[[Trial], int]) -> Part:
    return lambda trial: (sum(e.kind == kind for event in trial.replay.events for e in event.edits), of(trial))


def _skipped(trial: Trial) -> tuple[int, int]:
    skipped = trial.summary["skipped_events"] - too_dear(trial)
    return skipped, skipped + len(trial.events())


def _gated(trial: Trial) -> tuple[int, int]:
    refused = too_dear(trial)
    return refused, refused + len(trial.events())


def _late(trial: Trial) -> tuple[int, int]:
    known = trial.break_evens_today
    return sum(calls > trial.draft.break_even_horizon for calls in known), len(known)


def _reached(trial: Trial) -> tuple[int, int]:
    events = trial.events()
    return sum(event.target_unreachable is None for event in events), len(events)


def _recalls(trial: Trial) -> tuple[int, int]:
    found = sum(len(rows) for name, rows in trial.course.results_by_tool.items() if fnmatchcase(name, RECALL_TOOLS))
    return min(found, len(trial.pinned_for("recalled lately"))), found


_SESSIONS, _EVENTS, _RESULTS, _STUBS = "sessions", "events", "results", "stubs"
_PARTS: dict[str, tuple[tuple[str, str], Part]] = {
    "strategy": ((_SESSIONS, "have an event"), _session(lambda t: t.summary["events"] > 0)),
    "context_window": (
        (_SESSIONS, "do not fit without compression"), _session(lambda t: t.summary["overflow_turn_none"] is not None),
    ),
    "trigger_ratio": ((_SESSIONS, "pass it"), _session(lambda t: t.first_over is not None)),
    "target_ratio": ((_EVENTS, "reach it"), _reached),
    "min_reclaim_tokens": ((_EVENTS, "skipped"), _skipped),
    "reserve_output": (
        (_SESSIONS, "do not fit with it"), _session(lambda t: t.summary["overflow_turn"] is not None),
    ),
    "arrival_limit_tokens": (
        (_RESULTS, "larger"), _larger(lambda t: t.results, lambda t: t.draft.arrival_limit_tokens),
    ),
    "thrash_guard": ((_SESSIONS, "stopped"), _session(lambda t: bool(t.events("stopped")))),
    "recent_tokens": (
        ("turns", "have a newest message that is larger"), lambda t: (len(t.table.overruns), len(t.table)),
    ),
    "recent_mode": (
        (_SESSIONS, "refer back"), _session(lambda t: t.usual_distance is not None),
    ),
    "recent_min": (("turns", "held up to it"), lambda t: (_at(t, t.draft.recent_min), len(t.table))),
    "recent_max": (("turns", "held down to it"), lambda t: (_at(t, t.draft.recent_max), len(t.table))),
    "pins": ((_SESSIONS, "have something pinned"), _session(lambda t: any(t.table.zones["pinned"]))),
    "pin_latest_user": ((_SESSIONS, "have a request that it keeps"), _pinned("latest user request")),
    "recall_hold_turns": (("recalls", "held"), _recalls),
    "min_result_tokens": ((_RESULTS, "longer"), _larger(lambda t: t.results, lambda t: t.draft.min_result_tokens)),
    "selection": ((_RESULTS, "stubbed"), lambda t: (len(t.stubs), len(t.results))),
    "superseded": ((_RESULTS, "became a pointer"), _edited("superseded", lambda t: len(t.results))),
    "max_argument_tokens": (
        ("calls", "shortened"), _edited("arguments", lambda t: len(t.part_tokens("tool_call"))),
    ),
    "clear_thinking": (
        ("parts of unsigned thinking", "cleared"), _edited("thinking", lambda t: len(t.part_tokens("thinking"))),
    ),
    "ladder": ((_SESSIONS, "need it"), _session(lambda t: bool(t.events(*LADDER)))),
    "allocation": (
        ("tokens of stubbed results", "stand in stubs"),
        lambda t: (sum(e.tokens_after for e in t.stubs), sum(e.tokens_before for e in t.stubs)),
    ),
    "result_ratio": (
        (_STUBS, "have a budget between floor and ceiling"),
        _stubs(lambda t, wanted: t.draft.result_floor < wanted < t.draft.result_ceiling),
    ),
    "result_floor": ((_STUBS, "raised to it"), _stubs(lambda t, wanted: wanted <= t.draft.result_floor)),
    "result_ceiling": ((_STUBS, "cut to it"), _stubs(lambda t, wanted: wanted >= t.draft.result_ceiling)),
    "code_output": (
        (_STUBS, "of command output"), lambda t: (sum(e.content_type == "code_output" for e in t.stubs), len(t.stubs)),
    ),
    "dollar_gate": ((_EVENTS, "skipped as too dear"), _gated),
    "break_even_horizon": ((_EVENTS, "pay back later, at today's prices"), _late),
    "prefer_idle": ((_EVENTS, "on a cold cache"), lambda t: (free_events(t), len(t.events()))),
}  # fmt: skip
_PARTS["novelty_ceiling"] = _PARTS["context_aware"] = _PARTS["allocation"]


def _at(trial: Trial, bound: int) -> int:
    if trial.draft.recent_mode == "fixed":
        return 0
    return sum(budget == bound for budget in trial.replay.budgets)


def sums(sample: Sample) -> list[tuple[str, str, Cell, Cell]]:
    """(figure, what it is of, in force, draft) over the sample."""
    before = [trial.before.summary for trial in sample.trials]
    draft = [trial.summary for trial in sample.trials]
    rows = []
    for name, about, value, text, more_is_better in _SUMS:
        old, new = value(before), value(draft)
        mark = ""
        if more_is_better is not None and old is not None and new is not None and old != new:
            mark = "better" if (new > old) == more_is_better else "worse"
        cells = [Cell(ABSENT if amount is None else text(amount)) for amount in (old, new)]
        rows.append((_(name), _(about), cells[0], Cell(cells[1].text, mark=mark)))
    return rows


def _sum(key: str) -> Callable[[list[Any]], Any]:
    return lambda summaries: sum(summary[key] for summary in summaries)


def _overflows(summaries: list[Any]) -> int:
    return sum(summary["overflow_turn"] is not None for summary in summaries)


def _saved(summaries: list[Any]) -> float | None:
    sent = sum(summary["sent_before"] for summary in summaries)
    return 1 - sum(summary["sent_after"] for summary in summaries) / sent if sent else None


def _dollars(summaries: list[Any]) -> Decimal | None:
    costs = [summary["cost_usd"] for summary in summaries]
    return None if None in costs else sum((Decimal(cost) for cost in costs), Decimal(0))


def _hits(summaries: list[Any]) -> float | None:
    read = sum(summary["cache_read"] for summary in summaries)
    whole = read + sum(summary["cache_write"] + summary["cache_uncached"] for summary in summaries)
    return read / whole if whole else None


_SUMS: list[tuple[str, str, Callable[[list[Any]], Any], Callable[[Any], str], bool | None]] = [
    ("tokens sent", "over all calls of the sample", _sum("sent_after"), short, False),
    ("saved", "of the tokens sent without a policy", _saved, percent, True),
    ("cost", "at the prices of each session's date", _dollars, lambda usd: f"${usd:,.2f}", False),
    ("cache hits", "of all input", _hits, percent, True),
    ("events", "each breaks the prefix cache once", _sum("events"), grouped, None),
    ("overflow", "sessions that do not fit to their end", _overflows, grouped, False),
    ("violations", "broken promises of the engine; must be 0", _sum("violations"), grouped, False),
]
