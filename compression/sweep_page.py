"""The contexts of the pages of sweeps: the list with its form, one sweep, one trial.

Reads stored results; the number of queries depends on nothing that is stored. Starts and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Max, Q
from django.utils.translation import gettext_lazy as _

from compression.engine.policy import InvalidPolicy
from compression.models import PolicyVersion, Run, Sweep, SweepSession, Trial
from compression.policies import changes, in_force
from compression.policy_history import change_rows
from compression.policy_keys import key_in_force, offered
from compression.sweep_execution import is_comparable, policy_of_trial
from compression.sweep_figures import MEASURES, HeatMap, heat_map
from compression.sweep_forms import ROWS, SweepForm, offered_fields, usual_lines
from compression.sweep_recommendation import recommendation_of, told_worst
from compression.sweep_results import Findings, findings_of, session_counts, worst_first
from compression.sweep_table import FILTERS, PAGE_SIZE, page_of, rows_of
from compression.sweeps import progress
from sessions.models import Project, Session

SWEEPS_SHOWN = 20
WORST_SHOWN = 8
USUAL_TRIALS = 40

# Sort name, heading, first sorted downwards, holds figures, what it is a share or a sum of.
COLUMNS = [
    ("number", _("Trial"), False, False, ""),
    ("", _("Policy"), False, False, _("what it says differently from the policy that the sweep started from")),
    ("cost", _("Saved"), False, True, _("against no compression: of dollars where all have prices, else of tokens")),
    ("kept", _("Still in view"), True, True, _("of the names that were used after they had left or been stubbed")),
    ("lost", _("Lost"), False, True, _("names used later that had left the view")),
    ("events", _("Events"), True, True, _("compressions that changed something")),
    ("", _("Pays back"), False, True, _("calls until an event has paid: median of the sessions that have one")),
    ("broken", _("Broken"), True, True, _("sessions that violate, overflow, thrash or fail")),
    ("", _("Held out"), False, True, _("saved, and names lost, on the sessions that nothing was tuned on")),
]  # fmt: skip


def list_context(project: Project, form: SweepForm, faults: Sequence[str]) -> dict[str, Any]:
    """The newest sweeps and the form that starts one. A constant number of queries."""
    newest = list(Sweep.objects.filter(project=project).select_related("project", "started_by")[:SWEEPS_SHOWN])
    counted = Trial.objects.filter(sweep__in=newest).values("sweep").annotate(
        done=Count("pk", filter=Q(state=Trial.State.DONE, kind=Trial.Kind.CANDIDATE))
    )  # fmt: skip
    done = {row["sweep"]: row["done"] for row in counted.order_by()}
    lines = list(form.lines) if form.is_bound else usual_lines(in_force(project).policy)
    lines += [("", "")] * (ROWS - len(lines))
    return {
        "project": project,
        "sweeps": [(sweep, done.get(sweep.pk, 0)) for sweep in newest],
        "sweeps_shown": SWEEPS_SHOWN,
        "faults": faults,
        "policies": offered(project),
        "policy_key": form.data.get("policy") or key_in_force(project),
        "given": form.data,
        "kind": form.data.get("kind") or "search",
        "trials": form.data.get("trials", USUAL_TRIALS),
        "held_out": form.data.get("held_out", 25),
        "lines": list(enumerate(lines)),
        "fields": offered_fields(),
        "session_count": Session.objects.filter(project=project).count(),
    }


def progress_context(sweep: Sweep) -> dict[str, Any]:
    found = progress(sweep)
    return {
        "project": sweep.project,
        "sweep": sweep,
        "progress": found,
        "may_resume": sweep.state == Run.State.CANCELLED and is_comparable(sweep),
        "is_comparable": is_comparable(sweep),
    }


def sweep_context(sweep: Sweep, state: dict[str, str]) -> dict[str, Any]:
    """Recommendation, map and table."""
    findings = findings_of(sweep)
    page = page_of(findings, only=state["only"], sort=state["sort"], after=state["after"])
    return {
        "project": sweep.project,
        "sweep": sweep,
        "findings": findings,
        "recommendation": recommendation_of(findings),
        "sessions": session_counts(sweep),
        "state": state | {"sort": page.sort},
        "page": page,
        "page_size": PAGE_SIZE,
        "columns": COLUMNS,
        "filters": list(FILTERS.items()),
        "newest_version": newest_version(sweep.project),
        **heat_context(sweep, findings, state),
    }


def newest_version(project: Project) -> int:
    return PolicyVersion.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0


def heat_context(sweep: Sweep, findings: Findings, state: dict[str, str]) -> dict[str, Any]:
    """Which two fields the map shows, and the map."""
    varied = [name for name, axis in sweep.space.items() if not isinstance(axis, list) or len(axis) > 1]
    x = state["x"] if state["x"] in varied else varied[0] if varied else ""
    rest = [name for name in varied if name != x]
    y = state["y"] if state["y"] in rest else rest[0] if rest else ""
    show = state["show"] if state["show"] in MEASURES else "saved"
    found = measured_map(sweep, findings, x, y, show) if x and y else None
    return {"varied": varied, "x": x, "y": y, "show": show, "measures": list(MEASURES.items()), "heat": found}


def measured_map(sweep: Sweep, findings: Findings, x: str, y: str, show: str) -> HeatMap:
    """One query of light rows."""
    rows = Trial.objects.filter(sweep=sweep, state=Trial.State.DONE, kind=Trial.Kind.CANDIDATE)
    none = findings.of_kind(Trial.Kind.NONE)
    measured = []
    for number, values in rows.values_list("number", "values"):
        point = findings.by_number.get(number)
        if point is None:
            continue
        if show == "saved":
            measure = 1 - point.cost / none.cost if none and none.cost else None
        else:
            measure = point.kept if show == "kept" else float(point.lost)
        measured.append((values, measure))
    return heat_map(measured, x, y)


def trial_context(sweep: Sweep, trial: Trial) -> dict[str, Any]:
    """One trial: what it says, its figures on both parts of the sessions, the sessions that fare worst."""
    findings = findings_of(sweep)
    (row,) = rows_of(findings, [trial])
    try:
        policy = policy_of_trial(trial)
        start = in_force(sweep.project)
        changed = change_rows(changes(start.policy, policy))
    except InvalidPolicy:
        policy, start, changed = None, None, []
    apart = set(SweepSession.objects.filter(sweep=sweep, is_held_out=True).values_list("session", flat=True))
    worst = list(
        worst_first(trial).filter(session__project=sweep.project_id).defer("session__tools_json")[:WORST_SHOWN]
    )
    return {
        "project": sweep.project,
        "sweep": sweep,
        "trial": trial,
        "row": row,
        "policy": policy,
        "in_force": start,
        "changed": changed,
        "worst": [(result, told_worst(result), result.session_id in apart) for result in worst],
        "in_dollars": findings.in_dollars,
        "newest_version": newest_version(sweep.project),
    }
