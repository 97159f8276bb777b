"""One whole event under novelty: how long it takes, warm and cold, beside Hermes Agent's compress() in the same run.

Warm: every message was prepared when it arrived, as a live agent's calls do; the event gets a transcript that nobody
has looked at, cuts its zones and allocates. Cold: nothing was prepared. Hermes Agent works on the same messages, in
its own environment (``python -m benchmarks.peers install hermes-agent``), without a model: its deterministic fallback.
Bursts of both alternate, so that a busy machine slows both; medians. Reading and counting the messages is on neither
side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.corpus import claude_code_files
from benchmarks.engines_messages import ChatMessage, chat_messages, tokens_of
from benchmarks.event_session import made_up
from benchmarks.measuring import Row
from benchmarks.peers.calls import Job, ask, available
from benchmarks.retention import POLICY, cuts
from compression.engine.allocation import Candidate, allocate, prepare
from compression.engine.distances import recent_budgets
from compression.engine.history import Course, course_of
from compression.engine.pins import Pins
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.stubs import Stubber
from compression.engine.tokens import CachedCounter, ToktokCounter
from compression.engine.transcript import Transcript
from compression.engine.zones import Cutter
from compression.transcripts import from_parsed
from sessions.importers import read_sessions

SIZES = ((150, 140_000), (300, 280_000), (700, 650_000))
"""Messages and tokens of the sessions."""

ROUNDS, BURSTS = 7, 3
SHARE = 1 / 3
"""What an event frees of the window: from a trigger at 75 % to a target at 50 %."""

NOISE = 1.25
"""By how much a growth may be misread on a busy machine."""

HERMES = PRESETS["hermes"].model_copy(update={"allocation": "novelty"})


@dataclass(slots=True)
class Done:
    """What an event made: the candidates, tokens of the window before and after."""

    candidates: list[Candidate]
    before: int
    after: int

    @property
    def saved(self) -> float:
        return 1 - self.after / self.before


def event(transcript: Transcript, turn: int, share: float, policy: Policy, stubber: Stubber) -> Done:
    """One event at a turn that frees ``share`` of the window, from the messages to the stubs."""
    course = course_of(replace(transcript), "uncompacted")
    zones = Cutter(course, Pins(course, policy), recent_budgets(course, policy)).at(turn)
    results = [
        row
        for row in course.results_between(0, zones.request.end)
        if row[2] > policy.min_result_tokens and zones.of_message(row[0]) == "compressible"
    ]
    before = course.counted(zones.request)
    budget = sum(tokens for _, _, tokens in results) - share * before
    made = allocate(course, zones.request, results, {}, budget, policy, stubber)
    return Done(made, before, before - sum(c.tokens - c.standing for c in made))


def arrivals(transcript: Transcript, stubber: Stubber) -> list[float]:
    """Seconds that each message cost when it arrived."""
    course, found = course_of(transcript, "uncompacted"), []
    for index in range(len(transcript.messages)):
        started = perf_counter()
        prepare(course, stubber, index, index + 1)
        found.append(perf_counter() - started)
    return found


def forgetful(stubber: Stubber) -> Stubber:
    """What was prepared is known, no stub that an earlier round made."""
    return Stubber(CachedCounter(ToktokCounter()), proposals=stubber.proposals)


def burst(action: Callable[[], object]) -> list[float]:
    """Milliseconds of a few rounds; the first, which finds other things in the machine's caches, is left out."""
    found = []
    for _ in range(ROUNDS + 1):
        started = perf_counter()
        action()
        found.append(1e3 * (perf_counter() - started))
    return found[1:]


