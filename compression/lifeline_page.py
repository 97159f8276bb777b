"""The lifeline of one name, for the session page: two lanes over the turns, and the same moments as a table.

One lane is the policy at hand, the other what the agent's own compactions did. The picture is drawn from the moments
alone; its size does not depend on the session's. What happened to a name is the engine's to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compression.engine.lifeline import Moment, lifeline
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.forms import PageState
from compression.losses_page import address, card, recall_url, under
from compression.replay_document import ReplayDocument
from compression.warm_sessions import WarmSession, warm_session
from sessions.models import Session

MOMENTS_PAGE = 5
SUGGESTED = 8
WIDTH = 1_000
"""Units across a lane: no picture has more places than this, whatever the session's length."""

KEPT_REPLAYS = 3
STATES = {
    "seen": gettext_lazy("seen"),
    "recalled": gettext_lazy("recalled"),
    "used": gettext_lazy("used"),
    "stubbed": gettext_lazy("stubbed"),
    "gone": gettext_lazy("gone"),
}
BAND = (9, 23)
PLACES = {"seen": (0, 9), "recalled": (0, 9), "used": (23, 32), "stubbed": BAND, "gone": BAND}
"""From where to where in a lane of 32 the marks of a state go: what came in above the band, what was used below it."""

ABOUT = {
    "seen": gettext_lazy("a message that says it came into the window"),
    "recalled": gettext_lazy("a recall brought it back"),
    "used": gettext_lazy("a response of the model says it"),
    "stubbed": gettext_lazy("a result that says it was stubbed; the window still says it"),
    "gone": gettext_lazy("the window no longer says it"),
}


