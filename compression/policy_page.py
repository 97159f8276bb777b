"""The contexts of the policy page and of a preview: form, consequences, chart, table, history.

Finds the session that a draft is tried on and asks for one trial. Saves nothing but stored replays of the
policy in force and of none, which are a cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Greatest

from compression.consequences import Consequences, consequences
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.references import REFERENCES
from compression.field_consequences import KEEPS
from compression.models import PolicyVersion
from compression.policies import STARTING_POINT, InForce, changes, standing_adoptions
from compression.policy_figures import comparison
from compression.policy_form import PIN_FIELDS, ROLES, PinRow, PolicyForm, Shown
from compression.policy_history import adoptions, history
from compression.policy_keys import preset_groups
from compression.policy_sample import LARGEST_TOKENS, try_sample
from compression.policy_table import rows
from compression.project_peaks import project_peaks
from compression.reference_facts import reference_facts
from compression.replays import stored_replay
from compression.sample_consequences import at_sample, sums
from compression.trial import Line
from compression.warm_sessions import warm_session
from sessions.models import Project, Session

SESSIONS_OFFERED = 60


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field with its consequence and where to look."""

    shown: Shown
    lines: tuple[Line, ...]
    is_changed: bool
    turn: int | None = None
    """The turn of the chosen session to look at."""

    sampled: str = ""
    """Its consequence on the sample; the page's script asks for it later."""

    @property
    def default(self) -> str:
        """The default as the form's help says it."""
        return self.shown.setting.said(self.shown.setting.default)


@dataclass(frozen=True, slots=True)
class PinView:
    row: PinRow
    line: Line | None

    @property
    def kept(self) -> bool:
        """Whether the rule holds something in the chosen session."""
        return self.line is not None and self.line.text.startswith(KEEPS)


_STANDARD_PINS = [row.raw for row in PolicyForm.of(PRESETS[STARTING_POINT]).pin_rows if not row.is_empty]


def choosable(project: Project) -> QuerySet[Session]:
    """Sessions with a model call, the one with the highest peak first."""
    peak = Greatest(Coalesce("peak_context_tokens", 0), "counted_tokens")
    return Session.objects.filter(project=project, turn_count__gt=0).order_by(peak.desc(), "pk")


def chosen_session(project: Project, key: str) -> Session | None:
    """The session of that key; the one with the highest peak when there is none of it in the project. One query."""
    sessions = choosable(project).defer("tools_json").select_related("project__prices")
    if key.isascii() and key.isdigit() and len(key) < 19 and (found := sessions.filter(pk=int(key)).first()):
        return found
    return sessions.first()


def tried(project: Project, session: Session, draft: Policy, in_force: InForce) -> Consequences:
    """The consequences of a draft on a stored session."""
    return consequences(
        warm_session(session),
        draft,
        in_force=in_force.policy,
        before=stored_replay(session, in_force.policy),
        none=stored_replay(session, PRESETS["none"]),
        peaks=project_peaks(project),
    )


def short_label(in_force: InForce) -> str:
    """The policy in force in a word or two, without names that people gave."""
    return f"v{in_force.version.number}" if in_force.version else f"preset {in_force.policy.name}"


