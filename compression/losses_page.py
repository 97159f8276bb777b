"""What a policy lost of what was needed later, for the session page: figures with their denominators, and the names.

Reads what was stored with the replay. The agent's own compactions are the replay "recorded", counted the same way;
truncation is no yardstick for them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from compression.engine.identifiers import CLASSES
from compression.engine.repeat_reads import SPAN
from compression.engine.retention import HORIZONS
from compression.forms import PageState
from compression.lost_names import LostName
from compression.replay_document import ReplayDocument
from sessions.models import Session
from sessions.templatetags.figures import ABSENT, grouped, percent, short

NAMES_PAGE = 5
HORIZON_NAMES = {
    "all": gettext_lazy("to the end"),
    "50": gettext_lazy("next 50 responses"),
    "10": gettext_lazy("next 10 responses"),
}
SORTS: Mapping[str, Any] = {
    "from": lambda name: (name.message, name.left_at),
    "left": lambda name: (name.left_at, name.used_at),
    "used": lambda name: (name.used_at, name.left_at),
}
DEFAULT_SORT = "left"

Whose = Literal["policy", "own"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the losses: what it says, what it is a share of, and how it is to be read."""

    figure: str
    word: str
    of: str
    about: str
    mood: str = ""


@dataclass(frozen=True, slots=True)
class Retained:
    """A row of the table of figures: names needed, and which share of them was kept how."""

    label: str
    n: int
    view: float | None
    reach: float | None
    truncated: float | None
    lift: float | None

    @property
    def lift_points(self) -> str:
        return ABSENT if self.lift is None else points(self.lift)


@dataclass(frozen=True, slots=True)
class LostLine:
    """A name that left, with the addresses that lead to where it was, left and was used."""

    lost: LostName
    tool: str
    arrived_at: int
    from_url: str
    left_url: str
    used_url: str
    lifeline_url: str
    recall_url: str


@dataclass(frozen=True, slots=True)
class NamesPage:
    """A page of the names; ``first`` counts from 0, ``total`` are those that can be listed, ``all`` all there are."""

    lines: Sequence[LostLine]
    first: int
    total: int
    all: int

    @property
    def last(self) -> int:
        return self.first + len(self.lines)


def figures(document: ReplayDocument, *, is_own: bool) -> list[Figure]:
    """The figures over the names; none of them is a share where nothing was needed."""
    summary = document.summary
    needed = summary["rlr_n"]
    if not needed:
        return []
    in_view, reached = round(summary["rlr_view"] * needed), round(summary["rlr_reach"] * needed)
    named = ngettext("%(n)s name used later", "%(n)s names used later", needed) % {"n": grouped(needed)}
    rows = [
        Figure(
            percent(summary["rlr_view"]),
            _("used later, still in view"),
            _("%(part)s of %(names)s") % {"part": grouped(in_view), "names": named},
            _("Names that first stood in a result which left or was stubbed, that the agent used afterwards, and that "
              "the stub still says."),
            _mood(summary["rlr_view"]),
        ),
        Figure(
            percent(summary["rlr_reach"]),
            _("in view or reachable by recall"),
            _("%(part)s of %(whole)s") % {"part": grouped(reached), "whole": grouped(needed)},
            _("Also counts names in the originals that an address of the event leads to."),
            _mood(summary["rlr_reach"]),
        ),
    ]  # fmt: skip
    if not is_own and summary["rlr_lift"] is not None:
        rows.append(
            Figure(
                points(summary["rlr_lift"]),
                _("lift over truncation"),
                _("cut to the same tokens: %(share)s") % {"share": percent(summary["rlr_truncated"])},
                _("What remains in view beyond keeping the beginning and end of each result at equal tokens."),
                "good" if summary["rlr_lift"] > 0 else "warn",
            )
        )
    rows += [
        Figure(
            percent(summary["forced_rereads"]),
            _("turns that need a lost name"),
            _("%(part)s of %(whole)s turns after an event")
            % {"part": grouped(summary["forced_turns"]), "whole": grouped(summary["turns_after"])},
            _(
                "Turns whose response uses a name that the view had lost: the agent would have had to read it again. A "
                "turn counts once for each event before it."
            ),
        ),
        Figure(
            short(summary["recall_tax"]),
            _("tokens of recall tax"),
            ngettext("for %(n)s lost name", "for %(n)s lost names", needed - in_view)
            % {"n": grouped(needed - in_view)},
            _("The whole lines of the originals that would bring every lost name back."),
        ),
    ]
    return [*rows, *_repeats(summary)]


