"""Single tool outputs through every engine: tokens saved, planted facts in view and within reach, time.

Outputs are the fixtures with planted facts, and the largest real output of each kind of the recorded sessions. An
engine sees one output at a time, cold: its process has compressed others, it has never seen this one. A fact is in
view when its words stand in what the engine left, within reach when they stand there or in what its addresses
resolve to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import process_time
from typing import Any

from benchmarks.engines_messages import TOOLS
from benchmarks.engines_rows import EngineRow, answers, peer_row
from benchmarks.peers.calls import Answer, Job
from benchmarks.retention import Cut, novelty
from compression.engine.content_types import detect
from compression.engine.history import course_of
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.snapshots import digest, resolve
from compression.engine.stubs import Stubber
from compression.engine.tokens import CachedCounter, ToktokCounter, count_messages, default_counter
from compression.engine.transcript import Message, Part, Transcript, Turn
from compression.engine.zones import Zones
from compression.transcripts import Subject
from tests.compression.engine.planted import FIXTURES

ROUNDS = 3
SMALLEST = 2_000
"""Tokens of the smallest real output."""

LEAST_SAVED: Mapping[str, float] = {"source_code": 0.70, "prose": 0.70}
LEAST_SAVED_ELSE = 0.80
SPEED_LIMIT = 1 / 3
FIRST_LINE = 0.02
"""What a stub's own line takes at most of an output of these sizes."""

PER_RESULT = PRESETS["hermes"].model_copy(update={"allocation": "per_result"})
NOVELTY = PRESETS["hermes"].model_copy(update={"allocation": "novelty"})


@dataclass(frozen=True, slots=True)
class Output:
    """One tool result. ``facts`` stand in ``text`` word for word."""

    name: str
    kind: str
    tool: str
    arguments: str
    text: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Left:
    """What an engine left of an output. ``address`` is ours; ``recalled`` = texts that a peer's markers resolve to."""

    text: str
    ms: float
    address: str = ""
    recalled: tuple[str, ...] = ()


def planted() -> list[Output]:
    """The fixtures with facts."""
    return [Output(f.name, f.kind, f.tool, f.arguments, f.text, tuple(f.facts)) for f in FIXTURES]


def recorded(subjects: Iterable[Subject]) -> list[Output]:
    """The largest output of each kind of real sessions."""
    largest: dict[str, tuple[int, Output]] = {}
    for subject in subjects:
        course = course_of(subject.transcript, "uncompacted")
        for i, j, tokens in course.results:
            if tokens < SMALLEST:
                continue
            part = subject.transcript.messages[i].parts[j]
            arguments = course.arguments.get(part.call_id, "")
            kind = detect(part.text, part.name, arguments).kind
            if kind not in largest or tokens > largest[kind][0]:
                largest[kind] = (tokens, Output(f"{kind} of a session", kind, part.name, arguments, part.text))
    return [output for _, output in largest.values()]


def fresh_stubber() -> Stubber:
    """One that knows nothing, with a counter that knows nothing."""
    return Stubber(CachedCounter(ToktokCounter()))


def per_result(output: Output, policy: Policy = PER_RESULT) -> Left:
    """Ours, with the result's own budget: counting, detection, compression, the stub's own line."""
    stubber = fresh_stubber()
    started = process_time()
    part = Part("tool_result", output.text, "call", output.tool)
    stub = stubber.stub(part, stubber.counter.count(output.text), policy, output.arguments)
    ms = 1e3 * (process_time() - started)
    return Left(output.text, ms) if stub is None else Left(stub.text, ms, stub.address)


def bar(kind: str) -> float:
    """The share of an output of a kind that has to be saved."""
    return LEAST_SAVED.get(kind, LEAST_SAVED_ELSE)


def per_result_at_bar(output: Output) -> Left:
    """Ours, with as large a budget as the bar allows."""
    ratio = 1 - bar(output.kind) - FIRST_LINE
    return per_result(output, PER_RESULT.model_copy(update={"result_ratio": ratio, "result_ceiling": 100_000}))


def novelty_at_bar(output: Output) -> Left:
    """Ours, allocated, with as large a budget as the bar allows."""
    ratio = 1 - bar(output.kind) - FIRST_LINE
    return by_novelty(output, NOVELTY.model_copy(update={"result_ratio": ratio, "result_ceiling": 100_000}))


def by_novelty(output: Output, policy: Policy = NOVELTY) -> Left:
    """Ours, allocated: the only candidate of an event, with the budget that it would have had by itself."""
    stubber = fresh_stubber()
    started = process_time()
    replaced, _ = novelty(alone(output), 1.0, stubber, policy)
    ms = 1e3 * (process_time() - started)
    if 2 not in replaced:
        return Left(output.text, ms)
    return Left(replaced[2], ms, stubber.addresses.of(digest(output.text)))