def preview_context(
    project: Project,
    form: PolicyForm,
    in_force: InForce,
    found: Consequences | None,
    *,
    valid: Policy | None,
    sampled: Mapping[str, Line] | None = None,
) -> dict[str, Any]:
    """What a preview redraws. ``valid``: the draft that ``found`` is of, which may be older than the form; ``sampled``:
    the lines of the sample, where they were worked out already."""
    lines = found.fields if found else {}
    pins = found.pins if found and form.policy else {}
    pin_views = [PinView(row, pins.get(row.rank) if row.rank is not None else None) for row in form.pin_rows]
    changed = len(changes(in_force.policy, form.policy)) if form.policy else None
    return {
        "project": project,
        "form": form,
        "in_force": in_force,
        "in_force_label": short_label(in_force),
        "found": found,
        "is_stale": form.policy is None,
        "sections": [
            (key, heading, [_view(shown, found, form, in_force, sampled or {}) for shown in fields])
            for key, heading, fields in form.sections
        ],
        "pin_lines": lines.get("pins", ()),
        "pins_turn": found.turns.get("pins") if found else None,
        "pins_changed": form.policy is not None and form.policy.pins != in_force.policy.pins,
        "pins": pin_views,
        "idle_pins": [view for view in pin_views if _is_idle(view)],
        "shown_pins": [view for view in pin_views if not _is_idle(view)],
        "changes": changed,
        "reference": reference_facts(form.policy) if form.policy else None,
        "reference_names": tuple(REFERENCES) if form.raw("strategy") == "reference" else (),
        "reference_raw": form.raw("reference"),
        "parameters_raw": form.raw("parameters"),
        "saved": _saved_as(project, form.policy) if form.policy and changed else None,
        "rows": rows(found.trial) if found else [],
        "figure": orjson.dumps(comparison(found.trial, short_label(in_force))).decode() if found else "",
        "valid": orjson.dumps(valid.model_dump(mode="json")).decode() if valid else "",
    }


def _view(
    shown: Shown, found: Consequences | None, form: PolicyForm, in_force: InForce, sampled: Mapping[str, Line]
) -> FieldView:
    name = shown.setting.name
    return FieldView(
        shown,
        found.fields[name] if found else (),
        _differs(form, in_force, shown),
        found.turns.get(name) if found else None,
        sampled[name].text if name in sampled else "",
    )


def sample_context(project: Project, in_force: InForce, draft: Policy) -> dict[str, Any]:
    """What the draft means on the project's sample: a line at each field and the sums. Four queries and those of
    sessions that are not at hand."""
    sessions = list(choosable(project).filter(counted_tokens__lte=LARGEST_TOKENS).values_list("pk", flat=True))
    sample = try_sample(project, sessions, draft, in_force)
    return {
        "project": project,
        "in_force_label": short_label(in_force),
        "sample": sample,
        "sample_lines": at_sample(sample),
        "sums": sums(sample),
    }


def _saved_as(project: Project, draft: Policy) -> PolicyVersion | None:
    """The newest version that says what the draft says. One query."""
    return PolicyVersion.objects.filter(project=project, digest=draft.digest).only("number", "project_id").first()


def _is_idle(view: PinView) -> bool:
    """A rule that every project starts with and that holds nothing in the chosen session."""
    row = view.row
    is_standard = any(all(row.raw.get(name, "") == rule[name] for name in PIN_FIELDS) for rule in _STANDARD_PINS)
    return is_standard and view.line is not None and not view.kept and not row.faults and not row.is_removed


def _differs(form: PolicyForm, in_force: InForce, shown: Shown) -> bool:
    name, setting = shown.setting.name, shown.setting
    if form.policy is not None:
        return bool(getattr(form.policy, name) != getattr(in_force.policy, name))
    return shown.raw != setting.shown(getattr(in_force.policy, name))


def page_context(
    project: Project,
    session: Session | None,
    in_force: InForce,
    form: PolicyForm,
    *,
    origin: str,
    note: str,
    below: int | None,
) -> dict[str, Any]:
    """What only the whole page has: choices and history."""
    offered = list(choosable(project).only("pk", "title", "key", "turn_count", "project_id")[:SESSIONS_OFFERED])
    if session is not None and session not in offered:
        offered.append(session)
    standing = standing_adoptions(project)
    past = history(project, in_force.version, below)
    newest = past.rows[0].version.number if past.rows and below is None else _newest(project)
    return {
        "session": session,
        "sessions": offered,
        "presets": preset_groups(),
        "roles": ROLES,
        "history": past,
        "adoptions": adoptions(project),
        "standing": standing[0] if standing else None,
        "previous": standing[1].version if len(standing) > 1 else None,
        "newest": newest,
        "next_number": newest + 1,
        "origin": origin,
        "name_raw": form.raw("name"),
        "about_raw": form.raw("about"),
        "note": note,
    }


def _newest(project: Project) -> int:
    return project.policy_versions.values_list("number", flat=True).first() or 0
