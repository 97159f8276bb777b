"""The card "Cost" of a session page: ways to run the session, where its cache broke, what moved in its prefix.

Every figure with what it is a share of; a price that nobody knows is said, never guessed. Reads stored replays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from django.urls import reverse
from django.utils.translation import gettext as _

from compression.cost_comparison import Way, ways
from compression.cost_ledger import Break, StoredLedger
from compression.cost_words import lived, moved, why
from compression.engine.cache_profiles import PROFILES
from compression.engine.costs import Cost
from compression.engine.presets import PRESETS
from compression.forms import PageState
from compression.replay_document import ReplayDocument
from compression.replays import stored_replay
from sessions.models import Session

Face = Literal["ways", "picture", "breaks", "stability", "basis"]
FACES: tuple[Face, ...] = ("ways", "picture", "breaks", "stability", "basis")
PAGE = 8
GAPS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class WayRow:
    """One way with its dollars against no compression: without a cache, and with one. ``is_chosen``: the policy at
    hand as it would run."""

    way: Way
    is_chosen: bool
    against_plain: float | None
    against_cached: float | None


def way_rows(found: Sequence[Way], document: ReplayDocument) -> list[WayRow]:
    """The table; a difference of nothing to itself is none."""
    plain = next(way for way in found if way.key == "none" and not way.with_cache)
    cached = next(way for way in found if way.key == "none" and way.with_cache)
    return [
        WayRow(
            way,
            way.document is document and way.with_cache,
            None if way is plain else _difference(way, plain),
            None if way is cached else _difference(way, cached),
        )
        for way in found
    ]


def _difference(way: Way, other: Way) -> float | None:
    if way.cost_usd is None or not other.cost_usd:
        return None
    return float(way.cost_usd / other.cost_usd - 1)


@dataclass(frozen=True, slots=True)
class Observed:
    """What the provider recorded beside what the simulated cache says of the same calls, as the agent sent them.

    Dollars are those of the input; None where a call has no price.
    """

    calls: int
    hit_rate: float
    simulated: float
    error: float
    input_usd: Decimal | None
    simulated_usd: Decimal | None

    @property
    def usd_error(self) -> float | None:
        if not self.input_usd or self.simulated_usd is None:
            return None
        return float(self.simulated_usd / self.input_usd - 1)


def observed(recorded: ReplayDocument) -> Observed | None:
    """Of the replay of what the agent itself did; None where the log has no usage."""
    summary, ledger = recorded.summary, recorded.cost
    if summary["observed_hit_rate"] is None or summary["hit_rate_error"] is None:
        return None
    told = [t for t, read in enumerate(ledger.observed_read) if read is not None]
    simulated = None if ledger.costs is None else sum((ledger.costs[t] for t in told), Cost())
    given = summary["observed_input_usd"]
    return Observed(
        calls=summary["observed_calls"],
        hit_rate=summary["observed_hit_rate"],
        simulated=summary["observed_hit_rate"] + summary["hit_rate_error"],
        error=summary["hit_rate_error"],
        input_usd=None if given is None else Decimal(given),
        simulated_usd=None if simulated is None else simulated.total - simulated.output,
    )


@dataclass(frozen=True, slots=True)
class Gap:
    """An idle time beyond the usual lifetime: ``read`` = share of the request before that the next call read.

    ``silent`` says why it tells nothing about the lifetime; empty where it does.
    """

    turn: int
    url: str
    seconds: float
    read: float | None
    silent: str


def gaps(document: ReplayDocument, state: PageState) -> list[Gap]:
    """The idle times that a lifetime is inferred from, by turn; the shortest of many, which say most."""
    ledger = document.cost
    profile = PROFILES[ledger.terms["profile"]]
    long = [(idle, t) for t, idle in enumerate(ledger.idle) if idle is not None and idle > profile.lifetime_s]
    compacted = {boundary[0] for boundary in document.boundaries}

    def silent(turn: int, idle: float) -> str:
        if idle > profile.lifetimes[-1]:
            return _("longer than any lifetime")
        return _("the agent compacted here") if turn in compacted else ""

    return [
        Gap(t, state.url(turn=t), idle, _read_after(document, t), silent(t, idle))
        for idle, t in sorted(sorted(long)[:GAPS_SHOWN], key=lambda row: row[1])
    ]


def _read_after(document: ReplayDocument, turn: int) -> float | None:
    read, before = document.cost.observed_read[turn], document.recorded[turn - 1] if turn else None
    return None if read is None or not before else min(1.0, read / before)


@dataclass(frozen=True, slots=True)
class BreakRow:
    """``usd`` = what its tokens cost above reading them; ``message_url`` opens the first changed message."""

    one: Break
    url: str
    message_url: str
    why: str
    idle: float | None
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list; ``first`` counts from 0."""

    rows: Sequence[Any]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows)


def _page(rows: Sequence[Any], first: int) -> tuple[Sequence[Any], int]:
    first = min(first, max(0, len(rows) - 1))
    return rows[first : first + PAGE], first