def alone(output: Output) -> Cut:
    """A window that holds a prompt, a call and its result."""
    messages = (
        Message(0, "user", (Part("text", "Go on."),)),
        Message(1, "assistant", (Part("tool_call", output.arguments, "call", output.tool),)),
        Message(2, "tool", (Part("tool_result", output.text, "call", output.tool),)),
    )
    counts = count_messages(messages)
    course = course_of(Transcript(messages, (Turn(0, 3, 3, 3),), counts), "uncompacted")
    request = course.windows[0]
    zones = Zones(request, 2, 3, {}, 0, 0, None)
    return Cut(output.name, 0, course, zones, course.counted(request), ((2, 0, counts[2][0]),), (2,), ())


def first_and_last_lines(text: str, head: int = 20, tail: int = 10) -> str:
    """The plainest rule there is."""
    lines = text.split("\n")
    if len(lines) <= head + tail:
        return text
    omitted = f"... {len(lines) - head - tail} lines omitted"
    return "\n".join([*lines[:head], omitted, *lines[-tail:]])


def cut_to_lines(output: Output) -> Left:
    """The plainest rule, counted before and after as the others are."""
    counter = CachedCounter(ToktokCounter())
    started = process_time()
    text = first_and_last_lines(output.text)
    counter.count_many([output.text, text])
    return Left(text, 1e3 * (process_time() - started))


def pruned_job(output: Output) -> Job:
    """One result before a tail of one message, as Hermes Agent's prune stage takes it."""
    name = TOOLS.get(output.tool, output.tool)
    call = {"id": "call", "type": "function", "function": {"name": name, "arguments": output.arguments or "{}"}}
    messages = [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call", "content": output.text},
        {"role": "assistant", "content": "Done."},
    ]
    return {"call": "prune", "messages": messages, "window": 200_000, "tail": 1, "rounds": ROUNDS}


def peer_left(answer: Answer) -> Left:
    """A peer's answer about one output."""
    text = answer["text"] if "text" in answer else answer["messages"][2]["content"]
    return Left(text, answer["ms"], "", tuple(answer.get("recalled", ())))


@dataclass(frozen=True, slots=True)
class Engine:
    """``ours``: a function of an output. Else ``peer`` is asked the job of each output; None where it has none.

    ``decided``: what it falls short of fails the benchmark.
    """

    name: str
    ours: Callable[[Output], Left] | None = None
    peer: str = ""
    job: Callable[[Output], Job | None] | None = None
    decided: bool = False


def direct_job(output: Output) -> Job | None:
    """The compressor that headroom's user would have to name; none for a kind that it has no compressor for."""
    if output.kind in ("table", "listing", "markup", "binary"):
        return None
    return {"call": "direct", "text": output.text, "kind": output.kind, "rounds": ROUNDS}


ENGINES = (
    Engine("ours, per result", per_result),
    Engine("ours, novelty", by_novelty),
    Engine("ours at the bar, per result", per_result_at_bar, decided=True),
    Engine("ours at the bar, novelty", novelty_at_bar, decided=True),
    Engine("headroom router", None, "headroom", lambda o: {"call": "route", "text": o.text, "rounds": ROUNDS}),
    Engine("headroom direct", None, "headroom", direct_job),
    Engine("Hermes Agent prune", None, "hermes-agent", pruned_job),
    Engine("head 20 / tail 10", cut_to_lines),
)


def measured(engine: Engine, outputs: Sequence[Output]) -> list[Left | None] | EngineRow:
    """What an engine left of each output, with median times; None where it does not serve the kind."""
    if engine.ours is not None:
        rounds = [[engine.ours(output) for output in outputs] for _ in range(ROUNDS)]
        times = [median(left.ms for left in again) for again in zip(*rounds, strict=True)]
        return [replace(left, ms=ms) for left, ms in zip(rounds[0], times, strict=True)]
    assert engine.job is not None
    jobs = [engine.job(output) for output in outputs]
    _, found = answers(engine.peer, [job for job in jobs if job is not None])
    fault = peer_row(engine.name, engine.peer, found)
    if fault is not None:
        return fault
    given = iter(found)
    return [None if job is None else peer_left(next(given)) for job in jobs]


def figures(outputs: Sequence[Output], found: Sequence[Left | None]) -> list[dict[str, Any]]:
    """One record for each output that the engine serves."""
    count = default_counter().count_many
    originals = {digest(output.text): output.text for output in outputs}
    records = []
    for output, left in zip(outputs, found, strict=True):
        if left is None:
            continue
        before, after = count([output.text, left.text])
        texts = [left.text, *left.recalled]
        if left.address:
            texts.append(originals[resolve(left.address, originals)])
        lost = [fact for fact in output.facts if fact not in left.text]
        records.append(
            {
                "output": output.name,
                "kind": output.kind,
                "tokens": before,
                "after": after,
                "saved": round(1 - after / before, 4),
                "facts": len(output.facts),
                "in_view": len(output.facts) - len(lost),
                "reachable": sum(any(fact in text for text in texts) for fact in output.facts),
                "ms": round(left.ms, 3),
                "bytes": len(output.text.encode("utf-8", "surrogatepass")),
                "lost": lost[:5],
            }
        )
    return records


