"""Whole sessions through every engine: one event at each cut point of the retention benchmark.

Every engine gets the same window as messages and is judged by what it gives back: tokens saved of the counted window,
names that the agent used later and that still stand somewhere in it (one denominator for all), names that its
addresses bring back, the first message it changed, promises broken, time. Beside each peer stands ours at the share
that this peer saved, cut by cut, and head/tail truncation of the same results to the same tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from time import process_time
from typing import Any

from benchmarks.engines_messages import (
    TOOLS,
    ChatMessage,
    chat_messages,
    first_changed,
    texts_of,
    tokens_of,
    violations,
)
from benchmarks.engines_outputs import first_and_last_lines, fresh_stubber
from benchmarks.engines_rows import EngineRow, answers, peer_row
from benchmarks.peers.calls import Job
from benchmarks.retention import Cut, Replaced, Sizes, cut_off, novelty
from compression.engine.history import course_of
from compression.engine.retention import kept
from compression.engine.snapshots import digest, resolve
from compression.engine.stubs import Stubber

TOLERANCE = 0.01
"""How far ours may lie from a peer's share saved."""

STEPS = 10
MOST = 4.0
"""No share is scaled by more."""
SUMMARY = "The earlier conversation was summarised here."
"""What stands for a model's summary: it costs almost nothing and says nothing, which flatters the tokens saved."""

WINDOW, SMALL_WINDOW = 200_000, 64_000
CLEARED = "[cleared]"
KEPT_RESULTS = 3


@dataclass(slots=True)
class Outcome:
    """What an engine made of one window. ``recalled`` = texts to which its markers or addresses resolve.

    ``freed`` = tokens, where ``messages`` do not say: ours lack the first lines of stubs, whose figures are no names.
    """

    messages: list[ChatMessage]
    ms: float
    recalled: Sequence[str] = ()
    warm_ms: float | None = None
    freed: int | None = None


@dataclass(slots=True)
class Sums:
    """One engine over all cuts; shares are sums over sums."""

    tokens: int = 0
    freed: int = 0
    wanted: int = 0
    view: int = 0
    reach: int = 0
    shares: list[float] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    prefix: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)

    def add(self, cut: Cut, before: Sequence[ChatMessage], outcome: Outcome) -> None:
        after = outcome.messages
        freed = tokens_of(before) - tokens_of(after) if outcome.freed is None else outcome.freed
        texts = texts_of(after)
        self.tokens += cut.tokens
        self.freed += freed
        self.shares.append(freed / cut.tokens)
        self.wanted += len(cut.wanted)
        self.view += len(kept(cut.wanted, texts))
        self.reach += len(kept(cut.wanted, [*texts, *outcome.recalled]))
        at = first_changed(before, after)
        if at is not None:
            self.first.append(at)
            self.prefix.append(tokens_of(before[:at]) / max(1, tokens_of(before)))
        head = sum(i not in cut.course.excluded for i in cut.zones.request.indexes(0, cut.zones.head))
        self.broken += violations(before, after, head)
        self.ms.append(outcome.ms)
        if outcome.warm_ms is not None:
            self.warm.append(outcome.warm_ms)

    @property
    def saved(self) -> float:
        return self.freed / self.tokens if self.tokens else 0.0

    @property
    def in_view(self) -> float:
        return self.view / self.wanted if self.wanted else 0.0

    def row(self, name: str, note: str = "") -> EngineRow:
        """Names in view, with everything else beside it."""
        figures: dict[str, Any] = {
            "saved": round(self.saved, 4),
            "rlr_n": self.wanted,
            "rlr_view": round(self.in_view, 4),
            "rlr_reach": round(self.reach / self.wanted, 4) if self.wanted else None,
            "first_changed": median(self.first) if self.first else None,
            "prefix_kept": round(median(self.prefix), 4) if self.prefix else None,
            "changed": len(self.first),
            "cuts": len(self.ms),
            "ms": round(median(self.ms), 2) if self.ms else None,
            "ms_most": round(max(self.ms), 2) if self.ms else None,
            "warm_ms": round(median(self.warm), 2) if self.warm else None,
            "violations": dict(self.broken),
        }
        broken = ", ".join(f"{count} x {what}" for what, count in sorted(self.broken.items())) or "none"
        warm = f" cold, {figures['warm_ms']:.1f} warm" if self.warm else ""
        detail = (
            f"at {self.saved:.1%} saved, |R| {self.wanted}, reach {100 * (figures['rlr_reach'] or 0):.1f} %, "
            f"first change at message {figures['first_changed']} ({figures['changed']} of {figures['cuts']} windows), "
            f"{figures['ms'] or 0:.1f} ms{warm}, broken: {broken}{note}"
        )
        return EngineRow(name, 100 * self.in_view, "%", None, detail, figures)