def break_rows(document: ReplayDocument, state: PageState, first: int) -> Listed:
    """The calls that could not read their cached prefix, by turn."""
    ledger = document.cost
    shown, first = _page(ledger.breaks, first)
    rows = [
        BreakRow(
            one,
            state.url(turn=one.turn),
            "" if one.message is None else state.url(turn=one.turn, open=one.message),
            why(one.cause),
            ledger.idle[one.turn],
            ledger.resent_usd(one),
        )
        for one in shown
    ]
    return Listed(rows, first, len(ledger.breaks))


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One thing that moved, or may move where ``turn`` is None."""

    what: str
    turn: int | None
    url: str
    message: int | None
    message_url: str
    tokens: int
    usd: Decimal | None
    is_recorded: bool
    why: str
    remedy: str


def finding_rows(document: ReplayDocument, state: PageState, first: int) -> Listed:
    """What moved inside the prefix, by turn; what only may move comes last."""
    findings = document.cost.findings
    shown, first = _page(findings, first)
    return Listed([_finding(row, state) for row in shown], first, len(findings))


def _finding(row: Mapping[str, Any], state: PageState) -> FindingRow:
    turn, message = row["turn"], row["message"]
    here = state.turn if turn is None else turn
    return FindingRow(
        what=moved(row["kind"]),
        turn=turn,
        url="" if turn is None else state.url(turn=turn),
        message=message,
        message_url="" if message is None else state.url(turn=here, open=message),
        tokens=row["tokens"],
        usd=None if row["cost_usd"] is None else Decimal(row["cost_usd"]),
        is_recorded=row["evidence"] == "usage",
        why=row["why"],
        remedy=row["remedy"],
    )


def card(session: Session, state: PageState) -> dict[str, Any]:
    """The card before it was loaded."""
    return {"cost_url": cost_address(session, state)}


def cost_address(session: Session, state: PageState, name: str = "cost") -> str:
    path = reverse(f"compression:{name}", args=[session.project.slug, session.pk])
    return path + "?" + state.url().partition("?")[2]


def cost_context(
    session: Session, document: ReplayDocument, state: PageState, face: Face, first: int, *, is_alone: bool
) -> dict[str, Any]:
    """The card with one of its faces. ``is_alone``: on a page of its own, where the first face holds three."""
    here = cost_address(session, state)
    ledger, summary = document.cost, document.summary
    faces: list[tuple[Face, str]] = [
        ("ways", _("Ways")),
        ("picture", _("Picture")),
        ("breaks", _("Breaks · %(n)s") % {"n": len(ledger.breaks)}),
        ("stability", _("Stability · %(n)s") % {"n": summary["unforced_breaks"]}),
        ("basis", _("Recorded, prices")),
    ]
    context: dict[str, Any] = {
        "state": state,
        "document": document,
        "ledger": ledger,
        "summary": summary,
        "face": face,
        "faces": [
            (name, label, here if name == "ways" else f"{here}&by={name}")
            for name, label in faces
            if not is_alone or name not in ("picture", "basis")
        ],
        "is_alone": is_alone,
        "unpriced": [name or _("(not named)") for name in ledger.unpriced],
        "prices_url": prices_address(session),
        "figure_url": cost_address(session, state, "cost-figure"),
    }
    if face == "ways":
        context |= _ways_context(session, document, state)
    if face == "basis" or (face == "ways" and is_alone):
        context |= _basis_context(session, document, state)
    if face in ("breaks", "stability"):
        context |= _list_context(document, state, face, first, f"{here}&by={face}&first=")
    return context


def _ways_context(session: Session, document: ReplayDocument, state: PageState) -> dict[str, Any]:
    ledger = document.cost
    return {
        "rows": way_rows(ways(session, document, state), document),
        "output_tokens": sum(ledger.output),
        "output_usd": None if ledger.costs is None else sum((cost.output for cost in ledger.costs), Decimal(0)),
        "is_recorded": state.policy.strategy == "recorded",
    }


def _basis_context(session: Session, document: ReplayDocument, state: PageState) -> dict[str, Any]:
    ledger = document.cost
    has_usage = document.summary["observed_calls"]
    return {
        "observed": observed(stored_replay(session, PRESETS["recorded"])) if has_usage else None,
        "lifetime": lived(ledger.lifetime_s),
        "lifetime_basis": ledger.terms["lifetime"]["basis"],
        "written_for": lived(ledger.write_seconds) if ledger.write_seconds != ledger.lifetime_s else "",
        "gaps": gaps(document, state),
        "prices": prices_rows(ledger),
    }


def _list_context(document: ReplayDocument, state: PageState, face: Face, first: int, more: str) -> dict[str, Any]:
    ledger = document.cost
    listed = break_rows(document, state, first) if face == "breaks" else finding_rows(document, state, first)
    return {
        "listed": listed,
        "previous_url": f"{more}{max(0, listed.first - PAGE)}" if listed.first else "",
        "next_url": f"{more}{listed.last}" if listed.last < listed.total else "",
        "break_tokens": sum(one.tokens for one in ledger.breaks),
        "break_usd": _sum([ledger.resent_usd(one) for one in ledger.breaks]),
    }


def prices_rows(ledger: StoredLedger) -> list[dict[str, Any]]:
    """Model by model: dollars for a million tokens, from where, of which date. Those unknown are not among them."""
    return [
        {"model": name, "prices": prices, "write": prices.write(ledger.write_seconds)}
        for name, prices in ledger.prices.items()
        if prices is not None
    ]


def prices_address(session: Session) -> str:
    """Where a project sets prices of its own."""
    return reverse("compression:prices", args=[session.project.slug])


def _sum(amounts: Sequence[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(amounts) else None