def _mood(share: float) -> str:
    return "good" if share >= 0.95 else "" if share >= 0.75 else "warn"


def _repeats(summary: Mapping[str, Any]) -> list[Figure]:
    if not summary["repeat_reads_events"]:
        return []
    after = _("%(part)s of %(whole)s calls") % {
        "part": grouped(summary["repeats_after"]), "whole": grouped(summary["calls_after"])
    }  # fmt: skip
    before = _("before: %(part)s of %(whole)s") % {
        "part": grouped(summary["repeats_before"]), "whole": grouped(summary["calls_before"])
    }  # fmt: skip
    share = summary["repeat_reads"]
    return [
        Figure(
            ABSENT if share is None else points(share),
            _("repeat reads"),
            f"{after}, {before}",
            _("Calls with the same tool, arguments and result as an earlier one, within %(n)s turns after a "
              "compaction, minus the share before it.") % {"n": SPAN},
        )
    ]  # fmt: skip


def points(share: float) -> str:
    """A difference of shares, signed, in percentage points."""
    value = round(share * 100, 1)
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return _("%(sign)s%(value)s points") % {"sign": sign, "value": f"{abs(value):g}"}


def archives_said(summary: Mapping[str, Any]) -> str:
    """What all archives of a policy freed and lost, in one sentence; empty where it made none."""
    if not summary["archives"]:
        return ""
    said = ngettext(
        "%(total)s new window freed %(freed)s tokens. Of %(n)s names needed later %(view)s are in view, %(reach)s in "
        "reach; of %(claims)s claims about the state %(true)s are true.",
        "%(total)s new windows freed %(freed)s tokens. Of %(n)s names needed later %(view)s are in view, %(reach)s in "
        "reach; of %(claims)s claims about the state %(true)s are true.",
        summary["archives"],
    )
    return said % {
        "total": grouped(summary["archives"]),
        "freed": short(summary["archive_freed"]),
        "n": grouped(summary["archive_n"]),
        "view": percent(summary["archive_view"]),
        "reach": percent(summary["archive_reach"]),
        "claims": grouped(summary["archive_claims"]),
        "true": percent(summary["archive_fidelity"]),
    }


def retained(summary: Mapping[str, Any]) -> tuple[list[Retained], list[Retained]]:
    """The same shares within each horizon, and for each class of names that occurs."""
    tails = {label: "" if horizon is None else f"_{label}" for label, horizon in HORIZONS.items()}
    names = ("view", "reach", "truncated", "lift")
    horizons = [
        Retained(str(said), summary[f"rlr_n{tails[label]}"], *(summary[f"rlr_{name}{tails[label]}"] for name in names))
        for label, said in HORIZON_NAMES.items()
    ]
    classes = summary["rlr_classes"]
    return horizons, [
        Retained(kind, classes[kind]["n"], *(classes[kind][name] for name in names))
        for kind in CLASSES
        if kind in classes
    ]


def why_no_names(document: ReplayDocument, *, is_own: bool) -> str:
    """Why there is no name to list; empty when there are some."""
    if document.lost_total:
        return ""
    changed = any(event.edits or event.left for event in document.events)
    if not changed and is_own:
        return _("The agent compacted nothing in this session, as far as its log says: nothing left.")
    if not changed:
        return _("The policy changed nothing in this session: nothing left the view.")
    needed = document.summary["rlr_n"]
    if not needed:
        return _("No evidence: nothing that left was used by name afterwards. That is not 100 %.")
    return ngettext(
        "The one name that was used later is still in view.",
        "All %(n)s names that were used later are still in view.",
        needed,
    ) % {"n": grouped(needed)}


def names_page(session: Session, document: ReplayDocument, state: PageState, sort: str, first: int) -> NamesPage:
    """A page of the names that left, in the order asked for; an unknown order is the default."""
    key = SORTS[sort.removeprefix("-")]
    found = sorted(document.lost, key=key, reverse=sort.startswith("-"))
    first = min(first, max(0, len(found) - 1)) // NAMES_PAGE * NAMES_PAGE
    lines = [_line(session, document, state, lost) for lost in found[first : first + NAMES_PAGE]]
    return NamesPage(lines, first, len(found), document.lost_total)