def ours(cut: Cut, share: float, stubber: Stubber) -> tuple[Outcome, Sizes]:
    """One event of ours that frees ``share`` of the window; addresses are resolved among the window's originals."""
    started = process_time()
    replaced, sizes = novelty(cut, share, stubber)
    ms = 1e3 * (process_time() - started)
    originals = {digest(cut.text(i)): cut.text(i) for i in cut.tools}
    addresses = [stubber.addresses.of(digest(cut.text(i))) for i in replaced]
    recalled = [originals[resolve(address, originals)] for address in addresses]
    messages = chat_messages(cut.course, cut.zones.request, replaced)
    return Outcome(messages, ms, recalled, freed=freed_by(sizes)), sizes


def freed_by(sizes: Sizes) -> int:
    """Tokens that stubs freed, their first lines paid for."""
    return sum(before - after for before, after in sizes.values())


def cold(cut: Cut) -> Cut:
    """The same window of a session of which nothing has been worked out."""
    transcript = replace(cut.course.transcript)
    return replace(cut, course=course_of(transcript, cut.course.history))


def at_shares(cuts: Sequence[Cut], shares: Sequence[float], stubber: Stubber) -> tuple[Sums, Sums]:
    """Ours at a share for each cut, and truncation of the same results to the same tokens.

    Ours frees old results only and keeps nothing that says nothing new, so in some windows a share is out of its
    reach on either side. Then the others give or keep more until the sums agree within ``TOLERANCE``: all shares are
    scaled by one factor, found by halving; where no factor will do, the nearest counts.
    """
    wanted = sum(share * cut.tokens for share, cut in zip(shares, cuts, strict=True))
    total = sum(cut.tokens for cut in cuts)
    low, high, factor = 0.0, MOST, 1.0
    for step in range(STEPS):
        made = [ours(cut, min(0.99, factor * share), stubber) for cut, share in zip(cuts, shares, strict=True)]
        freed = sum(freed_by(sizes) for _, sizes in made)
        if abs(freed - wanted) <= TOLERANCE / 2 * total or factor == (high if freed < wanted else low):
            break
        low, high = (factor, high) if freed < wanted else (low, factor)
        bound = high if freed < wanted else low
        factor = bound if step == 0 else (low + high) / 2
    own, floor = Sums(), Sums()
    for cut, (outcome, sizes) in zip(cuts, made, strict=True):
        window = chat_messages(cut.course, cut.zones.request)
        own.add(cut, window, outcome)
        floor.add(cut, window, Outcome(chat_messages(cut.course, cut.zones.request, cut_off(cut, sizes)), 0.0))
    return own, floor


@dataclass(frozen=True, slots=True)
class PeerSetting:
    """One way of calling a peer on a session."""

    name: str
    peer: str
    job: Mapping[str, Any]


PEER_SETTINGS = (
    PeerSetting(
        "Hermes Agent compress(), stub summary", "hermes-agent",
        {"call": "compress", "window": WINDOW, "summary": SUMMARY, "rounds": 3},
    ),
    PeerSetting(
        "Hermes Agent compress(), own fallback", "hermes-agent",
        {"call": "compress", "window": WINDOW, "summary": None, "rounds": 3},
    ),
    PeerSetting(
        "Hermes Agent compress(), own fallback, 64K", "hermes-agent",
        {"call": "compress", "window": SMALL_WINDOW, "summary": None, "rounds": 3},
    ),
    PeerSetting("Hermes Agent prune", "hermes-agent", {"call": "prune", "window": WINDOW, "rounds": 3}),
    PeerSetting("headroom compress()", "headroom", {"call": "compress"}),
    PeerSetting("headroom compress(), agent mode", "headroom", {"call": "compress", "settings": {"mode": "agent"}}),
    PeerSetting("LangChain clear, keep 3", "langchain", {"call": "clear", "trigger": 1, "keep": KEPT_RESULTS}),
)  # fmt: skip