@dataclass(slots=True)
class Window:
    """A request that both sides compress."""

    transcript: Transcript
    turn: int
    messages: list[ChatMessage]
    tokens: int

    def job(self) -> Job:
        return {
            "call": "compress",
            "messages": self.messages,
            "window": max(200_000, 4 * self.tokens // 3),
            "tokens": self.tokens,
            "summary": None,
            "rounds": ROUNDS,
        }


def window(course: Course, turn: int) -> Window:
    request = course.windows[turn]
    return Window(course.transcript, turn, chat_messages(course, request), course.counted(request))


def peer(windows: Sequence[Window]) -> tuple[str, list[dict[str, Any]]]:
    """Hermes Agent's answers; none where it is not installed."""
    return ask("hermes-agent", [one.job() for one in windows]) if available("hermes-agent") else ("", [])


def rows() -> list[Row]:
    return [*made_up_sessions(), *recorded_sessions()]


def made_up_sessions() -> list[Row]:
    table: list[Row] = []
    grown: list[tuple[int, float]] = []
    for size in SIZES:
        other = made_up(*size, seed=20)
        started = perf_counter()
        event(other, len(other.turns) - 1, SHARE, HERMES, Stubber())
        cold = 1e3 * (perf_counter() - started)
        transcript, stubber = made_up(*size), Stubber()
        arrived = [1e3 * seconds for seconds in arrivals(transcript, stubber)]
        own = window(course_of(transcript, "uncompacted"), len(transcript.turns) - 1)
        rows, warm = side_by_side(f"event, {size[0]} messages", own, HERMES, stubber, held=size == SIZES[0])
        table += rows
        table.append(Row(f"event, {size[0]} messages, nothing known", cold, "ms"))
        slowest = f"a message in the mean, {max(arrived):.1f} at most, {sum(arrived):.0f} in all"
        table.append(Row(f"arrival, {size[0]} messages", sum(arrived) / len(arrived), "ms", None, slowest))
        grown.append((own.tokens, warm))
    (small, quick), (large, slow) = grown[0], grown[-1]
    fair = large * log(large) / (small * log(small))
    detail = f"{small:,} to {large:,} tokens; n log n would be {fair:.1f}"
    return [*table, Row("growth of an event", slow / quick, "x", NOISE * fair, detail)]


def side_by_side(name: str, own: Window, policy: Policy, stubber: Stubber, *, held: bool) -> tuple[list[Row], float]:
    """An event of the preset, and one that frees what Hermes Agent frees of the same window, as far as it can. That one
    is ``held`` to its time."""
    version, answers = peer([own])
    share = 1 - tokens_of(answers[0]["messages"]) / tokens_of(own.messages) if answers else 2 * SHARE
    times: dict[str, list[float]] = {"preset": [], "same": [], "peer": []}
    for number in range(BURSTS):
        times["preset"] += burst(lambda: event(own.transcript, own.turn, SHARE, policy, forgetful(stubber)))
        times["same"] += burst(lambda: event(own.transcript, own.turn, share, policy, forgetful(stubber)))
        if answers:
            times["peer"].append((answers if number == 0 else peer([own])[1])[0]["ms"])
    medians = {side: median(found) for side, found in times.items() if found}
    theirs = medians.get("peer")
    saved = event(own.transcript, own.turn, SHARE, policy, stubber).saved
    same = event(own.transcript, own.turn, share, policy, stubber).saved
    rows = [
        Row(name, medians["preset"], "ms", None, f"{own.tokens:,} tokens, {saved:.0%} saved, all prepared"),
        Row(
            f"{name}, the peer's share",
            medians["same"],
            "ms",
            theirs if held else None,
            f"{same:.0%} saved, all prepared",
        ),
    ]
    if theirs is not None:
        rows.append(Row(f"{name}, Hermes Agent", theirs, "ms", None, f"{share:.0%} saved, version {version}"))
    return rows, medians["preset"]


def _half(one: Window, stubber: Stubber) -> Done:
    return event(one.transcript, one.turn, 0.5, POLICY, forgetful(stubber))


def recorded_sessions() -> list[Row]:
    """All windows of the retention benchmark, half of each freed: sums."""
    with TemporaryDirectory() as folder:
        subjects = [from_parsed(read_sessions(path)[0]) for path in claude_code_files(Path(folder))]
    found, stubber = cuts(subjects), Stubber()
    windows = [window(cut.course, cut.turn) for cut in found]
    if not windows:
        return []
    for subject in subjects:
        prepare(course_of(subject.transcript, "uncompacted"), stubber)
    mine: list[list[float]] = [[] for _ in windows]
    theirs: list[list[float]] = [[] for _ in windows]
    for _ in range(BURSTS):
        for one, times in zip(windows, mine, strict=True):
            times += burst(partial(_half, one, stubber))
        for answer, times in zip(peer(windows)[1], theirs, strict=False):
            times.append(answer["ms"])
    ours = [median(times) for times in mine]
    detail = f"{len(windows)} windows of recorded sessions, half of each freed, all prepared"
    if not theirs[0]:
        return [Row("events, recorded sessions", sum(ours), "ms", None, detail)]
    other = [median(times) for times in theirs]
    faster = sum(a <= b for a, b in zip(ours, other, strict=True))
    return [
        Row("events, recorded sessions", sum(ours), "ms", sum(other), f"{detail}; faster in {faster}"),
        Row("events, recorded sessions, Hermes Agent", sum(other), "ms", None, "the same windows"),
    ]
