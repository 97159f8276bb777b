"""The consequence of each field of a draft on one session, in one sentence; where there is none, it says so.

Reads a trial that was worked out already: counts, the draft's replay, the policy in force. Replays nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from statistics import median_low

from compression.consequence_words import UNCHANGED, many, of_window, unused
from compression.cost_consequences import break_even_horizon, dollar_gate, prefer_idle
from compression.engine.edits import LADDER, Edit, Event
from compression.engine.pins import RECALL_TOOLS
from compression.policy_fields import SETTINGS
from compression.trial import Line, Trial
from sessions.templatetags.figures import grouped, percent, short

KEEPS = "keeps"
"""How the line of a pin rule begins that holds something."""


def at_fields(trial: Trial) -> dict[str, tuple[Line, ...]]:
    """Lines by field, every field of the form once."""
    found = {}
    for name in (*SETTINGS, "pins"):
        lines = tuple(_CONSEQUENCES[name](trial)) if name in _CONSEQUENCES else ()
        found[name] = (*_was(trial, name), *lines)
    return found


def at_pins(trial: Trial) -> dict[int, Line]:
    """What each pin rule keeps, by its place in the list."""
    found = {}
    for rank in range(len(trial.draft.pins)):
        kept = trial.pinned_by(rank)
        if kept:
            found[rank] = Line(f"{KEEPS} {many(len(kept), 'message')}, {short(trial.tokens_of(kept))} tokens")
        else:
            found[rank] = Line(f"holds nothing here that would not stay anyway: {UNCHANGED}")
    return found


def _was(trial: Trial, name: str) -> Iterable[Line]:
    old, new = getattr(trial.in_force, name), getattr(trial.draft, name)
    if old == new:
        return
    if name == "pins":
        yield Line(f"was {many(len(old), 'rule')}")
    else:
        yield Line(f"was {SETTINGS[name].said(old)}")


def _strategy(trial: Trial) -> Iterable[Line]:
    summary = trial.summary
    fits = (
        "fits to the end"
        if summary["overflow_turn"] is None
        else f"no longer fits from turn {summary['overflow_turn']}"
    )
    mood = "" if summary["overflow_turn"] is None else "warn"
    if not trial.acts and not summary["events"]:
        yield Line(f"no event; the session {fits}", mood)
    elif not summary["events"]:
        yield Line(f"no event on this session; it {fits}", mood)
    else:
        yield Line(f"{many(summary['events'], 'event')}; the session {fits}", mood)


def _context_window(trial: Trial) -> Iterable[Line]:
    peak, overflow = trial.summary["peak_before"], trial.summary["overflow_turn_none"]
    if trial.draft.context_window == "auto":
        yield Line(f"= {grouped(trial.limit)} tokens ({trial.replay.window_basis})")
    end = "" if overflow is None else f"; without compression it ends at turn {overflow}"
    yield Line(f"this session's peak: {short(peak)}, {of_window(trial, peak)}{end}")


def _in_tokens(trial: Trial, share: float) -> str:
    """A share of the window in tokens, and what the reserve for the answer leaves of it."""
    tokens, reserve = round(share * trial.limit), trial.draft.reserve_output
    return f"= {grouped(tokens)} tokens" + (
        f", {grouped(max(0, tokens - reserve))} less the reserve" if reserve else ""
    )


def _trigger(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        yield from unused(trial)
        return
    at = _in_tokens(trial, trial.draft.trigger_ratio)
    reach = "this session never reaches it" if trial.first_over is None else f"first passed at turn {trial.first_over}"
    yield Line(f"{at} · {reach}")
    total = len(trial.peaks.rows)
    if total > 1:
        yield Line(f"~{trial.peaks.reaching(trial.draft)} of {many(total, 'session')} ever pass it")


def _target(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        yield from unused(trial)
        return
    if trial.draft.strategy == "sliding":
        yield Line("sliding aims at the trigger: this field has no effect")
        return
    at = _in_tokens(trial, trial.draft.target_ratio)
    events = trial.events()
    if not events:
        yield Line(f"{at} · no event on this session: {UNCHANGED}")
        return
    missed = [event for event in events if event.target_unreachable is not None]
    if missed:
        floor = max(event.target_unreachable or 0 for event in missed)
        yield Line(
            f"{at} · missed by {len(missed)} of {many(len(events), 'event')}, at worst {short(floor)} remain", "warn"
        )
    else:
        yield Line(f"{at} · reached by {'the event' if len(events) == 1 else f'all {len(events)} events'}", "good")
    if len(events) > 1:
        yield Line(f"the next event comes {many(median_low(e.calls_after for e in events), 'call')} later (median)")


def _min_reclaim(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    skipped = trial.summary["skipped_events"]
    if skipped:
        return [Line(f"skips {many(skipped, 'event')}")]
    if not trial.events():
        return [Line(f"no event on this session: {UNCHANGED}")]
    least = min(event.reclaimed for event in trial.events())
    return [Line(f"skips 0 events: each frees {short(least)} or more")]


def _reserve(trial: Trial) -> Iterable[Line]:
    reserve = trial.draft.reserve_output
    if not reserve:
        return [Line("nothing is reserved")]
    trigger = short(trial.draft.trigger_ratio * trial.limit - reserve)
    return [Line(f"{of_window(trial, reserve)}: as if the trigger lay at {trigger}")]


def _arrival(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    largest = trial.results[-1] if trial.results else 0
    limit = trial.draft.arrival_limit_tokens
    if limit is None:
        return [Line(f"off; the largest result has {short(largest)} tokens")]
    larger = len(trial.results) - bisect_right(trial.results, limit)
    if not larger:
        return [Line(f"no result is larger (the largest: {short(largest)}): {UNCHANGED}")]
    stubbed = sum(len(event.edits) for event in trial.events("arrival"))
    return [
        Line(f"{many(larger, 'result')} of {grouped(len(trial.results))} larger; {grouped(stubbed)} stubbed on arrival")
    ]


def _thrash(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    stopped = trial.events("stopped")
    if stopped:
        return [Line(f"stopped compression at turn {stopped[0].turn}", "warn")]
    if not trial.draft.thrash_guard:
        return [Line(f"off; {many(_small(trial), 'event')} freed less than 10 %")]
    return [Line(f"never needed on this session: {UNCHANGED}")]


def _small(trial: Trial) -> int:
    return sum(event.reclaimed < 0.1 * event.before for event in trial.events())


def _recent(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        yield from unused(trial)
        return
    if trial.draft.recent_mode == "adaptive":
        yield Line("adaptive: counts only until the agent first refers back")
    else:
        held = trial.zone("recent", trial.fullest)
        yield Line(f"holds {short(held)} at turn {trial.fullest}, {of_window(trial, held)}")
    overruns = len(trial.table.overruns)
    if overruns:
        yield Line(f"the newest message alone is larger at {many(overruns, 'turn')}", "warn")


def _recent_mode(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    if trial.draft.recent_mode == "adaptive":
        budgets = trial.replay.budgets
        return [Line(f"uses {short(min(budgets, default=0))} to {short(max(budgets, default=0))} tokens")]
    usual = trial.usual_distance
    if usual is None:
        return [Line("the agent refers back to no result of this session")]
    return [Line(f"90 % of what the agent refers back to lies within {short(usual)}")]


def _adaptive(name: str, bound: Callable[[Trial], int]) -> Callable[[Trial], Iterable[Line]]:
    def say(trial: Trial) -> Iterable[Line]:
        if trial.draft.recent_mode == "fixed" or not trial.acts:
            return [Line("only in adaptive mode: no effect")]
        at = sum(budget == bound(trial) for budget in trial.replay.budgets)
        return [
            Line(
                f"holds the budget {name} at {at} of {many(len(trial.table), 'turn')}"
                if at
                else f"no turn comes near it: {UNCHANGED}"
            )
        ]

    return say


def _pins(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    held = trial.zone("pinned", trial.fullest) if len(trial.table) else 0
    return [Line(f"all pins together hold {short(held)} at turn {trial.fullest}, {of_window(trial, held)}")]


def _latest_user(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    if not trial.draft.pin_latest_user:
        return [Line("off: a request that left the recent zone stays all the same, only results are stubbed")]
    kept = trial.pinned_for("latest user request")
    if not kept:
        return [Line(f"always in the head or recent zone: {UNCHANGED}")]
    largest = max(trial.tokens_of([i]) for i in kept)
    return [Line(f"keeps {many(len(kept), 'request')}, the largest {short(largest)} tokens")]


def _recall(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    found = sum(len(rows) for name, rows in trial.course.results_by_tool.items() if fnmatchcase(name, RECALL_TOOLS))
    if not found:
        return [Line(f"no recall tool in this session: {UNCHANGED}")]
    return [Line(f"{many(found, 'recall')}, {len(trial.pinned_for('recalled lately'))} held")]


def _min_result(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        yield from unused(trial)
        return
    results, here, there = trial.results, trial.draft.min_result_tokens, trial.in_force.min_result_tokens
    longer = len(results) - bisect_right(results, here)
    yield Line(f"{grouped(longer)} of {many(len(results), 'result')} {'is' if longer == 1 else 'are'} longer")
    if here != there:
        low, high = sorted((here, there))
        between = bisect_right(results, high) - bisect_right(results, low)
        if not between:
            yield Line(f"no result lies between {grouped(low)} and {grouped(high)} tokens: {UNCHANGED}")
        else:
            verb = "lies" if between == 1 else "lie"
            yield Line(f"{many(between, 'result')} {verb} between {grouped(low)} and {grouped(high)} tokens")


def _selection(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    events = trial.events()
    if not events:
        return [Line(f"no event on this session: {UNCHANGED}")]
    stubs = sum(len(event.edits) for event in events)
    was = f", was {grouped(trial.before.summary['stubs'])}" if trial.draft.selection != trial.in_force.selection else ""
    return [Line(f"{many(stubs, 'stub')} in {many(len(events), 'event')}{was}")]


def _allocation(trial: Trial) -> Iterable[Line]:
    if not trial.stubs:
        return [Line(f"no stub on this session: {UNCHANGED}")]
    stood = sum(edit.tokens_before for edit in trial.stubs)
    stand = sum(edit.tokens_after for edit in trial.stubs)
    return [
        Line(
            f"{many(len(trial.stubs), 'stub')}, {short(stand)} tokens in place of {short(stood)}, "
            f"{percent(stand / stood)} of them"
        )
    ]


def _novelty_only(trial: Trial) -> Iterable[Line]:
    if trial.draft.allocation != "novelty":
        return [Line(f"counts when allocation is novelty: {UNCHANGED}")]
    return _allocation(trial)


def _stub_budget(which: str) -> Callable[[Trial], Iterable[Line]]:
    def say(trial: Trial) -> Iterable[Line]:
        if not trial.stubs:
            return [Line(f"no stub on this session: {UNCHANGED}")]
        draft = trial.draft
        wanted = [int(draft.result_ratio * edit.tokens_before) for edit in trial.stubs]
        counts = {
            "floor": sum(tokens <= draft.result_floor for tokens in wanted),
            "ceiling": sum(tokens >= draft.result_ceiling for tokens in wanted),
        }
        counts["ratio"] = len(wanted) - sum(not draft.result_floor < tokens < draft.result_ceiling for tokens in wanted)
        if not counts[which]:
            return [Line(f"decides the budget of no stub here: {UNCHANGED}")]
        return [Line(f"decides the budget of {counts[which]} of {many(len(wanted), 'stub')}")]

    return say


def _code_output(trial: Trial) -> Iterable[Line]:
    commands = sum(edit.content_type == "code_output" for edit in trial.stubs)
    if not commands:
        return [Line(f"no command output is stubbed here: {UNCHANGED}")]
    return [Line(f"{commands} of {many(len(trial.stubs), 'stub')} {'is' if commands == 1 else 'are'} command output")]


def _edits(events: Iterable[Event], kind: str) -> list[Edit]:
    return [edit for event in events for edit in event.edits if edit.kind == kind]


def _superseded(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    if trial.draft.superseded:
        found = _edits(trial.replay.events, "superseded")
        if not found:
            return [Line(f"no result stood again in a newer message when an event came: {UNCHANGED}")]
        return [Line(f"{many(len(found), 'result')} became a pointer, {short(_freed(found))} tokens freed", "good")]
    lost = _edits(trial.before.events, "superseded")
    if trial.in_force.superseded and lost:
        return [Line(f"off: {many(len(lost), 'result')} that the policy in force points elsewhere for", "warn")]
    return [Line("off: a result that stands again elsewhere is stubbed like any other")]


def _freed(edits: Iterable[Edit]) -> int:
    return sum(edit.tokens_before - edit.tokens_after for edit in edits)


def _arguments(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    sizes = sorted(trial.part_tokens("tool_call"))
    limit = trial.draft.max_argument_tokens
    if limit is None:
        return [Line(f"off; the largest call has {short(sizes[-1] if sizes else 0)} tokens")]
    larger = len(sizes) - bisect_right(sizes, limit)
    if not larger:
        return [Line(f"no call is larger (the largest: {short(sizes[-1] if sizes else 0)}): {UNCHANGED}")]
    found = _edits(trial.events(), "arguments")
    freed = f", {short(_freed(found))} tokens freed" if found else ""
    return [Line(f"{many(larger, 'call')} of {grouped(len(sizes))} larger; {grouped(len(found))} shortened{freed}")]


def _thinking(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    sizes = trial.part_tokens("thinking")
    if not sizes:
        return [Line(f"no thinking without a signature in this session: {UNCHANGED}")]
    if not trial.draft.clear_thinking:
        return [Line(f"off; {many(len(sizes), 'part')} without a signature, {short(sum(sizes))} tokens")]
    found = _edits(trial.events(), "thinking")
    if not found:
        return [Line(f"results were enough at every event: {UNCHANGED}")]
    return [Line(f"{grouped(len(found))} of {many(len(sizes), 'part')} cleared, {short(_freed(found))} tokens freed")]


def _ladder(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        yield from unused(trial)
        return
    overflow = trial.summary["overflow_turn"]
    if not trial.draft.ladder:
        if overflow is None:
            yield Line("off; no turn of this session overflows without it", "")
        else:
            yield Line(f"off: turn {overflow} overflows", "bad")
        return
    steps = [event for event in trial.replay.events if event.kind in LADDER]
    stuck = trial.events("incompressible")
    if not steps and not stuck:
        yield Line(f"never needed on this session: {UNCHANGED}")
    if steps:
        counts = Counter(event.kind for event in steps)
        named = ", ".join(f"{kind} {grouped(count)}" for kind, count in counts.items())
        left = len({i for event in steps for i in event.left})
        yield Line(f"{named}; first at turn {steps[0].turn}; {many(left, 'message')} left the window", "warn")
    if stuck:
        yield Line(f"of no use at turn {stuck[0].turn}: {stuck[0].reason}", "bad")


def _memory(trial: Trial) -> Iterable[Line]:
    if not trial.draft.memory_note:
        return [Line("off: a live agent gets no note")]
    return [Line("a live agent gets the state of its work with each event; a recorded session is not changed by it")]


def _summaries(trial: Trial) -> Iterable[Line]:
    if trial.draft.summaries == "model":
        return [Line("for live agents only: a replay calls no model and takes the sentences themselves")]
    return [Line("no model is called")]


_CONSEQUENCES: dict[str, Callable[[Trial], Iterable[Line]]] = {
    "strategy": _strategy,
    "context_window": _context_window,
    "trigger_ratio": _trigger,
    "target_ratio": _target,
    "min_reclaim_tokens": _min_reclaim,
    "reserve_output": _reserve,
    "arrival_limit_tokens": _arrival,
    "thrash_guard": _thrash,
    "recent_tokens": _recent,
    "recent_mode": _recent_mode,
    "recent_min": _adaptive("up", lambda trial: trial.draft.recent_min),
    "recent_max": _adaptive("down", lambda trial: trial.draft.recent_max),
    "pins": _pins,
    "pin_latest_user": _latest_user,
    "recall_hold_turns": _recall,
    "min_result_tokens": _min_result,
    "selection": _selection,
    "allocation": _allocation,
    "context_aware": _novelty_only,
    "novelty_ceiling": _novelty_only,
    "result_ratio": _stub_budget("ratio"),
    "result_floor": _stub_budget("floor"),
    "result_ceiling": _stub_budget("ceiling"),
    "code_output": _code_output,
    "superseded": _superseded,
    "max_argument_tokens": _arguments,
    "clear_thinking": _thinking,
    "ladder": _ladder,
    "memory_note": _memory,
    "dollar_gate": dollar_gate,
    "break_even_horizon": break_even_horizon,
    "prefer_idle": prefer_idle,
    "summaries": _summaries,
}