def asked(setting: PeerSetting, cuts: Sequence[Cut]) -> Sums | EngineRow:
    """A peer over all cuts; the row that says why there is nothing."""
    tools = TOOLS if setting.peer == "hermes-agent" else None
    windows = [chat_messages(cut.course, cut.zones.request, None, tools) for cut in cuts]
    jobs: list[Job] = [
        {**setting.job, "messages": window, "tokens": cut.tokens} for window, cut in zip(windows, cuts, strict=True)
    ]
    _, found = answers(setting.peer, jobs)
    fault = peer_row(setting.name, setting.peer, found)
    if fault is not None:
        return fault
    sums = Sums()
    for cut, window, answer in zip(cuts, windows, found, strict=True):
        outcome = Outcome(answer["messages"], answer["ms"], answer.get("recalled", ()), answer.get("warm_ms"))
        sums.add(cut, window, outcome)
    return sums


def rule(cuts: Sequence[Cut], stands_for: Callable[[Cut], Replaced]) -> Sums:
    """A plain rule: what stands for the results of a cut."""
    sums = Sums()
    for cut in cuts:
        started = process_time()
        replaced = stands_for(cut)
        ms = 1e3 * (process_time() - started)
        before = chat_messages(cut.course, cut.zones.request)
        sums.add(cut, before, Outcome(chat_messages(cut.course, cut.zones.request, replaced), ms))
    return sums


def clear_all_but(cut: Cut) -> Replaced:
    """Every result but the newest three is gone."""
    return dict.fromkeys(cut.tools[:-KEPT_RESULTS], CLEARED)


def first_and_last(cut: Cut) -> Replaced:
    """20 lines of the beginning and 10 of the end of every result."""
    return {i: first_and_last_lines(cut.text(i)) for i in cut.tools}


def beside(name: str, peer: Sums, cuts: Sequence[Cut], stubber: Stubber) -> Iterable[EngineRow]:
    """A peer's row, ours and truncation at its share, and by how much the peer is ahead of ours."""
    yield peer.row(f"sessions: {name}")
    if not peer.freed:
        return
    own, floor = at_shares(cuts, peer.shares, stubber)
    apart = own.saved - peer.saved
    yield own.row("  ours at that share")
    yield floor.row("  truncation at that share")
    detail = f"{own.in_view:.1%} at {own.saved:.1%} against {peer.in_view:.1%} at {peer.saved:.1%}"
    behind = 100 * (peer.in_view - own.in_view)
    if apart < -TOLERANCE:
        detail += "; no fair comparison: ours frees old results only, and they hold no more"
    elif apart > TOLERANCE:
        detail += "; ours saves more than that in any case: it never keeps what says nothing new"
    limit = None if apart < -TOLERANCE else 0.0
    yield EngineRow("  ahead of ours", behind, "pt", limit, detail, {"engine": name, "apart": round(apart, 4)})


def rows(cuts: Sequence[Cut]) -> Iterable[EngineRow]:
    """Every peer and plain rule, ours beside each."""
    stubber = fresh_stubber()
    first = Sums()
    for cut in cuts:
        fresh = cold(cut)
        outcome, _ = ours(fresh, 0.5, fresh_stubber())
        ours(fresh, 0.45, stubber)
        again, _ = ours(fresh, 0.5, stubber)
        outcome.warm_ms = again.ms
        first.add(cut, chat_messages(cut.course, cut.zones.request), outcome)
    yield first.row("sessions: ours, 50 % wanted")
    for setting in PEER_SETTINGS:
        found = asked(setting, cuts)
        if isinstance(found, EngineRow):
            yield replace(found, name=f"sessions: {setting.name}")
        else:
            yield from beside(setting.name, found, cuts, stubber)
    for name, made in (("head 20 / tail 10", first_and_last), (f"clear all but {KEPT_RESULTS}", clear_all_but)):
        yield from beside(name, rule(cuts, made), cuts, stubber)