@dataclass(frozen=True, slots=True)
class Lane:
    """What is drawn of one replay, as path data: a band for each look (in, stubbed, gone), marks for each state."""

    label: str
    moments: Sequence[Moment]
    bands: Mapping[str, str]
    ticks: Mapping[str, str]

    @property
    def said(self) -> str:
        """The lane in one sentence."""
        counted = [(name, sum(moment.state == name for moment in self.moments)) for name in STATES]
        return ", ".join(f"{STATES[name]} ×{count}" for name, count in counted if count) or _("never in the window")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; ``where`` = under which of the two it happened so."""

    moment: Moment
    where: str
    url: str
    recall_url: str

    @property
    def said(self) -> str:
        return str(STATES[self.moment.state])

    @property
    def about(self) -> str:
        return str(ABOUT[self.moment.state])


@dataclass(frozen=True, slots=True)
class Rows:
    """A page of the table; ``first`` counts from 0."""

    rows: Sequence[Row]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows)


def lifeline_context(session: Session, document: ReplayDocument, state: PageState, first: int) -> dict[str, Any]:
    """The face of the card: the form, and what became of the name that the state holds."""
    lanes = _lanes(session, state, document.turns) if state.name.strip() else []
    rows = _rows(session, lanes, state, first)
    earlier = max(0, rows.first - MOMENTS_PAGE) if rows.first else None
    later = rows.last if rows.last < rows.total else None
    return {
        **card(session, state, face="lifeline"),
        "document": document,
        "lanes": lanes,
        "rows": rows,
        "states": [(name, str(said), str(ABOUT[name])) for name, said in STATES.items()],
        "here": int((state.turn + 0.5) / max(document.turns, 1) * WIDTH),
        "is_known": any(lane.moments for lane in lanes),
        "suggested": [] if lanes else _suggested(session, document, state),
        "lifeline_path": reverse("compression:lifeline", args=[session.project.slug, session.pk]),
        "earlier_url": "" if earlier is None else address(session, "lifeline", state, first=earlier),
        "later_url": "" if later is None else address(session, "lifeline", state, first=later),
    }


def _suggested(session: Session, document: ReplayDocument, state: PageState) -> list[tuple[str, str]]:
    """Names that left the view, with the addresses of their lifelines."""
    names = dict.fromkeys(lost.name for lost in document.lost if not lost.is_cut)
    path = reverse("compression:lifeline", args=[session.project.slug, session.pk])
    query = state.url().partition("?")[2]
    return [(name, f"{path}?{query}&{urlencode({'name': name})}") for name in list(names)[:SUGGESTED]]


def _lanes(session: Session, state: PageState, turns: int) -> list[Lane]:
    warm = warm_session(session)
    name = state.name.strip()
    lanes = []
    with warm.lock:
        if state.policy.strategy != "recorded":
            moments = lifeline(_replay(warm, state.policy), name)
            lanes.append(_lane(under(state), moments, turns))
        if state.policy.strategy == "recorded" or warm.subject.transcript.boundaries:
            moments = lifeline(_replay(warm, PRESETS["recorded"]), name)
            lanes.append(_lane(_("the agent’s own"), moments, turns))
    return lanes


def _replay(warm: WarmSession, policy: Policy) -> Replay:
    """Worked out once for a session at hand and a policy; the last few stay with the transcript."""
    kept: dict[str, Replay] = warm.subject.transcript.memo.setdefault("lifeline replays", {})
    found = kept.pop(policy.digest, None)
    if found is None:
        found = replay(warm.subject.transcript, policy, warm.subject.calibration, stubber=warm.stubber)
    kept[policy.digest] = found
    while len(kept) > KEPT_REPLAYS:
        del kept[next(iter(kept))]
    return found


def _lane(label: str, moments: Sequence[Moment], turns: int) -> Lane:
    scale = WIDTH / max(turns, 1)
    bands: dict[str, list[tuple[int, int]]] = {"in": [], "stubbed": [], "gone": []}
    for at, moment in enumerate(moments):
        look = moment.state if moment.state in ("stubbed", "gone") else "in"
        end = moments[at + 1].turn if at + 1 < len(moments) else turns
        left, right = round(moment.turn * scale), round(end * scale)
        if right > left:
            _extend(bands[look], left, right)
    ticks = {
        state: sorted({int((moment.turn + 0.5) * scale) for moment in moments if moment.state == state})
        for state in STATES
    }
    top, bottom = BAND
    return Lane(
        label=label,
        moments=moments,
        bands={k: "".join(f"M{a} {top}H{b}V{bottom}H{a}z" for a, b in spans) for k, spans in bands.items() if spans},
        ticks={k: "".join("M{} {}V{}".format(x, *PLACES[k]) for x in places) for k, places in ticks.items() if places},
    )


def _extend(spans: list[tuple[int, int]], left: int, right: int) -> None:
    if spans and spans[-1][1] == left:
        spans[-1] = (spans[-1][0], right)
    else:
        spans.append((left, right))


def _rows(session: Session, lanes: Sequence[Lane], state: PageState, first: int) -> Rows:
    """What happened alike in both lanes stands once."""
    merged: dict[tuple[int, str, int | None], list[tuple[Moment, str]]] = {}
    for lane in lanes:
        for moment in lane.moments:
            merged.setdefault((moment.turn, moment.state, moment.message), []).append((moment, lane.label))
    order = sorted(merged, key=lambda key: key[0])
    first = min(first, max(0, len(order) - 1)) // MOMENTS_PAGE * MOMENTS_PAGE
    shown = (merged[key] for key in order[first : first + MOMENTS_PAGE])
    return Rows([_row(session, state, both) for both in shown], first, len(order))


def _row(session: Session, state: PageState, both: Sequence[tuple[Moment, str]]) -> Row:
    moment = next((one for one, _lane in both if one.address), both[0][0])
    is_in_window = moment.message is not None and moment.state in ("seen", "recalled")
    return Row(
        moment=moment,
        where=", ".join(label for _moment, label in both),
        url=state.url(turn=moment.turn, **({"open": moment.message} if is_in_window else {})),
        recall_url=recall_url(session, state, moment.address) if moment.address else "",
    )
