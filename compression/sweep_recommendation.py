"""The one policy that a sweep recommends, and why, in words. Every figure is read off stored results.

What is said of the sessions that were tuned on is said of those held out, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from compression.cost_words import dollars
from compression.models import Trial, TrialResult
from compression.sweep_results import Findings, saved_of, worst_of
from sessions.templatetags.figures import grouped, percent

Figures = Mapping[str, Any]

APART = 0.1
"""Of the names that were used later."""


@dataclass(frozen=True)
class Recommendation:
    """A trial of a sweep, held against no compression and the policy in force (None: that is none).

    ``is_sound``: no session violates, overflows, thrashes or fails. ``reason`` is one sentence, ``lines`` what else
    there is to say. ``is_worse_apart``: it costs more than no compression on the sessions held out, or keeps a share
    of their names that is smaller by ``APART``.
    """

    trial: Trial
    is_sound: bool
    in_dollars: bool
    saved: float | None
    saved_held_out: float | None
    worst: TrialResult | None
    reason: str
    lines: Sequence[str]

    @property
    def is_worse_apart(self) -> bool:
        if self.held_out is None:
            return False
        own, apart = _kept(self.tuned), _kept(self.held_out)
        is_dearer = (self.saved_held_out or 0.0) < 0 <= (self.saved or 0.0)
        return is_dearer or (own is not None and apart is not None and own - apart > APART)

    @property
    def tuned(self) -> Figures:
        figures: Figures = self.trial.figures["tuned"]
        return figures

    @property
    def held_out(self) -> Figures | None:
        figures: Figures | None = self.trial.figures["held_out"]
        return figures


def _kept(figures: Figures) -> float | None:
    return figures["rlr_kept"] / figures["rlr_n"] if figures["rlr_n"] else None


def recommendation_of(findings: Findings) -> Recommendation | None:
    """None while no trial is done. At most four queries."""
    best = findings.best
    if best is None:
        return None
    yardstick, current = findings.of_kind(Trial.Kind.NONE), findings.of_kind(Trial.Kind.IN_FORCE)
    wanted = {point.number for point in (best, yardstick, current) if point is not None}
    rows = Trial.objects.select_related("sweep").filter(sweep=findings.sweep, number__in=wanted)
    trials = {trial.number: trial for trial in rows}
    trial = trials[best.number]
    without = trials[yardstick.number].figures if yardstick else {"tuned": None, "held_out": None}
    in_dollars = findings.in_dollars
    saved = saved_of(trial.figures["tuned"], without["tuned"], in_dollars=in_dollars)
    apart = trial.figures["held_out"]
    saved_apart = saved_of(apart, without["held_out"], in_dollars=in_dollars) if apart else None
    worst = worst_of(trial, findings.sweep.project_id)
    lines = [_how_chosen(findings)]
    if apart:
        lines.append(
            ngettext(
                "On %(n)s held-out session it %(told)s.", "On %(n)s held-out sessions it %(told)s.", apart["sessions"]
            )
            % {"n": apart["sessions"], "told": _told_apart(apart, without["held_out"], in_dollars)}
        )
    if current is not None and current.number != best.number:
        theirs = trials[current.number].figures["tuned"]
        said = told(theirs, saved_of(theirs, without["tuned"], in_dollars=in_dollars), in_dollars)
        lines.append(_("The policy in force %(told)s.") % {"told": said})
    if not in_dollars:
        unpriced = trial.figures["tuned"]["unpriced"] + (apart["unpriced"] if apart else 0)
        lines.append(
            ngettext(
                "Judged by tokens: %(n)s session has no price.",
                "Judged by tokens: %(n)s sessions have no price.",
                unpriced,
            )
            % {"n": unpriced}
        )
    reason = told(trial.figures["tuned"], saved, in_dollars)
    if worst is not None and trial.kind != Trial.Kind.NONE:
        reason += "; " + _("worst session: %(session)s") % {"session": told_worst(worst)}
    return Recommendation(trial, not best.broken, in_dollars, saved, saved_apart, worst, reason, lines)


def _told_apart(figures: Figures, without: Figures | None, in_dollars: bool) -> str:
    """The sessions held out: in tokens where one of them has no price, whatever was tuned for."""
    in_dollars = in_dollars and not figures["unpriced"]
    return told(figures, saved_of(figures, without, in_dollars=in_dollars), in_dollars)


def told(figures: Figures, saved: float | None, in_dollars: bool) -> str:
    """What a policy does to some sessions: "saves 31 % of dollars; loses 4 of 212 names used later, ..."."""
    parts = [_told_saving(figures, saved, in_dollars), _told_loss(figures)]
    if figures["break_even"] is not None:
        calls = calls_said(figures["break_even"])
        parts.append(
            ngettext(
                "pays back after %(calls)s calls (median of %(n)s session)",
                "pays back after %(calls)s calls (median of %(n)s sessions)",
                figures["break_even_sessions"],
            )
            % {"calls": calls, "n": figures["break_even_sessions"]}
        )
    parts += told_faults(figures)
    return "; ".join(parts)


def calls_said(calls: float) -> str:
    """A number of calls, with a decimal where there is one."""
    return f"{calls:,.1f}".removesuffix(".0")


def _told_saving(figures: Figures, saved: float | None, in_dollars: bool) -> str:
    if saved is None:
        return _("sends nothing")
    if in_dollars:
        share, amount = percent(abs(saved)), dollars(figures["cost_usd"])
        if saved < 0:
            return _("costs %(share)s more dollars (%(amount)s)") % {"share": share, "amount": amount}
        return _("saves %(share)s of dollars (%(amount)s left)") % {"share": share, "amount": amount}
    share, tokens = percent(abs(saved)), grouped(figures["sent_before"])
    if saved < 0:
        return _("sends %(share)s more than the %(tokens)s tokens sent") % {"share": share, "tokens": tokens}
    return _("saves %(share)s of the %(tokens)s tokens sent") % {"share": share, "tokens": tokens}


def _told_loss(figures: Figures) -> str:
    needed, kept, reached = figures["rlr_n"], figures["rlr_kept"], figures["rlr_reached"]
    lost = needed - kept
    if not needed:
        return _("nothing that it changed was used later")
    said = _("loses %(lost)s of %(needed)s names used later") % {"lost": grouped(lost), "needed": grouped(needed)}
    if not lost:
        return said
    if reached == needed:
        return said + _(", all reachable")
    return said + _(", %(n)s of them reachable") % {"n": grouped(reached - kept)}


def told_faults(figures: Figures) -> list[str]:
    """Promises that are broken, in words; empty when none is."""
    unfit, thrashing, failed = figures["unfit"], figures["thrashing"], figures["failed"]
    said = [
        (figures["violations"], _violations(figures["violations"])),
        (unfit, ngettext("%(n)s session overflows", "%(n)s sessions overflow", unfit)),
        (thrashing, ngettext("%(n)s session thrashes", "%(n)s sessions thrash", thrashing)),
        (failed, ngettext("%(n)s session could not be replayed", "%(n)s sessions could not be replayed", failed)),
    ]
    return [words % {"n": count} for count, words in said if count]


def _violations(count: int) -> str:
    return ngettext("%(n)s violation", "%(n)s violations", count)


def told_worst(result: TrialResult) -> str:
    """The session that fares worst and how, in words."""
    said = []
    if result.error:
        said.append(result.error)
    if result.violations:
        said.append(_violations(result.violations) % {"n": result.violations})
    if result.overflow_turn is not None:
        said.append(_("overflows at turn %(turn)s") % {"turn": result.overflow_turn})
    if result.thrash:
        said.append(_("thrashes"))
    if result.rlr_n:
        lost = result.rlr_n - result.rlr_kept
        said.append(_("loses %(lost)s of %(needed)s") % {"lost": lost, "needed": result.rlr_n})
    if result.sent_before:
        saved = 1 - result.sent_after / result.sent_before
        said.append(_("saves %(share)s of its tokens") % {"share": percent(saved)})
    return f"“{result.session}” ({', '.join(said)})" if said else f"“{result.session}”"


def _how_chosen(findings: Findings) -> str:
    best, size = findings.best, len(findings.front)
    assert best is not None
    if best.broken:
        return ngettext(
            "No policy keeps every promise; of those that break one in the fewest sessions (%(n)s) this is nearest to "
            "costing nothing and losing nothing.",
            "No policy keeps every promise; of those that break one in the fewest sessions (%(n)s) this is nearest to "
            "costing nothing and losing nothing.",
            best.broken,
        ) % {"n": best.broken}
    return ngettext(
        "Of the %(n)s policy that no other beats it is nearest to costing nothing and losing nothing.",
        "Of the %(n)s policies that no other beats it is nearest to costing nothing and losing nothing.",
        size,
    ) % {"n": size}