def total(name: str, records: Sequence[dict[str, Any]], of: int) -> EngineRow:
    """The sums of an engine's records over ``of`` outputs."""
    tokens, after, facts, in_view, reachable, ms, size = (
        sum(record[key] for record in records)
        for key in ("tokens", "after", "facts", "in_view", "reachable", "ms", "bytes")
    )
    speed = size / 1e6 / (ms / 1e3)
    told = f"facts {in_view} of {facts} in view, {reachable} reachable; " if facts else ""
    detail = f"{len(records)} of {of} outputs; {told}{ms:.1f} ms, {speed:.1f} MB/s"
    sums = {"outputs": len(records), "of": of, "in_view": in_view, "facts": facts, "reachable": reachable}
    sums |= {"ms": round(ms, 3), "mb_per_s": round(speed, 3), "by_output": list(records)}
    return EngineRow(name, 100 * (1 - after / tokens), "%", None, detail, sums)


def short_of(records: Iterable[dict[str, Any]]) -> list[str]:
    """The outputs of which too little was saved, or a fact left the view or our reach."""
    return [
        f"{r['output']} ({r['saved']:.1%}, {r['in_view']}/{r['facts']})"
        for r in records
        if r["saved"] < bar(r["kind"]) or r["in_view"] < r["facts"] or r["reachable"] < r["facts"]
    ]


def beaten(ours: Sequence[dict[str, Any]], peers: Mapping[str, Sequence[dict[str, Any]]]) -> list[str]:
    """Outputs of which a peer saved at least as much and kept more facts in view."""
    own = {record["output"]: record for record in ours}
    return [
        f"{name}: {r['output']} ({r['saved']:.1%}, {r['in_view']} against {o['saved']:.1%}, {o['in_view']})"
        for name, records in peers.items()
        for r in records
        if r["saved"] >= (o := own[r["output"]])["saved"] and r["in_view"] > o["in_view"]
    ]


def speeds(every: Mapping[str, list[dict[str, Any]]]) -> Iterable[EngineRow]:
    """Time of ours against headroom's router over all outputs. Ours counts tokens too; the router estimates them."""

    def ms(engine: str) -> float:
        return sum(float(r["ms"]) for name, records in every.items() if name.endswith(engine) for r in records)

    router = ms(" headroom router")
    if not router:
        return
    for engine, limit in (("ours, per result", SPEED_LIMIT), ("ours, novelty", None)):
        own = ms(f" {engine}")
        detail = f"{own:.0f} ms against {router:.0f} ms: {router / own:.1f} times as fast"
        yield EngineRow(f"outputs: time of {engine} / headroom router", own / router, "x", limit, detail)


def rows(subjects: Sequence[Subject]) -> Iterable[EngineRow]:
    """One row for each engine on the fixtures and on real outputs; what ours falls short of, decided."""
    every: dict[str, list[dict[str, Any]]] = {}
    for label, outputs in (("planted", planted()), ("real", recorded(subjects))):
        known: dict[str, list[dict[str, Any]]] = {}
        for engine in ENGINES:
            found = measured(engine, outputs)
            name = f"outputs, {label}: {engine.name}"
            if isinstance(found, EngineRow):
                yield replace(found, name=name)
                continue
            known[engine.name] = figures(outputs, found)
            yield total(name, known[engine.name], len(outputs))
        every |= {f"{label} {name}": records for name, records in known.items()}
        if label == "planted":
            yield from verdicts(known)
    yield from speeds(every)


def verdicts(known: Mapping[str, list[dict[str, Any]]]) -> Iterable[EngineRow]:
    """Where ours falls short of the bar, and where a peer does better."""
    own = [engine for engine in ENGINES if engine.name.startswith("ours")]
    peers = {engine.name: known[engine.name] for engine in ENGINES if engine.peer and engine.name in known}
    for engine in own:
        short = short_of(known[engine.name])
        limit = 0 if engine.decided else None
        name = f"outputs, planted: {engine.name}, fall short"
        yield EngineRow(name, len(short), "", limit, ", ".join(short), {"outputs": short})
        lost = beaten(known[engine.name], peers)
        name = f"outputs, planted: {engine.name}, a peer keeps more for no less saved"
        yield EngineRow(name, len(lost), "", limit, ", ".join(lost), {"outputs": lost})