def _line(session: Session, document: ReplayDocument, state: PageState, lost: LostName) -> LostLine:
    arrived = min(bisect_right(document.table.request_end, lost.message), document.turns - 1)
    return LostLine(
        lost=lost,
        tool=document.tool_names.get(lost.message, ""),
        arrived_at=arrived,
        from_url=state.url(turn=arrived, open=lost.message),
        left_url=state.url(turn=lost.left_at),
        used_url=state.url(turn=lost.used_at),
        lifeline_url="" if lost.is_cut else address(session, "lifeline", replace(state, name=lost.name)),
        recall_url=_original_url(session, state, lost) if lost.is_reachable else "",
    )


def _original_url(session: Session, state: PageState, lost: LostName) -> str:
    """What a stub's address leads to; where the result left with many, the result alone as it was logged."""
    if lost.address:
        return recall_url(session, state, lost.address)
    return reverse("compression:message-text", args=[session.project.slug, session.pk, lost.message, 0])


def recall_url(session: Session, state: PageState, stub: str) -> str:
    """Where the page shows what an address of the replay leads to."""
    path = reverse("compression:recall", args=[session.project.slug, session.pk, stub])
    return f"{path}?{urlencode({'policy': state.policy_name})}"


def address(session: Session, route: str, state: PageState, **more: Any) -> str:
    """The address of one of this card's faces in the page's state."""
    path = reverse(f"compression:{route}", args=[session.project.slug, session.pk])
    return f"{path}?{state.url().partition('?')[2]}{'&' + urlencode(more) if more else ''}"


def under(state: PageState) -> str:
    """Whose doing it is, when it is the policy's."""
    return _("under %(policy)s") % {"policy": state.policy_label}


def card(session: Session, state: PageState, *, face: str, whose: Whose = "policy") -> dict[str, Any]:
    """The head of the card: which faces it has, and whose events can be looked at."""
    mine = {"of": whose} if whose == "own" else {}
    by_figures = {"by": "figures"} if face == "figures" else {}
    owners = [
        ("policy", under(state), address(session, "losses", state, **by_figures)),
        ("own", _("the agent’s own"), address(session, "losses", state, of="own", **by_figures)),
    ]
    return {
        "state": state,
        "face": face,
        "whose": whose,
        "faces": [
            ("names", _("Names"), address(session, "losses", replace(state, name=""), **mine)),
            ("figures", _("Figures"), address(session, "losses", replace(state, name=""), by="figures", **mine)),
            ("lifeline", _("Lifeline"), address(session, "lifeline", state)),
        ],
        "owners": owners if session.boundaries and state.policy.strategy != "recorded" else [],
    }


def waiting_card(session: Session, state: PageState) -> dict[str, Any]:
    """The card before it was loaded: which of its faces will be."""
    return {"is_waiting": True, "retention_url": address(session, "lifeline" if state.name else "losses", state)}


def losses_context(
    session: Session, document: ReplayDocument, state: PageState, *, whose: Whose, face: str, sort: str, first: int
) -> dict[str, Any]:
    """The card with its face "names" or "figures". ``document`` is the replay whose losses are shown."""
    is_own = whose == "own" or state.policy.strategy == "recorded"
    context: dict[str, Any] = {
        **card(session, state, face=face, whose=whose),
        "is_own": is_own,
        "losses": figures(document, is_own=is_own),
        "why_no_names": why_no_names(document, is_own=is_own),
    }
    if face == "figures":
        return context | {
            "groups": retained(document.summary),
            "archives": document.summary["archive_list"],
            "archives_said": archives_said(document.summary),
        }
    sort = sort if sort.removeprefix("-") in SORTS else DEFAULT_SORT
    shown = replace(state, policy_name="recorded", chosen=None) if whose == "own" else state
    page = names_page(session, document, shown, sort, first)

    def here(**more: Any) -> str:
        return address(session, "losses", state, of=whose, **more)

    return context | {
        "names": page,
        "sorts": {
            name: (here(sort=f"-{name}" if sort == name else name), sort.removeprefix("-") == name, sort[0] == "-")
            for name in SORTS
        },
        "earlier_url": here(sort=sort, first=page.first - NAMES_PAGE) if page.first else "",
        "later_url": here(sort=sort, first=page.last) if page.last < page.total else "",
    }
