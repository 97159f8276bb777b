"""What the fields about the prompt cache mean on one session: pay-back at today's prices, refused and free events."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from compression.consequence_words import UNCHANGED, many, unused
from compression.trial import Line, Trial
from sessions.templatetags.figures import duration, grouped

TOO_DEAR = "would pay back after"
FREE = "the cache is cold"
"""How the engine begins the reason of an event that the dollar gate refused, and of one that cost nothing."""


def dollar_gate(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    if not trial.draft.dollar_gate:
        return [Line("off: no event is skipped for what it costs"), *_pay_back(trial)]
    if not any(trial.terms.prices):
        return [_no_price(trial)]
    refused = too_dear(trial)
    if not refused:
        return [Line(f"every event pays back in time: {UNCHANGED}"), *_pay_back(trial)]
    return [Line(f"skips {many(refused, 'event')} that would pay back too late", "warn"), *_pay_back(trial)]


def break_even_horizon(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    off = [] if trial.draft.dollar_gate else [Line(f"counts when the dollar gate is on: {UNCHANGED}")]
    known = trial.break_evens_today
    late = sum(calls > trial.draft.break_even_horizon for calls in known)
    later = [Line(f"{grouped(late)} of {many(len(known), 'event')} later than that")] if known else []
    return [*_pay_back(trial), *later, *off]


def prefer_idle(trial: Trial) -> Iterable[Line]:
    if not trial.acts:
        return unused(trial)
    terms = trial.terms
    if terms.profile.matching == "none":
        return [Line(f"the provider had no prompt cache when this session ran: {UNCHANGED}")]
    lives = f"the cache lives {duration(terms.lifetime.seconds)} ({terms.lifetime.basis})"
    cold = sum(map(terms.is_cold, range(len(terms.idle))))
    if not trial.draft.prefer_idle:
        return [Line(f"off; {lives}, {many(cold, 'call')} came after it had expired")]
    free = free_events(trial)
    if not free:
        return [Line(f"{lives}, cold at {many(cold, 'call')}, none above the target: {UNCHANGED}")]
    return [Line(f"{many(free, 'event')} on a cold cache, which cost nothing; {lives}", "good")]


def too_dear(trial: Trial) -> int:
    """How many events the dollar gate refused, the repetitions too."""
    return sum(1 + event.repeats for event in trial.events("skip") if event.reason.startswith(TOO_DEAR))


def free_events(trial: Trial) -> int:
    return sum(event.reason == FREE for event in trial.events())


def _pay_back(trial: Trial) -> list[Line]:
    """After how many calls the draft's events pay back at today's prices."""
    if not trial.prices_today:
        return [_no_price(trial)]
    known = trial.break_evens_today
    if not known:
        return [Line("no event here that has to pay back")]
    return [Line(f"at today's prices an event pays back after {median(known):.1f} calls (median of {len(known)})")]


def _no_price(trial: Trial) -> Line:
    named = ", ".join(dict.fromkeys(model or "not named" for model in trial.terms.models)) or "not named"
    return Line(f"no price is known for the model ({named[:80]}): set one in the project's prices", "warn")
