"""How many names that the agent used later are still in view, at equal shares saved: novelty, per result, truncation.

Cut points are a quarter, a half and three quarters of the calls of each session, where the window holds at least
20,000 tokens; the newest 5,000 stay. One event per cut; saved is over counted messages, hidden excluded; all later
messages count; one denominator for all policies (metrics: the common denominator). The weights were chosen on the
windows at the quarters; "held out" rows measure what nobody looked at: other cuts of the same sessions, and sessions
of other agents. They never serve to choose anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.corpus import SAMPLES, claude_code_files
from benchmarks.measuring import Row, medians
from compression.engine.allocation import allocate
from compression.engine.calibration import Calibration
from compression.engine.distances import recent_budgets
from compression.engine.history import Course, course_of
from compression.engine.occurrences import Occurrences
from compression.engine.pins import Pins
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.retention import Common, common, kept, losses, retention_fields, truncated
from compression.engine.stubs import Stubber
from compression.engine.tokens import default_counter
from compression.engine.zones import Cutter, Zones
from compression.transcripts import Subject, from_parsed
from sessions.importers import read_sessions

RECENT = 5_000
SMALLEST_WINDOW = 20_000
SMALLEST_RESULT = 100
SHARES = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6)
QUARTERS = (2, 4, 6)
OTHER_EIGHTHS = (1, 3, 5, 7)
OTHER_AGENTS = ("codex", "openai-chat")
SMALLER_WINDOW, LESS_RECENT = 4_000, 1_000
"""For other agents, whose recorded sessions are short."""

TARGETS: Mapping[float, float] = {0.4: 0.95, 0.5: 0.75}
LIFT = 0.25

POLICY = Policy(recent_tokens=RECENT, min_result_tokens=SMALLEST_RESULT, allocation="novelty", novelty_ceiling=1.0)

Sizes = dict[int, tuple[int, int]]  # message -> tokens before and after
Replaced = dict[int, str]  # message -> text in its place, a stub's first line left out


@dataclass(frozen=True)
class Cut:
    """One window to compress. ``results`` (message, part, tokens) may change; ``tools`` are all it holds."""

    name: str
    turn: int
    course: Course
    zones: Zones
    tokens: int
    results: tuple[tuple[int, int, int], ...]
    tools: tuple[int, ...]
    wanted: tuple[Common, ...]

    def text(self, message: int) -> str:
        """The result that a message holds."""
        return "\n".join(p.text for p in self.course.transcript.messages[message].parts if p.kind == "tool_result")

    def in_view(self, replaced: Replaced) -> int:
        """How many of ``wanted`` the tool messages still say."""
        return len(kept(self.wanted, [replaced.get(i, self.text(i)) for i in self.tools]))


def cuts(
    subjects: Iterable[Subject],
    eighths: Sequence[int] = QUARTERS,
    smallest: int = SMALLEST_WINDOW,
    policy: Policy = POLICY,
) -> list[Cut]:
    """The windows of at least ``smallest`` tokens after so many eighths of the calls."""
    found = []
    for subject in subjects:
        course = course_of(subject.transcript, "uncompacted")
        cutter = Cutter(course, Pins(course, policy), recent_budgets(course, policy))
        turns = len(course.windows)
        for turn in sorted({turns * eighth // 8 for eighth in eighths} - {0}):
            request = course.windows[turn]
            if course.counted(request) < smallest:
                continue
            zones = cutter.at(turn)
            messages = course.transcript.messages
            found.append(
                Cut(
                    subject.name,
                    turn,
                    course,
                    zones,
                    course.counted(request),
                    tuple(
                        (i, j, tokens)
                        for i, j, tokens in course.results_between(0, request.end)
                        if tokens > SMALLEST_RESULT and zones.of_message(i) == "compressible"
                    ),
                    tuple(i for i in request.indexes() if messages[i].role == "tool" and i not in course.excluded),
                    tuple(common(course, turn)),
                )
            )
    return found


def novelty(cut: Cut, share: float, stubber: Stubber, policy: Policy = POLICY) -> tuple[Replaced, Sizes]:
    """One event under novelty that frees ``share`` of the window."""
    budget = sum(tokens for _, _, tokens in cut.results) - share * cut.tokens
    made = allocate(cut.course, cut.zones.request, cut.results, {}, budget, policy, stubber)
    stubs = {c.message: (c.tokens, c.stub) for c in made if c.stub is not None}
    return (
        {i: stub.text.partition("\n")[2] for i, (_, stub) in stubs.items()},
        {i: (tokens, stub.tokens) for i, (tokens, stub) in stubs.items()},
    )


def per_result(cut: Cut, share: float, stubber: Stubber) -> tuple[Replaced, Sizes]:
    """The largest results first, each with a budget of its own, until ``share`` is freed; the ratio of the budgets is
    the largest that still frees it."""
    for ratio in (0.5, 0.4, 0.3, 0.2, 0.1, 0.05):
        policy = POLICY.model_copy(update={"allocation": "per_result", "result_ratio": ratio, "result_ceiling": 4_000})
        replaced: Replaced = {}
        sizes: Sizes = {}
        freed = 0.0
        for i, j, tokens in sorted(cut.results, key=lambda row: -row[2]):
            if freed >= share * cut.tokens:
                break
            part = cut.course.transcript.messages[i].parts[j]
            arguments = cut.course.arguments.get(part.call_id, "")
            stub = stubber.stub(part, tokens, policy, arguments, cut.course.sha(i, j))
            if stub is not None:
                replaced[i], sizes[i] = stub.text.partition("\n")[2], (tokens, stub.tokens)
                freed += tokens - stub.tokens
        if freed >= share * cut.tokens:
            break
    return replaced, sizes


def cut_off(cut: Cut, sizes: Sizes) -> Replaced:
    """Head and tail of the same results in the same tokens."""
    count = default_counter().count_many
    return {i: truncated(cut.text(i), before, after, count) for i, (before, after) in sizes.items()}


def evenly(sizes: Sizes) -> Sizes:
    """The same tokens in all, each result with the same share of its own."""
    share = sum(after for _, after in sizes.values()) / max(1, sum(before for before, _ in sizes.values()))
    return {i: (before, int(before * share)) for i, (before, _) in sizes.items()}


@dataclass(slots=True)
class Point:
    """Sums over cuts."""

    saved: int = 0
    tokens: int = 0
    n: int = 0
    view: int = 0
    truncated: int = 0
    even: int = 0

    def add(self, cut: Cut, replaced: Replaced, sizes: Sizes) -> None:
        self.saved += sum(before - after for before, after in sizes.values())
        self.tokens += cut.tokens
        self.n += len(cut.wanted)
        self.view += cut.in_view(replaced)
        self.truncated += cut.in_view(cut_off(cut, sizes))
        self.even += cut.in_view(cut_off(cut, evenly(sizes)))

    def detail(self) -> str:
        if not self.n:
            return "nothing was used later"
        share = self.saved / self.tokens
        return (
            f"at {share:.1%} saved, |R| {self.n}; truncation to the same sizes {self.truncated / self.n:.1%}, "
            f"evenly {self.even / self.n:.1%}"
        )


def subjects() -> list[Subject]:
    with TemporaryDirectory() as name:
        return [from_parsed(read_sessions(path)[0]) for path in claude_code_files(Path(name))]


def rows() -> list[Row]:
    sessions = subjects()
    found = cuts(sessions)
    stubber = Stubber()
    table = []
    for share in SHARES:
        for name, run in (("novelty", novelty), ("per result", per_result)):
            point = Point()
            for cut in found:
                point.add(cut, *run(cut, share, stubber))
            view = 100 * point.view / point.n if point.n else 0.0
            table.append(Row(f"{name}, {share:.0%} wanted, in view", view, "%", None, point.detail()))
    return [
        *table,
        *held_out(sessions, stubber),
        *whole_sessions(sessions, stubber),
        *times(sessions, found, stubber),
    ]


def held_out(sessions: Sequence[Subject], stubber: Stubber) -> list[Row]:
    """Windows that the weights were not chosen on, and the session that fares worst among them."""
    shorter = POLICY.model_copy(update={"recent_tokens": LESS_RECENT})
    groups = {
        "other cuts": (cuts(sessions, OTHER_EIGHTHS), POLICY),
        "other agents": (cuts(other_agents(), (*QUARTERS, *OTHER_EIGHTHS), SMALLER_WINDOW, shorter), shorter),
    }
    table = []
    for label, (found, policy) in groups.items():
        for share in TARGETS:
            points: dict[str, Point] = {}
            whole = Point()
            for cut in found:
                done = novelty(cut, share, stubber, policy)
                whole.add(cut, *done)
                points.setdefault(cut.name, Point()).add(cut, *done)
            least = min((100 * one.view / one.n for one in points.values() if one.n), default=0.0)
            view = 100 * whole.view / whole.n if whole.n else 0.0
            detail = f"{whole.detail()}; {len(found)} windows of {len(points)} sessions, the worst one {least:.1f}%"
            table.append(Row(f"held out: {label}, {share:.0%} wanted", view, "%", None, detail))
    return table


def other_agents() -> list[Subject]:
    """The recorded sessions of other agents; none without the samples."""
    files = [path for name in OTHER_AGENTS for path in sorted((SAMPLES / name).glob("*.json*"))]
    return [from_parsed(session) for path in files for session in read_sessions(path)]


def whole_sessions(sessions: Sequence[Subject], stubber: Stubber) -> list[Row]:
    """Retention of every event of the preset, under both allocations: sums over all sessions."""
    table = []
    for allocation in ("novelty", "per_result"):
        policy = PRESETS["hermes"].model_copy(update={"allocation": allocation, "context_window": 100_000})
        done = [replay(s.transcript, policy, s.calibration, stubber=stubber) for s in sessions]
        figures = retention_fields([loss for one in done for loss in losses(one)])
        detail = (
            f"|R| {figures['rlr_n']}, truncation {100 * (figures['rlr_truncated'] or 0):.1f} %, forced re-reads "
            f"{100 * (figures['forced_rereads'] or 0):.1f} % of turns, recall tax {figures['recall_tax']:,}"
        )
        value = 100 * (figures["rlr_view"] or 0)
        table.append(Row(f"hermes at 100K, {allocation.replace('_', ' ')}", value, "%", None, detail))
    return table


def times(sessions: Sequence[Subject], found: Sequence[Cut], stubber: Stubber) -> list[Row]:
    """The largest window, allocated; the largest session, its names read."""
    if not found:
        return []
    cut = max(found, key=lambda one: one.tokens)
    fresh = Stubber()
    started = perf_counter()
    novelty(cut, 0.5, fresh)
    cold = perf_counter() - started
    largest = max(sessions, key=lambda subject: sum(map(sum, subject.transcript.counts)))
    course = course_of(largest.transcript, "uncompacted")
    policy = PRESETS["hermes"].model_copy(update={"context_window": 100_000})
    done = replay(largest.transcript, policy, Calibration(), stubber=stubber)
    warm, index, lost = medians(
        lambda: novelty(cut, 0.5, stubber), lambda: Occurrences(course), lambda: losses(done), rounds=5
    )
    size = f"{cut.tokens:,} tokens, {len(cut.results)} results"
    return [
        Row("one event by novelty, units known", 1e3 * warm, "ms", None, size),
        Row("one event by novelty, nothing known", 1e3 * cold, "ms", None, size),
        Row("names of the largest session, read", 1e3 * index, "ms"),
        Row("losses of the largest session", 1e3 * lost, "ms", None, f"{len(done.events)} events"),
    ]
